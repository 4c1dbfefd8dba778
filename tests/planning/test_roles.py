"""The papers' heuristic for roles: the nine scenarios, and its edges."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordercast.core.ids import SiteId
from ordercast.planning.roles import assign_roles, closest, with_actives
from ordercast.planning.topology import Lan, Wan, from_lans

A, B, C, D, E = (SiteId(index) for index in range(5))

NINE = from_lans(
    [Lan(name="west", sites=["A", "B", "C"], delay_ms=20), Lan(name="east", sites=["D", "E"], delay_ms=20)],
    [Wan(between=("west", "east"), delay_ms=500)],
).mean_us

NINE_LOADS = ("HHHLL", "HHLLL", "HLLLL", "HHHHL", "HHLHL", "HLLHL", "HHLHH", "HLLHH", "HHHHH")
"""High or low load of A to E in the scenarios 1 to 9 of the hybrid report."""

GAPS_US = {"H": 10_000.0, "L": 1_000_000.0, "-": None}


def gaps(load: str) -> list[float | None]:
    return [GAPS_US[each] for each in load]


@pytest.mark.parametrize("load", NINE_LOADS)
def test_the_nine_scenarios(load: str) -> None:
    """Sites at 100 msg/s are active; those at 1 msg/s ask the nearest of them."""
    sequencers = assign_roles(gaps(load), NINE)
    for site, each in enumerate(load):
        if each == "H":
            assert sequencers[SiteId(site)] == site
    west_active = load.index("H")
    east = [SiteId(site) for site in (3, 4) if load[site] == "H"]
    for site in (site for site in range(5) if load[site] == "L"):
        expected = east[0] if site >= 3 and east else west_active
        assert sequencers[SiteId(site)] == expected


def two_sites(gap_us: float | None) -> dict[SiteId, SiteId]:
    return assign_roles([100.0, gap_us], [[0, 500.0], [500.0, 0]])


def test_at_equality_a_site_becomes_active() -> None:
    """Its next message is as near as the sequencer: the papers' text takes active."""
    assert two_sites(499.0)[B] == B
    assert two_sites(500.0)[B] == B
    assert two_sites(501.0)[B] == A


def test_a_silent_site_is_passive() -> None:
    assert two_sites(None) == {A: A, B: A}


def test_when_all_are_silent_the_first_site_orders() -> None:
    assert assign_roles([None, None, None], [[0, 1, 1], [1, 0, 1], [1, 1, 0]]) == {A: A, B: A, C: A}


def test_a_new_active_can_keep_others_passive() -> None:
    """C alone would become active, at 400 from A; D, which became active before it, is nearer to it than its gap."""
    delays = [[0, 900, 400, 900], [900, 0, 900, 900], [400, 900, 0, 100], [900, 900, 100, 0]]
    assert assign_roles([10.0, None, 950.0, 800.0], delays) == {A: A, B: A, C: D, D: D}


def test_the_distance_counts_from_the_passive_site() -> None:
    """Delays need not be symmetric: it is the way to the sequencer that a request takes."""
    assert closest(C, (A, B), [[0, 0, 1], [0, 0, 9], [5, 4, 0]]) == B
    assert closest(C, (A, B), [[0, 0, 1], [0, 0, 9], [5, 5, 0]]) == A


def test_given_actives_are_taken() -> None:
    assert with_actives((B, D), NINE) == {A: B, B: B, C: B, D: D, E: D}


@given(
    st.integers(1, 6).flatmap(
        lambda size: st.tuples(
            st.lists(st.none() | st.integers(1, 1000), min_size=size, max_size=size),
            st.lists(st.lists(st.integers(1, 1000), min_size=size, max_size=size), min_size=size, max_size=size),
        )
    )
)
def test_nobody_would_rather_have_the_other_role(case: tuple[list[float | None], list[list[float]]]) -> None:
    gaps_us, delays_us = case
    sequencers = assign_roles(gaps_us, delays_us)
    actives = [site for site, sequencer in sequencers.items() if site == sequencer]
    assert actives
    for site, sequencer in sequencers.items():
        if site != sequencer:
            gap = gaps_us[site]
            assert sequencer == closest(site, actives, delays_us)
            assert gap is None or gap > delays_us[site][sequencer]
