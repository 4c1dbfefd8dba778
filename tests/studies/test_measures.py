"""What studies measure beyond latencies."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest

from ordercast.simulator.scenario import from_table
from ordercast.studies.framework.grid import run_grid
from ordercast.studies.framework.measures import Silence
from ordercast.verify.run import run

LAN_MS = 5.0


def scenario(stack: str, *faults: dict[str, Any], until_s: float = 6.0) -> dict[str, Any]:
    return {
        "duration_s": 6.0,
        "warmup_s": 2.0,
        "protocol": {"name": "token-site", "stack": stack},
        "lan": [{"name": "lan", "sites": ["A", "B", "C"], "delay_ms": LAN_MS}],
        "traffic": [{"sites": ["A", "B", "C"], "rate": 50.0, "source": "periodic", "until_s": until_s}],
        "fault": list(faults),
    }


def figures(table: dict[str, Any]) -> Mapping[str, float]:
    silence = Silence()
    assert run(from_table(table), observers=[silence], with_limit=False).good
    return silence.figures()


def test_the_longest_silence_begins_with_the_crash_of_the_token_site_and_ends_with_the_next_view() -> None:
    found = figures(scenario("full", {"kind": "crash", "at_s": 3.0, "sites": ["A"]}))
    assert found["suspicion_ms"] == pytest.approx(400 + 20, abs=1)
    assert found["suspicion_ms"] < found["silence_ms"] < found["suspicion_ms"] + 200
    assert found["least_silence_ms"] <= found["silence_ms"]
    assert found["suspicion_ms"] < found["view_ms"] < found["suspicion_ms"] + 250


def test_a_silence_counts_from_the_warm_up_on_and_to_the_end_of_the_traffic() -> None:
    busy, quiet_at_the_end = figures(scenario("full")), figures(scenario("full", until_s=4.5))
    assert busy["silence_ms"] <= 1000 / 50 + 2 * LAN_MS
    assert 1500 - 3 * LAN_MS <= quiet_at_the_end["silence_ms"] <= 1500 + 20
    assert all(math.isnan(busy[name]) for name in ("suspicion_ms", "longest_suspicion_ms", "view_ms"))


def test_a_site_that_crashes_has_no_silence() -> None:
    """Nor has a survivor on the papers' stack a view without it."""
    found = figures(scenario("ideal", {"kind": "crash", "at_s": 3.0, "sites": ["C"]}))
    assert found["silence_ms"] <= 1000 / 50 + 2 * LAN_MS
    assert math.isnan(found["view_ms"])


def test_a_grid_hands_the_figures_on_whatever_runs_it() -> None:
    points = [(key, scenario("full", until_s=until_s)) for key, until_s in ((1, 3.0), (2, 5.0))]
    alone, together = (dict(run_grid(points, Silence, workers)) for workers in (1, 2))
    assert alone == {key: ran._replace(figures=alone[key].figures) for key, ran in together.items()}
    assert [round(alone[key].figures["silence_ms"], -2) for key in (1, 2)] == [3000, 1000]
    assert [together[key].figures["silence_ms"] for key in (1, 2)] == [
        alone[key].figures["silence_ms"] for key in (1, 2)
    ]
