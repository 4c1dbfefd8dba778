"""The load of a scenario as an outside observer knows it."""

from __future__ import annotations

import pytest

from ordercast.core.ids import SiteId
from ordercast.simulator.load import known_network, mean_rates
from ordercast.simulator.scenario import Traffic
from tests.simulator.small import scenario

A, B, C = SiteId(0), SiteId(1), SiteId(2)

LOAD = scenario(
    duration_s=10.0,
    traffic=(
        Traffic(sites=["A", "B"], rate=100),
        Traffic(sites=["A"], rate=300, from_s=2, until_s=4),
        Traffic(sites=["B"], rate=50, from_s=8, until_s=99),
    ),
)


def test_rates_are_means_over_the_whole_of_the_traffic() -> None:
    assert mean_rates(LOAD, LOAD.topology()) == pytest.approx([100 + 300 * 0.2, 100 + 50 * 0.2, 0])


def test_gaps_are_known_piece_by_piece() -> None:
    known = known_network(LOAD, LOAD.topology())
    assert known.gaps_us[A] == ((0, 10_000.0), (2_000_000, 2_500.0), (4_000_000, 10_000.0), (10_000_000, None))
    assert known.gaps_us[B] == ((0, 10_000.0), (8_000_000, 1e6 / 150), (10_000_000, None))
    assert known.gaps_us[C] == ((0, None),)


def test_mean_gaps_and_delays_are_known() -> None:
    known = known_network(LOAD, LOAD.topology())
    assert known.mean_gaps_us == (1e6 / 160, 1e6 / 110, None)
    assert known.delays_us == LOAD.topology().mean_us


def test_a_closed_loop_counts_as_a_message_per_second_and_outstanding_message() -> None:
    load = scenario(traffic=(Traffic(sites=["B"], closed_loop=4, from_s=1), Traffic(sites=["C"], rate=1)))
    assert mean_rates(load, load.topology()) == [0, 2, 1]
