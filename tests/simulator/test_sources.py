"""When each site multicasts: rates, windows, phases, and the closed loop."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from statistics import fmean, pstdev
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordercast.simulator.chooser import SeededChooser
from ordercast.simulator.scenario import Traffic
from ordercast.simulator.simulation import Simulation
from ordercast.simulator.sources import TURNAROUND_US, OpenLoop
from tests.simulator.small import Diary, scenario

Source = Literal["quasi-periodic", "poisson", "periodic"]
SOURCES: tuple[Source, ...] = ("periodic", "quasi-periodic", "poisson")
every_source = pytest.mark.parametrize("source", SOURCES)


def times(rate: float = 100, duration_s: float = 100, seed: int = 1, **traffic: Any) -> list[int]:
    """When a source multicasts, in microseconds."""
    loop = OpenLoop(Traffic(sites=["A"], rate=rate, **traffic), rate, round(duration_s * 1e6), SeededChooser(seed))
    due, found = loop.first_us(), []
    while due is not None:
        found.append(due)
        due = loop.next_us()
    return found


@every_source
@pytest.mark.parametrize("rate", [3.0, 100.0])
def test_rates_are_those_asked_for(source: Source, rate: float) -> None:
    count = len(times(rate, 1000, source=source))
    spread = {"periodic": 1, "quasi-periodic": 0.02 * (1000 * rate) ** 0.5 + 1, "poisson": (1000 * rate) ** 0.5}
    assert abs(count - 1000 * rate) <= 4 * spread[source]


@every_source
def test_gaps_have_the_spread_of_their_source(source: Source) -> None:
    gaps = [later - earlier for earlier, later in pairwise(times(100, 500, source=source))]
    relative = {"periodic": 0.0, "quasi-periodic": 0.02, "poisson": 1.0}[source]
    assert fmean(gaps) == pytest.approx(10_000, rel=0.02)
    assert pstdev(gaps) / 10_000 == pytest.approx(relative, rel=0.05, abs=1e-4)


@given(
    source=st.sampled_from(SOURCES),
    phase=st.sampled_from(["random", "aligned"]),
    seed=st.integers(0, 1 << 20),
    from_s=st.floats(0, 3),
    length_s=st.floats(0.001, 3),
    rate=st.floats(0.1, 200),
)
def test_a_window_is_kept(source: Source, phase: str, seed: int, from_s: float, length_s: float, rate: float) -> None:
    found = times(rate, 4, seed, source=source, phase=phase, from_s=from_s, until_s=from_s + length_s)
    assert all(from_s * 1e6 - 1 <= time < min(4, from_s + length_s) * 1e6 for time in found)
    assert found == sorted(found)


@pytest.mark.parametrize("source", ["periodic", "quasi-periodic"])
def test_aligned_sources_begin_together(source: Source) -> None:
    assert {times(10, seed=seed, source=source, phase="aligned", from_s=1.5)[0] for seed in range(5)} == {1_500_000}


@pytest.mark.parametrize("source", ["periodic", "quasi-periodic"])
def test_random_phases_are_spread_over_one_gap(source: Source) -> None:
    starts = [times(10, 1, seed, source=source)[0] for seed in range(1000)]
    assert all(0 <= start < 100_000 for start in starts)
    quarters = Counter(start // 25_000 for start in starts)
    assert all(180 < quarters[quarter] < 320 for quarter in range(4))


def test_a_poisson_source_has_no_phase() -> None:
    """Its first gap is as random as the others."""
    starts = [times(10, 5, seed, source="poisson", phase="aligned")[0] for seed in range(2000)]
    assert fmean(starts) == pytest.approx(100_000, rel=0.1)


def outstanding_over_time(diary: Diary, site: int, size_bytes: int, until_us: int) -> list[int]:
    """How many messages of this size a site waits for, after each instant at which that changes."""
    counts: dict[int, int] = {}
    outstanding = 0
    for at_us, where, kind, bundle in diary.events:
        if where == site and kind in ("multicast", "deliver") and bundle.origin == site and at_us < until_us:
            outstanding += (len(bundle.bodies[0]) == size_bytes) * (1 if kind == "multicast" else -1)
            counts[at_us] = outstanding
    return list(counts.values())


def watch(protocol: str, *traffic: Traffic) -> Diary:
    diary = Diary()
    Simulation(scenario(protocol, traffic=traffic), [diary]).run()
    return diary


@pytest.mark.parametrize("outstanding", [1, 4])
def test_a_closed_loop_keeps_exactly_so_many_outstanding(outstanding: int) -> None:
    diary = watch("token-site", Traffic(sites=["B", "C"], closed_loop=outstanding, until_s=1.5, size_bytes=7))
    for site in (1, 2):
        assert set(outstanding_over_time(diary, site, 7, 1_500_000)) == {outstanding}
        assert outstanding_over_time(diary, site, 7, 9_000_000)[-1] == 0
        assert len(diary.of("multicast", site)) > 10 * outstanding


def test_a_closed_loop_whose_messages_come_back_at_once_does_not_stop_time() -> None:
    """The token site delivers its own messages in the instant in which it multicasts them."""
    diary = watch("token-site", Traffic(sites=["A"], closed_loop=3, until_s=0.1))
    assert len(diary.of("multicast", 0)) == 3 * 100_000 // TURNAROUND_US


def test_a_closed_loop_begins_and_ends_with_its_window() -> None:
    diary = watch("token-site", Traffic(sites=["B"], closed_loop=2, from_s=0.5, until_s=1.0))
    at = [at_us for at_us, _ in diary.of("multicast")]
    assert at[:2] == [500_000, 500_000]
    assert max(at) < 1_000_000


def test_closed_loops_at_one_site_add_up() -> None:
    loops = (Traffic(sites=["B"], closed_loop=count, until_s=1.0, size_bytes=7) for count in (1, 2))
    assert set(outstanding_over_time(watch("token-site", *loops), 1, 7, 1_000_000)) == {3}


def test_a_closed_loop_answers_its_own_messages_alone() -> None:
    """Another source at the same site must not make it send more."""
    loop = Traffic(sites=["B"], closed_loop=1, until_s=1.0, size_bytes=7)
    diary = watch("token-site", loop, Traffic(sites=["B"], rate=20, size_bytes=9))
    assert set(outstanding_over_time(diary, 1, 7, 1_000_000)) == {1}
    assert len(diary.of("multicast", 1)) > 40
