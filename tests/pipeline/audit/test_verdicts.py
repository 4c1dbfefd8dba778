"""The audit on Spark against the plain one: the same verdicts, with the same witnesses and words."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from ordercast.pipeline.audit.directory import audit_traces
from ordercast.records.runs import find_traces, records_of
from ordercast.records.traces import TraceWriter
from ordercast.verify.audit.run import audit
from tests.pipeline.audit.comparing import ALL, BITS, comparable, differing, write, write_planted
from tests.verify.audit.catalogue import PLANTS
from tests.verify.audit.traces import TABLES, fuzz_trace, trace_named

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SEEDS = range(300, 312)
RECORDS_MAX = 6000


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Clean traces of every sort, and with every kind of mistake planted into them."""
    directory: Path = tmp_path_factory.mktemp("traces")
    for name in TABLES:
        write_planted(directory, name, list(trace_named(name)), PLANTS, random.Random(1))
    for seed in SEEDS:
        records = fuzz_trace(seed)
        if len(records) <= RECORDS_MAX:
            write_planted(directory, str(seed), records, PLANTS[seed % 4 :: 4], random.Random(seed))
    return directory


@pytest.mark.parametrize("exact", [False, True], ids=["digests", "exact"])
def test_verdicts_are_those_of_the_plain_audit(spark: SparkSession, directory: Path, exact: bool) -> None:
    traces = find_traces(directory)
    verdicts, skipped = audit_traces(spark, traces, exact=exact, shown_max=ALL, bits=BITS)
    assert skipped == []
    assert [verdict.run for verdict in verdicts] == traces.runs
    assert len(verdicts) > 60
    assert sum(1 for verdict in verdicts if verdict.violations) > 40
    assert differing(verdicts, traces) == []


def test_sites_may_write_files_of_their_own(spark: SparkSession, tmp_path: Path) -> None:
    records = [replace(each, run="live") for each in trace_named("mixed")]
    for site in range(4):
        own = [each for each in records if each.site == site]
        for part, start in enumerate(range(0, len(own), 300)):
            with TraceWriter(tmp_path / f"site {site}", f"part-{9 - part}") as writer:
                for each in own[start : start + 300]:
                    writer.write(each)
    traces = find_traces(tmp_path)
    (verdict,), _ = audit_traces(spark, traces, bits=BITS)
    assert comparable(verdict) == comparable(audit(records_of("live", traces.files), "live"))


def test_torn_files_are_named_and_skipped(spark: SparkSession, tmp_path: Path) -> None:
    for run in ("one", "two", "three"):
        write(tmp_path, run, list(trace_named("agreed")))
    torn = tmp_path / "two.parquet"
    content = bytearray(torn.read_bytes())
    content[len(content) // 3] ^= 0xFF
    torn.write_bytes(content)
    cut = tmp_path / "three.parquet"
    cut.write_bytes(cut.read_bytes()[:-9])
    verdicts, skipped = audit_traces(spark, find_traces(tmp_path))
    assert [verdict.run for verdict in verdicts] == ["one"]
    assert verdicts[0].violations == []
    assert [any(name in each for each in skipped) for name in ("two.parquet", "three.parquet")] == [True, True]
