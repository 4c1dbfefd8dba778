"""Faults of a scenario: when they begin, when they end, and what they do not touch."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from ordercast.core.ids import SiteId
from ordercast.simulator.network import Link
from ordercast.simulator.scenario import Fault, FaultKind, ProtocolChoice, Traffic
from ordercast.simulator.simulation import Simulation
from tests.simulator.small import Diary, scenario

PAIRS = [(a, b) for a in "ABC" for b in "ABC" if a != b]


class Probe:
    """A simulation without traffic, looked at as time goes on."""

    def __init__(self, *faults: Fault) -> None:
        self.simulation = Simulation(scenario(traffic=(), fault=faults, duration_s=20.0))
        self.seen: dict[float, Any] = {}

    def link(self, a: str, b: str) -> Link:
        site = self.simulation.topology.site
        return self.simulation.network.links[site(a)][site(b)]

    def cut(self) -> str:
        """The links that are cut now."""
        return " ".join(a + b for a, b in PAIRS if self.link(a, b).cut)

    def at(self, *times: float, what: str | None = None) -> list[Any]:
        """What is cut just after each of these times, or an attribute of the link from A to B."""
        for time in times:
            self.simulation.schedule(round(time * 1e6) + 1, self._look, (time, what))
        self.simulation.run()
        return [self.seen[time] for time in times]

    def _look(self, asked: tuple[float, str | None]) -> None:
        time, what = asked
        self.seen[time] = self.cut() if what is None else getattr(self.link("A", "B"), what)


def partition(at_s: float, sites: str = "A", **more: Any) -> Fault:
    return Fault(kind="partition", at_s=at_s, sites=list(sites), **more)


def heal(at_s: float) -> Fault:
    return Fault(kind="heal", at_s=at_s)


def test_a_partition_cuts_both_ways_until_it_ends() -> None:
    assert Probe(partition(1, "A", until_s=3)).at(0.5, 1, 2.9, 3) == ["", "AB AC BA CA", "AB AC BA CA", ""]


def test_a_one_way_partition_cuts_what_leaves() -> None:
    assert Probe(partition(1, "AB", one_way=True)).at(1) == ["AC BC"]


def test_heal_ends_all_partitions() -> None:
    assert Probe(partition(1, "A"), partition(2, "B"), heal(3)).at(1, 2, 3) == [
        "AB AC BA CA",
        "AB AC BA BC CA CB",
        "",
    ]


def test_a_link_cut_twice_works_once_both_partitions_have_ended() -> None:
    probe = Probe(partition(1, "A", until_s=4), partition(2, "B", until_s=6))
    assert probe.at(3, 4, 6) == ["AB AC BA BC CA CB", "AB BA BC CB", ""]


def test_the_end_of_a_healed_partition_does_not_end_a_later_one() -> None:
    probe = Probe(partition(1, "A", until_s=5), heal(2), partition(3, "A", until_s=9))
    assert probe.at(2, 3, 5, 9) == ["", "AB AC BA CA", "AB AC BA CA", ""]


@pytest.mark.parametrize("kind", ["loss", "duplicate", "reorder"])
def test_of_two_probabilities_the_higher_counts(kind: FaultKind) -> None:
    one = Fault(kind=kind, at_s=1, probability=0.1, until_s=5)
    other = Fault(kind=kind, at_s=2, probability=0.3, until_s=4)
    assert Probe(one, other).at(0, 1, 2, 4, 5, what=kind) == [0, 0.1, 0.3, 0.1, 0]


def test_delays_add_up() -> None:
    slow = Fault(kind="slow-link", at_s=1, between=("A", "B"), extra_ms=5, until_s=5)
    slower = Fault(kind="slow-link", at_s=2, between=("B", "A"), extra_ms=2, until_s=4)
    assert Probe(slow, slower).at(0, 1, 2, 4, 5, what="extra_us") == [0, 5000, 7000, 5000, 0]


def test_a_fault_between_two_sites_leaves_the_others_alone() -> None:
    probe = Probe(Fault(kind="loss", at_s=1, between=("A", "B"), probability=0.5))
    probe.at(1)
    assert {(a, b) for a, b in PAIRS if probe.link(a, b).loss} == {("A", "B"), ("B", "A")}


def test_a_fault_without_an_end_stays() -> None:
    assert Probe(Fault(kind="loss", at_s=1, probability=0.5)).at(19, what="loss") == [0.5]


# --- sites ---


def run(*faults: Fault, protocol: str = "token-site", rate: float = 20.0) -> Diary:
    diary = Diary()
    traffic = (Traffic(sites=["A", "B", "C"], rate=rate, source="periodic"),)
    Simulation(scenario(protocol, traffic=traffic, fault=faults, duration_s=4.0), [diary]).run()
    return diary


def between(events: list[tuple[int, Any]], from_s: float, until_s: float) -> list[Any]:
    return [thing for at_us, thing in events if from_s * 1e6 < at_us < until_s * 1e6]


def test_a_crashed_site_does_nothing_more() -> None:
    diary = run(Fault(kind="crash", at_s=2, sites=["B"]))
    assert diary.of("crash") == [(2_000_000, None)]
    assert between(diary.of("multicast", 1), 0, 2)
    assert between(diary.of("multicast", 1), 2, 9) == between(diary.of("deliver", 1), 2, 9) == []


def test_what_a_crashed_site_had_sent_still_arrives() -> None:
    diary = run(Fault(kind="crash", at_s=2, sites=["B"]))
    sent = {bundle.id for _, bundle in diary.of("multicast", 1)}
    for site in (0, 2):
        assert sent == {bundle.id for _, bundle in diary.of("deliver", site) if bundle.origin == 1}
        assert between(diary.of("deliver", site), 2.1, 9)


def test_a_pause_postpones_what_arrives() -> None:
    """The site delivers nothing meanwhile, then the same sequence as the others."""
    diary = run(Fault(kind="pause", at_s=1, sites=["B"], for_s=1.5))
    assert between(diary.of("deliver", 1), 1, 2.5) == []
    assert [at_us for at_us, _ in diary.of("deliver", 1)].count(2_500_000) > 40
    delivered = [[bundle.id for _, bundle in diary.of("deliver", site)] for site in range(3)]
    assert delivered[1] == delivered[0] == delivered[2]


def test_pauses_that_overlap_last_until_the_later_end() -> None:
    diary = run(
        Fault(kind="pause", at_s=1, sites=["B"], for_s=1), Fault(kind="pause", at_s=1.5, sites=["B"], for_s=1.5)
    )
    assert between(diary.of("deliver", 1), 1, 3) == []
    assert between(diary.of("deliver", 1), 3, 4)


def test_a_site_that_crashes_in_its_pause_stays_silent() -> None:
    diary = run(Fault(kind="pause", at_s=1, sites=["B"], for_s=1), Fault(kind="crash", at_s=1.5, sites=["B"]))
    assert between(diary.of("deliver", 1), 1, 9) == []


def test_a_pause_that_a_crash_has_ended_does_not_end_one_of_the_next_life() -> None:
    """The first would have ended at 5 s, in the midst of the second."""
    faults = (
        Fault(kind="pause", at_s=1, sites=["B"], for_s=4),
        Fault(kind="crash", at_s=1.5, sites=["B"]),
        Fault(kind="recover", at_s=2, sites=["B"]),
        Fault(kind="pause", at_s=3.5, sites=["B"], for_s=3),
    )
    choice = ProtocolChoice(name="symmetric", stack="full", tickets="flush")
    diary = Diary()
    Simulation(replace(scenario(fault=faults, duration_s=8.0), protocol=choice), (diary,)).run()
    assert between(diary.of("multicast", 1), 2, 3.5)
    assert between(diary.of("multicast", 1), 3.5, 6.5) == []
    assert between(diary.of("multicast", 1), 6.5, 8)


def test_a_site_that_is_down_is_not_paused_when_it_comes_up() -> None:
    faults = (
        Fault(kind="crash", at_s=1.5, sites=["B"]),
        Fault(kind="pause", at_s=2, sites=["B"], for_s=1),
        Fault(kind="recover", at_s=4, sites=["B"]),
    )
    choice = ProtocolChoice(name="symmetric", stack="full", tickets="flush")
    diary = Diary()
    Simulation(replace(scenario(fault=faults, duration_s=8.0), protocol=choice), (diary,)).run()
    assert between(diary.of("multicast", 1), 4, 8)


def test_a_partition_keeps_messages_from_the_other_side() -> None:
    diary = run(partition(2, "C"))
    late = {bundle.id for _, bundle in diary.of("multicast", 0) if _ > 2_000_000}
    assert late
    assert late.isdisjoint({bundle.id for _, bundle in diary.of("deliver", SiteId(2))})
