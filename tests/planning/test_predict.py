"""Expected latencies: the integral against closed forms, the schemes against formulas of the papers and simulation."""

from __future__ import annotations

import math

import pytest

from ordercast.core.ids import SiteId
from ordercast.planning.predict import Source, expected_gap, rate, tickets, token_site, weighted_mean
from ordercast.planning.roles import with_actives

POISSON = Source(1.0, memoryless=True)
PERIODIC = Source(1.0, memoryless=False)


def all_active(sites: int) -> dict[SiteId, SiteId]:
    return {SiteId(site): SiteId(site) for site in range(sites)}


def apart(sites: int, delay_us: float) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(0.0 if a == b else delay_us for b in range(sites)) for a in range(sites))


def test_the_next_message_of_one_source() -> None:
    assert expected_gap((PERIODIC,)) == pytest.approx(0.5)
    assert expected_gap((POISSON,)) == pytest.approx(1.0)


def test_the_next_message_of_two_sources_of_one_site() -> None:
    assert expected_gap((POISSON, POISSON)) == pytest.approx(1 / 2)
    assert expected_gap((PERIODIC, PERIODIC)) == pytest.approx(1 / 3)
    assert expected_gap((PERIODIC, POISSON)) == pytest.approx(math.exp(-1), rel=1e-6)


def test_a_silent_site_is_waited_for_for_ever() -> None:
    assert expected_gap(()) == math.inf
    load = [(PERIODIC,), (PERIODIC,), ()]
    assert tickets(all_active(3), load, apart(3, 1.0)) == [math.inf, math.inf, pytest.approx(1 + 2 / 3, rel=1e-4)]


@pytest.mark.parametrize("others", [1, 4, 29])
def test_symmetric_waits_for_the_slowest_of_the_others(others: int) -> None:
    """Closed forms: the mean of the largest of n uniform values is n / (n + 1), of n exponential ones 1 + 1/2 + ..."""
    sites = others + 1
    uniform = tickets(all_active(sites), [(PERIODIC,)] * sites, apart(sites, 7.0))
    assert uniform == pytest.approx([7 + others / sites] * sites, rel=1e-4)
    exponential = tickets(all_active(sites), [(POISSON,)] * sites, apart(sites, 7.0))
    assert exponential == pytest.approx([7 + sum(1 / n for n in range(1, sites))] * sites, rel=1e-4)


def test_fast_and_slow_exponentials_together() -> None:
    """The mean of the larger of two: 1/a + 1/b - 1/(a + b)."""
    fast, slow = Source(0.01, memoryless=True), Source(1.0, memoryless=True)
    expected = 3 + 0.01 + 1 - 1 / (100 + 1)
    assert tickets(all_active(3), [(PERIODIC,), (fast,), (slow,)], apart(3, 3.0))[0] == pytest.approx(
        expected, rel=1e-5
    )


def test_a_far_active_site_is_waited_for_whatever_the_near_one_does() -> None:
    delays_us = ((0.0, 10.0, 100.0), (10.0, 0.0, 100.0), (100.0, 100.0, 0.0))
    latencies = tickets(all_active(3), [(PERIODIC,)] * 3, delays_us)
    assert latencies[0] == pytest.approx(100 + 2 / 3, rel=1e-4)
    assert latencies[2] == pytest.approx(100 + 2 / 3, rel=1e-4)


def test_delays_that_differ_by_a_rounding_error() -> None:
    delays_us = ((0.0, 20_000.0), (math.nextafter(20_000.0, math.inf), 0.0))
    load = [(Source(1e6, memoryless=True),)] * 2
    assert tickets(all_active(2), load, delays_us) == pytest.approx([1_020_000] * 2, rel=1e-4)


def test_a_passive_site_waits_at_its_sequencer() -> None:
    """D(i, s), half a gap of s, D(s, j): with one active site nobody else is waited for."""
    latencies = tickets(with_actives([SiteId(0)], apart(3, 10.0)), [(PERIODIC,), (POISSON,), ()], apart(3, 10.0))
    assert latencies == pytest.approx([10, 10 + 0.5 + 10, 10 + 0.5 + 10])


def test_flush_does_not_wait_at_the_sequencer_nor_for_the_silent() -> None:
    load = [(PERIODIC,), (POISSON,), ()]
    passive = tickets(with_actives([SiteId(0)], apart(3, 10.0)), load, apart(3, 10.0), flush=True)
    assert passive == pytest.approx([10, 20, 20])
    active = tickets(all_active(3), load, apart(3, 10.0), flush=True)
    assert all(10 < latency <= 20.5 for latency in active)


def test_a_token_site_needs_the_way_there_and_the_way_out() -> None:
    delays_us = ((0.0, 20.0, 540.0), (20.0, 0.0, 540.0), (540.0, 540.0, 0.0))
    assert token_site(SiteId(0), delays_us) == [540, 560, 1080]


def test_nobody_delivers_before_the_message_has_come() -> None:
    """Over the sequencer it is nearer than directly, but a body does not take that way."""
    delays_us = ((0.0, 1.0, 1.0), (1.0, 0.0, 50.0), (1.0, 50.0, 0.0))
    assert token_site(SiteId(0), delays_us) == [1, 50, 50]
    assert tickets(with_actives([SiteId(0)], delays_us), [(PERIODIC,)] * 3, delays_us)[1] == 50


def test_the_mean_is_weighted_by_traffic() -> None:
    load = [(Source(10.0, memoryless=True),), (), (Source(40.0, memoryless=True), Source(40.0, memoryless=False))]
    assert rate(load[2]) == pytest.approx(0.05)
    assert weighted_mean([1.0, math.inf, 4.0], load) == pytest.approx((2 * 1 + 1 * 4) / 3)
