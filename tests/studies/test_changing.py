"""What is measured while load changes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest

from ordercast.simulator.scenario import from_table
from ordercast.studies.framework.changing import WINDOWS_PER_S, Changing, phase_edges_us
from ordercast.verify.run import run

LAN_MS = 20.0


def scenario(protocol: str = "token-site", rates: tuple[float, ...] = (50.0,), phase_s: float = 10.0) -> dict[str, Any]:
    """B sends at these rates, one after the other; the token is at A. So is the dynamic hybrid's first sequencer."""
    options = {"active": ["A"]} if protocol == "dynamic-hybrid" else {}
    traffic = [{"sites": ["A"], "rate": 5.0, "source": "periodic"}]
    for place, rate in enumerate(rates):
        window = {"from_s": place * phase_s, "until_s": (place + 1) * phase_s}
        traffic.append({"sites": ["B"], "rate": rate, "source": "periodic", **window})
    return {
        "duration_s": len(rates) * phase_s,
        "protocol": {"name": protocol, "options": options},
        "lan": [{"name": "lan", "sites": ["A", "B"], "delay_ms": LAN_MS, "distribution": "constant"}],
        "traffic": traffic,
    }


def figures(table: dict[str, Any]) -> Mapping[str, float]:
    measure = Changing()
    assert run(from_table(table), observers=[measure], with_limit=False).good
    return measure.figures()


def test_phases_begin_where_load_changes() -> None:
    assert phase_edges_us(from_table(scenario(rates=(50.0, 1.0, 50.0)))) == [0, 10_000_000, 20_000_000, 30_000_000]


def test_a_token_site_is_steady_from_the_beginning_and_nobody_switches() -> None:
    found = figures(scenario(rates=(50.0, 100.0)))
    sent = 50 * 10 + 100 * 10
    expected = (sent * 2 * LAN_MS + 100 * LAN_MS) / (sent + 100)  # A's own messages have their tickets at once
    assert found["mean_ms"] == pytest.approx(expected, rel=0.01)
    assert (found["settle_s/1"], found["settle_s/2"], found["switches_per_minute"]) == (0, 0, 0)
    assert found["steady_ms/2"] == pytest.approx((2000 + 5 * LAN_MS) * 2 / 110, rel=0.1)
    assert len([name for name in found if name.startswith("at_ms/")]) == 20 * WINDOWS_PER_S


def test_a_switch_is_counted_in_its_phase_and_latency_settles_after_it() -> None:
    """B becomes busy, and A, whose gaps are longer than the way to B, leaves the ordering to it."""
    found = figures(scenario("dynamic-hybrid", rates=(1.0, 100.0), phase_s=20.0))
    assert found["switches/2"] >= 2
    assert found["switches_per_minute"] == (found["switches/1"] + found["switches/2"]) * 60 / 40
    assert 0 < found["settle_s/2"] < 5
    assert found["peak_ms/2"] > 2 * found["steady_ms/2"]
    assert found["mean_settle_s"] == found["settle_s/2"]


def test_what_was_not_sent_is_not_a_number() -> None:
    table = scenario(rates=(50.0, 100.0))
    table["traffic"] = [{"sites": ["B"], "rate": 50.0, "from_s": 10.0}]
    found = figures(table)
    assert math.isnan(found["at_ms/0"])
    assert math.isnan(found["steady_ms/1"])
    assert found["steady_ms/2"] > 0
