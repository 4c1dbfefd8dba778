"""The driver of an export killed while the log grows, as `bench stream-killed` does more often; benchmarks run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from bench.__main__ import main
from bench.streaming.killed import run
from click.testing import CliRunner

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.slow
def test_each_position_is_in_the_sink_once_however_often_the_driver_is_killed(tmp_path: Path) -> None:
    outcome = run(tmp_path, kills=2, bundles_per_s=200)
    assert outcome.rows == outcome.distinct == outcome.expected > 0
    assert (outcome.stray_files, outcome.wrong_payloads) == (0, 0)


def test_the_smallest_size_measures_rates_delays_and_reports(spark: SparkSession, tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["stream", "--smoke", "--json", "--dir", str(tmp_path)])
    assert done.exit_code == 0, done.output
    value = json.loads(done.stdout)
    ways = [(each["where"], each["way"]) for each in value["rates"]]
    assert ways == [(where, way) for where in ("segments", "tail") for way in ("read", "sink", "pyarrow alone")][:-1]
    assert [each["messages_per_s"] > 0 for each in value["delays"]] == [True]
    assert len(value["reports_s"]) == 1
