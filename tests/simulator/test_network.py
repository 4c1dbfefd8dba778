"""Links: delays, FIFO order, and what each fault does to them."""

from __future__ import annotations

from functools import partial
from heapq import heappop

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordercast.core.events import FromBelow
from ordercast.core.ids import SiteId
from ordercast.planning.topology import Distribution, Topology
from ordercast.simulator.chooser import Chooser, ReplayingChooser, SeededChooser
from ordercast.simulator.network import CHANCE, Agenda, Handler, Network
from tests.simulator.small import topology

A, B, C = SiteId(0), SiteId(1), SiteId(2)
CERTAIN = 1.0


class Wires:
    """A network, and what has arrived where and when."""

    def __init__(self, topology: Topology, chooser: Chooser | None = None) -> None:
        self.agenda: Agenda = []
        self.arrived: list[tuple[SiteId, FromBelow]] = []
        receivers: list[Handler] = [partial(self._receive, site) for site in topology.sites]
        self.network = Network(topology, receivers, chooser or SeededChooser(1), self.agenda)

    def _receive(self, site: SiteId, event: FromBelow) -> None:
        self.arrived.append((site, event))

    def send_all(self, count: int, gap_us: int = 1000, *, faulty: bool) -> None:
        """A to all, so many messages."""
        self.network.faulty = faulty
        for number in range(count):
            self.network.multicast(A, FromBelow(A, number), number * gap_us)

    def arrivals(self, to: SiteId) -> list[tuple[int, int]]:
        """(when, which) at one site, in the order of arrival."""
        seen: list[tuple[int, int]] = []
        for at_us, _, receive, event in sorted(self.agenda, key=lambda entry: entry[:2]):
            receive(event)
            if self.arrived[-1][0] == to:
                seen.append((at_us, event.message))
        return seen


def numbers(arrivals: list[tuple[int, int]]) -> list[int]:
    return [number for _, number in arrivals]


both_paths = pytest.mark.parametrize("faulty", [False, True])


@both_paths
def test_a_multicast_reaches_all_others_after_the_mean_delay(faulty: bool) -> None:
    wires = Wires(topology("ABC", 20))
    wires.network.faulty = faulty
    assert wires.network.multicast(A, FromBelow(A, 7), 100) == 2
    assert wires.arrivals(B) == wires.arrivals(C) == [(20_100, 7)]
    assert wires.arrivals(A) == []


def test_a_message_to_one_site_reaches_that_site_alone() -> None:
    wires = Wires(topology("ABC", 20))
    wires.network.send(A, C, FromBelow(A, 7), 100)
    assert wires.arrivals(C) == [(20_100, 7)]
    assert wires.arrivals(B) == []


@both_paths
@pytest.mark.parametrize("distribution", ["chi2", "normal"])
def test_delays_have_the_mean_and_variance_asked_for(distribution: Distribution, faulty: bool) -> None:
    """Far enough apart not to hold each other up."""
    wires = Wires(topology("AB", 100, 9.0, distribution))
    wires.send_all(4000, gap_us=1_000_000, faulty=faulty)
    delays = [at_us - number * 1_000_000 for at_us, number in wires.arrivals(B)]
    mean = sum(delays) / len(delays)
    assert mean == pytest.approx(100_000, rel=0.01)
    assert sum((delay - mean) ** 2 for delay in delays) / len(delays) == pytest.approx(9e6, rel=0.1)


def test_a_constant_delay_has_no_variance() -> None:
    wires = Wires(topology("AB", 100, 9.0, "constant"))
    wires.send_all(10, faulty=False)
    assert wires.arrivals(B) == [(100_000 + number * 1000, number) for number in range(10)]


@both_paths
@given(
    seed=st.integers(0, 1 << 30),
    delay_ms=st.integers(0, 50),
    variance=st.floats(0, 2000),
    gap_us=st.integers(0, 5000),
    distribution=st.sampled_from(["chi2", "normal"]),
)
def test_no_message_overtakes_another_or_arrives_before_it_left(
    faulty: bool, seed: int, delay_ms: int, variance: float, gap_us: int, distribution: Distribution
) -> None:
    wires = Wires(topology("AB", delay_ms, variance, distribution), SeededChooser(seed))
    wires.send_all(30, gap_us, faulty=faulty)
    arrivals = wires.arrivals(B)
    assert numbers(arrivals) == list(range(30))
    assert all(at_us >= number * gap_us for at_us, number in arrivals)


def test_both_paths_through_the_code_draw_the_same_delays() -> None:
    one, other = (Wires(topology("AB", 20, 3.0), SeededChooser(5)) for _ in range(2))
    one.send_all(50, faulty=False)
    other.send_all(50, faulty=True)
    assert one.arrivals(B) == other.arrivals(B)


# --- faults ---


def test_a_certain_loss_loses_everything_on_that_link_alone() -> None:
    wires = Wires(topology())
    wires.network.links[A][B].loss = CERTAIN
    wires.send_all(5, faulty=True)
    assert numbers(wires.arrivals(B)) == []
    assert numbers(wires.arrivals(C)) == [0, 1, 2, 3, 4]


def test_losses_are_as_frequent_as_asked() -> None:
    wires = Wires(topology("AB"))
    wires.network.links[A][B].loss = 0.2
    wires.send_all(5000, faulty=True)
    assert len(wires.agenda) == pytest.approx(4000, rel=0.03)


def test_a_duplicate_comes_twice() -> None:
    wires = Wires(topology())
    wires.network.links[A][B].duplicate = CERTAIN
    wires.send_all(3, faulty=True)
    assert numbers(wires.arrivals(B)) == [0, 0, 1, 1, 2, 2]
    assert numbers(wires.arrivals(C)) == [0, 1, 2]


def test_reordered_messages_are_overtaken_but_not_lost() -> None:
    wires = Wires(topology("AB", 20))
    wires.network.links[A][B].reorder = 0.3
    wires.send_all(200, gap_us=5000, faulty=True)
    arrivals = numbers(wires.arrivals(B))
    assert sorted(arrivals) == list(range(200))
    assert arrivals != sorted(arrivals)


def test_the_tamest_choice_is_no_fault() -> None:
    wires = Wires(topology("AB", 20), ReplayingChooser([]))
    link = wires.network.links[A][B]
    link.loss = link.duplicate = link.reorder = 0.999
    wires.send_all(3, faulty=True)
    assert wires.arrivals(B) == [(20_000, 0), (21_000, 1), (22_000, 2)]


def test_the_wildest_choice_is_a_fault() -> None:
    wires = Wires(topology("AB", 20), ReplayingChooser([CHANCE - 1] * 3))
    wires.network.links[A][B].loss = 1e-5
    wires.send_all(3, faulty=True)
    assert wires.arrivals(B) == []


def test_a_cut_is_one_way() -> None:
    wires = Wires(topology())
    for number, cut in enumerate((True, False)):
        wires.network.links[A][B].cut = cut
        wires.send_all(1, faulty=True)
        wires.network.multicast(B, FromBelow(B, 10 + number), 0)
    assert numbers(wires.arrivals(B)) == [0]
    assert numbers(wires.arrivals(C)) == [0, 10, 0, 11]
    assert numbers(wires.arrivals(A)) == [10, 11]


def test_a_slow_link_adds_to_every_delay() -> None:
    wires = Wires(topology("AB", 20))
    wires.network.links[A][B].extra_us = 5000
    wires.send_all(2, faulty=True)
    assert wires.arrivals(B) == [(25_000, 0), (26_000, 1)]


def test_equal_times_keep_the_order_of_sending() -> None:
    wires = Wires(topology("ABC", 0))
    for number, sender in enumerate((C, B, A, B)):
        wires.network.multicast(sender, FromBelow(sender, number), 0)
    order = []
    while wires.agenda:
        order.append(heappop(wires.agenda)[3].message)
    assert order == [0, 0, 1, 1, 2, 2, 3, 3]
