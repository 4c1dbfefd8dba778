"""From LANs and WAN links, or a matrix, to the delay between every two sites."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordercast.planning.topology import Delays, Lan, Matrix, Topology, Wan, from_delays, from_lans, shortest_paths


def lan(name: str, sites: str, delay_ms: float = 20, variance: float = 0.05) -> Lan:
    return Lan(name=name, sites=list(sites), delay_ms=delay_ms, variance=variance)


def wan(a: str, b: str, delay_ms: float, variance: float = 0.4) -> Wan:
    return Wan(between=(a, b), delay_ms=delay_ms, variance=variance)


def mean_ms(topology: Topology, a: str, b: str) -> float:
    return topology.mean_us[topology.site(a)][topology.site(b)] / 1000


def variance_ms2(topology: Topology, a: str, b: str) -> float:
    return topology.variance_us2[topology.site(a)][topology.site(b)] / 1e6


def test_the_papers_topology() -> None:
    """A path adds LAN + WAN + LAN, and so do the variances (papers: 540 ms from A to D)."""
    topology = from_lans([lan("west", "ABC"), lan("east", "DE", 30, 0.1)], [wan("west", "east", 500)])
    assert topology.names == ("A", "B", "C", "D", "E")
    assert topology.sites == (0, 1, 2, 3, 4)
    assert mean_ms(topology, "A", "B") == 20
    assert mean_ms(topology, "D", "E") == 30
    assert mean_ms(topology, "A", "D") == mean_ms(topology, "D", "A") == 550
    assert variance_ms2(topology, "A", "B") == pytest.approx(0.05)
    assert variance_ms2(topology, "A", "D") == pytest.approx(0.05 + 0.4 + 0.1)
    assert all(topology.mean_us[site][site] == topology.variance_us2[site][site] == 0 for site in topology.sites)


def test_several_wan_hops_take_the_shortest_path() -> None:
    """Lans in between are passed through on their WAN links alone; the variance is that of the path taken."""
    lans = [lan("l", "A", 1, 0), lan("m", "B", 7, 0), lan("n", "C", 2, 0), lan("o", "D", 3, 0)]
    wans = [wan("l", "m", 100, 1), wan("m", "n", 50, 2), wan("l", "n", 400, 4), wan("n", "o", 10, 8)]
    topology = from_lans(lans, wans)
    assert mean_ms(topology, "A", "C") == 1 + 150 + 2
    assert variance_ms2(topology, "A", "C") == pytest.approx(3)
    assert mean_ms(topology, "A", "D") == 1 + 160 + 3
    assert variance_ms2(topology, "D", "A") == pytest.approx(11)


def test_of_two_links_between_the_same_lans_the_faster_counts() -> None:
    lans = [lan("l", "A", 1, 0), lan("m", "B", 1, 0)]
    for wans in ([wan("l", "m", 100, 1), wan("m", "l", 60, 2)], [wan("m", "l", 60, 2), wan("l", "m", 100, 1)]):
        topology = from_lans(lans, wans)
        assert mean_ms(topology, "A", "B") == 62
        assert variance_ms2(topology, "A", "B") == pytest.approx(2)


def test_a_matrix_is_taken_as_it_is() -> None:
    delays = Delays(sites=["x", "y"], one_way_ms=[[9, 10], [20, 9]], variance=[[5, 1], [2, 5]])
    mean_us, variance_us2 = ((0.0, 10_000.0), (20_000.0, 0.0)), ((0.0, 1e6), (2e6, 0.0))
    assert from_delays(delays) == Topology(("x", "y"), mean_us, variance_us2, "chi2")


def test_one_variance_may_stand_for_all_pairs() -> None:
    topology = from_delays(Delays(sites=["x", "y"], one_way_ms=[[0, 10], [20, 0]], variance=0.5))
    assert topology.variance_us2 == ((0, 5e5), (5e5, 0))


def square(size: int) -> st.SearchStrategy[Matrix]:
    rows = st.lists(st.tuples(*[st.integers(1, 1000)] * size), min_size=size, max_size=size)
    return rows.map(
        lambda values: tuple(tuple(0.0 if a == b else float(values[a][b]) for b in range(size)) for a in range(size))
    )


@given(st.integers(2, 6).flatmap(square))
def test_the_closure_is_the_length_of_the_shortest_path(delays: Matrix) -> None:
    closure = shortest_paths(delays)
    size = len(delays)
    for a in range(size):
        for b in range(size):
            assert closure[a][b] == shortest_walk(delays, a, b)
    assert shortest_paths(closure) == closure


def shortest_walk(delays: Matrix, start: int, end: int) -> float:
    """By Bellman and Ford, unlike the code under test."""
    reach = [0.0 if site == start else float("inf") for site in range(len(delays))]
    for _ in delays:
        reach = [min(reach[a] + delays[a][b] for a in range(len(delays))) for b in range(len(delays))]
    return reach[end]
