"""Telemetry against what plain Python makes of the same records."""

from __future__ import annotations

import random
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING

import pytest

from ordercast.core.ids import origin_of
from ordercast.core.trace import Kind
from ordercast.pipeline.audit.files import records_in
from ordercast.pipeline.telemetry.latencies import BUCKETS_PER_OCTAVE, quantile
from ordercast.pipeline.telemetry.report import Telemetry, telemetry
from tests.pipeline.audit.comparing import write
from tests.verify.audit.traces import trace_named

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RECORDS = trace_named("safe")
SENT_US = {each.message: each.at_us for each in RECORDS if each.kind is Kind.MULTICAST}
TOLD = [each for each in RECORDS if each.kind is Kind.DELIVER]


@pytest.fixture(scope="module")
def run(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Telemetry:
    directory: Path = tmp_path_factory.mktemp("telemetry")
    write(directory, "one", RECORDS)
    (found,) = telemetry(records_in(spark, sorted(directory.glob("*.parquet"))))
    return found


def test_latencies_until_the_last_site_has_delivered(run: Telemetry) -> None:
    last = {each.site: each for each in run.latencies if (each.stage, each.minute) == ("last", None)}
    for site, found in last.items():
        ends: dict[int | None, int] = {}
        for each in TOLD:
            if each.origin == site:
                ends[each.message] = max(each.at_us, ends.get(each.message, 0))
        latencies = [(at_us - SENT_US[message]) / 1e3 for message, at_us in ends.items()]
        assert found.messages == len(latencies)
        assert found.mean_ms == pytest.approx(mean(latencies))
        assert found.max_ms == max(latencies)
        assert found.p50_ms == pytest.approx(sorted(latencies)[(len(latencies) - 1) // 2], rel=0.05)
    assert len(last) == 4


def test_what_is_delivered_as_safe_is_final_then(run: Telemetry) -> None:
    means = {stage: [each.mean_ms for each in run.latencies if each.stage == stage] for stage in ("own", "final")}
    assert means["own"] == means["final"] != []


def test_minutes_add_up(run: Telemetry) -> None:
    whole = sum(each.messages for each in run.latencies if each.minute is None)
    assert sum(each.messages for each in run.latencies if each.minute is not None) == whole


def test_rates_and_ways(run: Telemetry) -> None:
    assert sum(rate.messages for rate in run.rates) == len(SENT_US)
    assert [rate.undelivered for rate in run.rates] == [0] * 4
    assert [rate.per_second == pytest.approx(10, rel=0.1) for rate in run.rates] == [True] * 4
    for way in run.ways:
        least = min(
            each.at_us - SENT_US[each.message]
            for each in TOLD
            if (each.site, origin_of(each.message or 0)) == (way.site, way.origin)  # type: ignore[arg-type]
        )
        assert way.least_ms == least / 1e3


def test_the_plan_stands_beside_what_was_observed(run: Telemetry) -> None:
    assert run.planned is not None
    assert run.planned.limit_ms is not None
    assert run.planned.observed_ms is not None
    assert 0 < run.planned.limit_ms <= run.planned.observed_ms
    assert run.planned.predicted_ms is not None
    assert set(run.planned.active) <= {0, 1, 2, 3}


@pytest.mark.parametrize("share", [0.01, 0.5, 0.99, 1.0])
def test_a_quantile_is_right_within_half_a_bucket(share: float) -> None:
    rng = random.Random(3)
    values = sorted(rng.lognormvariate(9, 2) for _ in range(1000))
    buckets: dict[int, int] = {}
    for value in values:
        bucket = int(_log2(value) * BUCKETS_PER_OCTAVE)
        buckets[bucket] = buckets.get(bucket, 0) + 1
    assert quantile(buckets, share) == pytest.approx(values[round(share * 1000) - 1], rel=0.05)


def _log2(value: float) -> float:
    import math

    return math.log2(value)
