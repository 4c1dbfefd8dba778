"""What came of a run, as a row: a Parquet file for each run, complete or not there at all."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from ordercast.records.schema import schema_of
from ordercast.records.whole_files import whole_file
from ordercast.simulator.scenario import Scenario
from ordercast.simulator.statistics import Summary
from ordercast.verify.run import RunResult

RESULTS = "results"
TRACES = "traces"

FIGURES = "figures"


class ResultRow(Struct, frozen=True, kw_only=True):
    """The figures and the verdict of one run. A metric that does not apply is null."""

    run: str
    code: str
    """Of the program that ran it (`pipeline.code`)."""
    protocol: str
    seed: int
    good: bool
    """Whether nothing was violated and nothing stalled."""
    messages: int
    events: int
    last_mean_ms: float | None
    last_p50_ms: float | None
    last_p99_ms: float | None
    last_max_ms: float | None
    mean_recipient_mean_ms: float | None
    mean_recipient_p50_ms: float | None
    mean_recipient_p99_ms: float | None
    mean_recipient_max_ms: float | None
    sender_mean_ms: float | None
    sender_p50_ms: float | None
    sender_p99_ms: float | None
    sender_max_ms: float | None
    stability_mean_ms: float | None
    buffer_mean_messages: float | None
    index_of_latency_mean: float | None
    overhead_transmissions: float | None
    overhead_multicasts: float | None
    limit_last_ms: float | None
    limit_mean_recipient_ms: float | None
    violations: tuple[str, ...]
    stalled_at_s: float | None
    stalled_site: str | None
    stalled_waiting_for: str | None
    scenario_json: str
    result_json: str
    """All that `ordercast simulate --json` prints."""

    def whole(self) -> RunResult:
        """The result as the run returned it."""
        return msgspec.json.decode(self.result_json, type=RunResult)


class Outcome(Struct, frozen=True):
    """A row, and what a study's own measure adds to it, by name."""

    row: ResultRow
    figures: Mapping[str, float]


@cache
def result_schema() -> Any:
    """The `pyarrow.Schema` of a result file."""
    import pyarrow as pa

    return schema_of(ResultRow).append(pa.field(FIGURES, pa.map_(pa.string(), pa.float64()), nullable=False))


def row_of(run: str, code: str, scenario: Scenario, result: RunResult) -> ResultRow:
    """The figures of a run side by side."""
    latency, overhead, stalled = result.latency_ms, result.overhead_per_multicast, result.stalled
    return ResultRow(
        run=run,
        code=code,
        protocol=result.protocol,
        seed=result.seed,
        good=result.good,
        messages=result.messages,
        events=result.events,
        **_four("last", latency.last),
        **_four("mean_recipient", latency.mean_recipient),
        **_four("sender", latency.sender),
        stability_mean_ms=_mean(result.stability_ms),
        buffer_mean_messages=_mean(result.buffer_messages),
        index_of_latency_mean=_mean(result.index_of_latency),
        overhead_transmissions=None if overhead is None else overhead.transmissions,
        overhead_multicasts=None if overhead is None else overhead.multicasts,
        limit_last_ms=result.limit_ms.last,
        limit_mean_recipient_ms=result.limit_ms.mean_recipient,
        violations=tuple(result.violations),
        stalled_at_s=None if stalled is None else stalled.at_s,
        stalled_site=None if stalled is None else stalled.site,
        stalled_waiting_for=None if stalled is None else stalled.waiting_for,
        scenario_json=msgspec.json.encode(scenario).decode(),
        result_json=msgspec.json.encode(result).decode(),
    )


def _four(name: str, summary: Summary | None) -> dict[str, Any]:
    parts = Summary.__struct_fields__
    return {f"{name}_{part}_ms": None if summary is None else getattr(summary, part) for part in parts}


def _mean(summary: Summary | None) -> float | None:
    return None if summary is None else summary.mean


# --- files ---


def result_path(directory: Path, run: str) -> Path:
    """Where a campaign keeps what came of a run."""
    return directory / RESULTS / f"{run}.parquet"


def trace_path(directory: Path, run: str) -> Path:
    """Where a campaign keeps a run's trace."""
    return directory / TRACES / f"{run}.parquet"


def write_outcome(directory: Path, outcome: Outcome) -> None:
    """The file is there, complete, when this returns. Who does the same run again writes the same bytes."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    row = msgspec.to_builtins(outcome.row) | {FIGURES: sorted(outcome.figures.items())}
    with whole_file(result_path(directory, outcome.row.run)) as unfinished:
        table = pa.Table.from_pylist([row], result_schema())
        parquet.write_table(table, unfinished, use_dictionary=False, write_statistics=False, write_page_checksum=True)


def read_outcome(directory: Path, run: str) -> Outcome | None:
    """What came of a run; None if that is not known: no file, a torn one, or one of something else."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    try:
        with parquet.ParquetFile(result_path(directory, run), page_checksum_verification=True) as file:
            table = file.read()
    except (OSError, pa.ArrowException):
        return None
    if table.num_rows != 1 or table.schema != result_schema():
        return None
    found = table.to_pylist()[0]
    figures = dict(found.pop(FIGURES))
    row = msgspec.convert(found, ResultRow)
    return Outcome(row, figures) if row.run == run else None


def digest_of(outcomes: Iterable[Outcome]) -> str:
    """Of all results of a campaign, whoever has run them and in whatever order."""
    digest = hashlib.blake2b(digest_size=16)
    for outcome in sorted(outcomes, key=lambda each: each.row.run):
        figures = sorted((name, None if math.isnan(value) else value) for name, value in outcome.figures.items())
        digest.update(msgspec.msgpack.encode((outcome.row.run, outcome.row.result_json, figures)))
    return digest.hexdigest()
