"""All runs below a directory, judged on Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ordercast.pipeline.audit.files import path_in, records_in, torn_files
from ordercast.pipeline.audit.job import AuditJob, block_bits
from ordercast.verify.audit.check import SHOWN_MAX
from ordercast.verify.audit.run import Verdict

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from ordercast.records.runs import Traces

HELD_MAX = 2_000_000
"""So many records are read once and held: of short traces reading takes longer than judging."""


def audit_traces(
    session: SparkSession,
    traces: Traces,
    *,
    exact: bool = False,
    shown_max: int = SHOWN_MAX,
    bits: int | None = None,
) -> tuple[list[Verdict], list[str]]:
    """The verdicts on all runs, and what is wrong with the files that had to be skipped."""
    torn = torn_files(session, [file.path for file in traces.files])
    files = [file for file in traces.files if str(file.path) not in torn and file.rows]
    skipped = [*map(str, traces.bad), *torn.values()]
    if not files:
        return [], skipped
    rows = sum(file.rows for file in files)
    records = records_in(session, [file.path for file in files])
    if rows <= HELD_MAX:
        records = records.persist()
    ranks = {str(file.path.resolve()): rank for rank, file in enumerate(files)}
    job = AuditJob(records, bits or block_bits(rows), exact, lambda uri: ranks[path_in(uri)])
    try:
        return job.verdicts(shown_max), skipped
    finally:
        records.unpersist()
