"""A site's forecast of latencies, against the careful one of the planner."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordercast.core.ids import SiteId
from ordercast.planning import predict
from ordercast.planning.forecast import Forecast, agreed_after, completed
from ordercast.planning.roles import with_actives
from tests.planning.test_roles import GAPS_US, NINE, NINE_LOADS

A, B, C, D = (SiteId(index) for index in range(4))

TIMES_US = st.integers(1, 10**7).map(float)


def careful_us(gaps_us: list[float], rows: list[list[float]], actives: list[SiteId]) -> list[float]:
    load = [(predict.Source(gap_us, memoryless=True),) for gap_us in gaps_us]
    delays_us = tuple(tuple(row) for row in rows)
    return predict.tickets(with_actives(actives, delays_us), load, delays_us)


def forecast_of(gaps_us: list[float], rows: list[list[float]]) -> Forecast:
    sites = [SiteId(site) for site in range(len(rows))]
    return Forecast(
        dict(zip(sites, gaps_us, strict=True)), {site: dict(zip(sites, rows[site], strict=True)) for site in sites}
    )


@pytest.mark.parametrize("load", NINE_LOADS)
def test_it_agrees_with_the_planner_on_the_nine_scenarios(load: str) -> None:
    gaps_us = [gap for each in load if (gap := GAPS_US[each]) is not None]
    rows = [list(row) for row in NINE]
    for actives in ([A], [A, D], [B, C], [SiteId(site) for site in range(5)]):
        found = forecast_of(gaps_us, rows).latencies_us(actives)
        assert list(found.values()) == pytest.approx(careful_us(gaps_us, rows, actives), rel=0.01)


@given(
    st.integers(1, 5).flatmap(lambda size: st.lists(st.tuples(*[TIMES_US] * (size + 2)), min_size=size, max_size=size))
)
@settings(deadline=None)
def test_it_agrees_with_the_planner_anywhere(case: list[tuple[float, ...]]) -> None:
    """The last two numbers of each site are its gap, and whether it is active."""
    gaps_us = [numbers[-2] for numbers in case]
    rows = [[0.0 if row == column else case[row][column] for column in range(len(case))] for row in range(len(case))]
    actives = [SiteId(site) for site, numbers in enumerate(case) if numbers[-1] > 5e6] or [A]
    found = forecast_of(gaps_us, rows).latencies_us(actives)
    assert list(found.values()) == pytest.approx(careful_us(gaps_us, rows, actives), rel=0.01)


def test_the_mean_is_over_messages() -> None:
    forecast = Forecast({A: 10.0, B: 1000.0}, {})
    assert forecast.mean_us({A: 100.0, B: 201.0}) == pytest.approx(101.0)


def test_a_single_active_site_waits_for_nobody() -> None:
    assert agreed_after([500.0], [10.0]) == [500.0]


def test_missing_delays_are_taken_from_the_way_back_or_over_here() -> None:
    rows = {A: {B: 10.0, C: 20.0}, C: {B: 5.0}}
    found = completed(A, (A, B, C), rows)
    assert found == {A: {A: 0, B: 10, C: 20}, B: {A: 10, B: 0, C: 5}, C: {A: 20, B: 5, C: 0}}
    assert completed(A, (A, B, C), {A: {B: 10.0, C: 20.0}})[B][C] == 30


def test_of_members_at_an_unknown_distance_nothing_is_said() -> None:
    assert completed(A, (A, B, C, D), {A: {B: 10.0}, D: {C: 1.0}, C: {A: 7.0}}) == {
        A: {A: 0, B: 10, C: 7},
        B: {A: 10, B: 0, C: 17},
        C: {A: 7, B: 17, C: 0},
    }


def test_it_is_cheap_enough_to_be_asked_often() -> None:
    """Fourteen active sites with different gaps: under 5 ms even on a busy machine, in the best of ten."""
    size = 14
    rows = [[abs(a - b) * 10_000.0 for b in range(size)] for a in range(size)]
    forecast = forecast_of([10_000.0 * 1.4**site for site in range(size)], rows)
    taken = []
    for _ in range(10):
        begin = time.process_time()
        forecast.latencies_us([SiteId(site) for site in range(size)])
        taken.append(time.process_time() - begin)
    assert min(taken) < 0.005
