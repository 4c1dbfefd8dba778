"""Rows per second from an ordered log to a sink, and how long after its delivery a message is there.

*Rates*: a log of so many positions, all of it in sealed segments, or all of it in the tail, is read by Spark and
summed up (*read*), and exported to a new sink (*sink*), in a session that has done both before. Beside it *pyarrow
alone* copies the same columns of the same segments in one thread. The best round counts.

*Delays*: a process appends bundles at a steady pace with a site's own storage, each of them final at once; an export
follows. The delay of a position is from the moment when the site logged it (`wall_us`) to the appearance of the
manifest of its batch; what came in the first seconds is left out.

*Reports*: three sites agree, then one orders something else than the others. The time is from the moment when that is
durable to the report of `ordercast watch`.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from bench.log import Load
from bench.streaming.killed import writing
from bench.streaming.planted import report_s
from ordercast.records.log_reader import Reader
from ordercast.site.storage.options import LogOptions
from ordercast.site.storage.ordered_log import OrderedLog

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOAD = Load(100, 64)

SEGMENT_POSITIONS = 100_000
NEVER = 1 << 60

SEAL_PATIENCE_S = 120.0


class Effort(NamedTuple):
    """How much is measured."""

    positions: int
    rounds: int
    rates: tuple[int, ...]
    """Bundles of ten messages a second."""
    follow_s: float
    settle_s: float
    """Of that, what is left out at the beginning."""
    reports: int
    agreed_before: int
    """Bundles in the logs before a violation is planted."""


NORMAL = Effort(1_000_000, 3, (10, 1000), 30.0, 10.0, 5, 100)
SMOKE = Effort(2_000, 1, (50,), 3.0, 0.0, 1, 3)


class Rate(NamedTuple):
    """The best round."""

    where: str
    way: str
    rows_per_s: float


class Delay(NamedTuple):
    """From the log to the sink, in a steady stream."""

    messages_per_s: float
    batches: int
    p50_ms: float
    p99_ms: float
    max_ms: float


# --- rates ---


def rates(spark: SparkSession, effort: Effort, place: Path) -> list[Rate]:
    """Of both kinds of log, every way."""
    best: dict[tuple[str, str], float] = {}
    for where, segment_positions in (("segments", SEGMENT_POSITIONS), ("tail", NEVER)):
        log = place / where
        _write(log, effort.positions, min(segment_positions, effort.positions) if where == "segments" else NEVER)
        ways: dict[str, Callable[[int], None]] = {
            "read": lambda _, log=log: _read(spark, log, effort.positions),  # type: ignore[misc]
            "sink": lambda number, log=log: _sink(spark, log, log / f"out{number}", effort.positions),  # type: ignore[misc]
        }
        if where == "segments":
            ways["pyarrow alone"] = lambda number, log=log: _copy(log, log / f"copy{number}.parquet")  # type: ignore[misc]
        for number in range(effort.rounds):
            for way, work in ways.items():
                begin_s = time.perf_counter()
                work(number)
                speed = effort.positions / (time.perf_counter() - begin_s)
                best[where, way] = max(best.get((where, way), 0.0), speed)
    return [Rate(where, way, speed) for (where, way), speed in best.items()]


def _write(directory: Path, positions: int, segment_positions: int) -> None:
    options = LogOptions(
        fsync="never", segment_positions=segment_positions, segment_bytes=NEVER, segment_age_s=float(NEVER)
    )
    log = OrderedLog.open(directory, options)
    for entry in LOAD.entries(positions // LOAD.bodies):
        log.append(entry)
    log.finalize(positions)
    assert log.wait(log.written, 60.0)
    give_up_s = time.monotonic() + SEAL_PATIENCE_S
    with closing(Reader(directory, beside=True)) as reader:
        while segment_positions != NEVER and reader.tail_runs():
            assert time.monotonic() < give_up_s, "sealing has stopped"
            time.sleep(0.1)
    log.close()


def _read(spark: SparkSession, log: Path, positions: int) -> None:
    frame = spark.read.format("ordercast").load(str(log)).selectExpr("count(*)", "bit_xor(xxhash64(*))")
    assert frame.collect()[0][0] == positions


def _sink(spark: SparkSession, log: Path, out: Path, positions: int) -> None:
    from ordercast.pipeline.streaming.export import ExportChoice, exported, exporting

    with exporting(spark, ExportChoice(log=str(log)), out) as query:
        query.awaitTermination()
    assert exported(out).rows == positions


def _copy(log: Path, out: Path) -> None:
    import pyarrow.parquet as parquet

    paths = sorted((log / "segments").glob("*.parquet"))
    with parquet.ParquetWriter(out, parquet.read_schema(paths[0]), compression="snappy") as writer:
        for path in paths:
            writer.write_table(parquet.read_table(path, use_threads=False))


# --- delays ---


def delay(spark: SparkSession, bundles_per_s: int, effort: Effort, place: Path) -> Delay:
    """Of a steady stream."""
    from ordercast.pipeline.streaming.export import ExportChoice, exporting

    log, out = place / f"steady{bundles_per_s}", place / f"followed{bundles_per_s}"
    from_s = time.time() + effort.settle_s
    with writing(log, bundles_per_s), exporting(spark, ExportChoice(log=str(log)), out, every_s=0) as query:
        query.awaitTermination(effort.follow_s)  # type: ignore[arg-type]
        while (found := _delays(out, from_s)) is None:  # a machine that is busy takes its time to begin
            assert query.isActive, query.exception()
            query.awaitTermination(1)
    return found


def _delays(out: Path, from_s: float) -> Delay | None:
    """Of what has been logged since then; None if nothing of that is in the sink."""
    import numpy as np
    import pyarrow.parquet as parquet

    from ordercast.pipeline.streaming.sink import MANIFEST, manifests

    parts, batches = [np.empty(0)], 0
    for manifest in manifests(out):
        there_us = (out / MANIFEST / f"{manifest.batch:010}.json").stat().st_mtime_ns / 1e3
        for file in manifest.files:
            logged_us = parquet.read_table(out / file.path, columns=["wall_us"])["wall_us"].to_numpy()
            parts.append((there_us - logged_us[logged_us >= from_s * 1e6]) / 1e3)
        batches += there_us >= from_s * 1e6
    delays_ms = np.concatenate(parts)
    if not len(delays_ms):
        return None
    over_s = time.time() - from_s
    return Delay(len(delays_ms) / over_s, batches, *(float(np.percentile(delays_ms, each)) for each in (50, 99, 100)))


# --- what is shown ---


@click.command("stream")
@click.option("--dir", "place", type=click.Path(path_type=Path, exists=True, file_okay=False), default=Path("."),
              help="On the disk that is measured; the working directory if absent.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
@click.option("--smoke", is_flag=True, help="The least that runs everything once; the figures mean nothing.")
def command(place: Path, as_json: bool, smoke: bool) -> None:
    """Rows per second from an ordered log to a sink, the delay of each, and how soon a watch reports."""
    from ordercast.pipeline import register
    from ordercast.pipeline.session import spark_session

    effort = SMOKE if smoke else NORMAL
    with tempfile.TemporaryDirectory(dir=place) as made, spark_session() as spark:
        register(spark)
        speeds = rates(spark, effort, Path(made))
        delays = [delay(spark, each, effort, Path(made)) for each in effort.rates]
        places = [Path(made) / f"planted{number}" for number in range(effort.reports)]
        reports_s = [report_s(spark, effort.agreed_before, each) for each in places]
    if as_json:
        rows = {"rates": [each._asdict() for each in speeds], "delays": [each._asdict() for each in delays]}
        click.echo(json.dumps({**rows, "reports_s": reports_s}, indent=2))
        return
    for speed in speeds:
        click.echo(f"{speed.where:<10}{speed.way:<16}{speed.rows_per_s:>12,.0f} rows/s")
    for each in delays:
        figures = f"p50 {each.p50_ms:,.0f} ms, p99 {each.p99_ms:,.0f} ms, at most {each.max_ms:,.0f} ms"
        click.echo(f"{each.messages_per_s:,.0f} messages/s in {each.batches} batches: {figures}")
    shown = ", ".join(f"{each:.2f}" for each in sorted(reports_s))
    click.echo(f"a violation is reported after {shown} s")
