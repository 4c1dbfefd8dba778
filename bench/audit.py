"""How fast traces are audited on Spark, and by DuckDB and polars where they do the same.

Five sites deliver the same messages; each has a file of its own (`made_traces`). Timed are the passes of the audit, one
by one and in the order in which the job runs them: the digests that tell order, gaps and duplicates; what each further
promise takes; the whole audit, also with every record compared. DuckDB and polars make the same digests of the same
files and compare them. *wall* is what a clock on the wall says, *cpu* the processor time of all that took part: on a
machine with other work to do only the latter says something.
"""

from __future__ import annotations

import json
import os
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from bench.made_traces import SITES, drawn_order, write_trace
from ordercast.pipeline.audit import (
    causal,
    creation,
    duplicates,
    fifo,
    finality,
    gaps,
    safe,
    total_order,
    validity,
    virtual_synchrony,
)
from ordercast.pipeline.audit.columns import prepared
from ordercast.pipeline.audit.digests import digests, merged
from ordercast.pipeline.audit.directory import audit_traces
from ordercast.pipeline.audit.files import records_in, torn_files
from ordercast.pipeline.audit.job import block_bits
from ordercast.pipeline.audit.order import agreed_order
from ordercast.pipeline.session import spark_session
from ordercast.records.runs import find_traces

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

DELIVERIES = 20_000_000
QUICK = 500_000
GROWTH = (1_000_000, 5_000_000, 20_000_000, 100_000_000)
CORES = os.cpu_count() or 1
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


class Timing(msgspec.Struct, frozen=True):
    """What one piece of work took."""

    engine: str
    what: str
    deliveries: int
    wall_s: float
    cpu_s: float

    @property
    def a_second(self) -> float:
        """Deliveries by the clock on the wall ..."""
        return self.deliveries / self.wall_s

    @property
    def a_busy_second(self) -> float:
        """... and for each second in which all cores work on nothing else."""
        return self.deliveries * CORES / max(self.cpu_s, 1e-3)


class Bench:
    """Times one thing after the other."""

    def __init__(self, deliveries: int) -> None:
        self.deliveries = deliveries
        self.timings: list[Timing] = []

    def time(self, engine: str, what: str, work: Callable[[], Any]) -> Any:
        """The result of the work."""
        begin_s, begin_cpu_s = time.perf_counter(), _cpu_s()
        result = work()
        wall_s, cpu_s = time.perf_counter() - begin_s, _cpu_s() - begin_cpu_s
        self.timings.append(Timing(engine, what, self.deliveries, wall_s, cpu_s))
        _say(self.timings[-1])
        return result


def _cpu_s() -> float:
    """Processor time of this process and of all it has started, however deep."""
    parents, spent = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # it has just ended
            parents[int(entry.name)] = int(fields[1])
            spent[int(entry.name)] = int(fields[11]) + int(fields[12])
    mine = {os.getpid()}
    while more := {each for each, parent in parents.items() if parent in mine} - mine:
        mine |= more
    gone = resource.getrusage(resource.RUSAGE_CHILDREN)
    return sum(spent.get(each, 0) for each in mine) / TICKS_PER_S + gone.ru_utime + gone.ru_stime


# --- Spark ---


def _on_spark(bench: Bench, session: SparkSession, directory: Path) -> None:
    traces = find_traces(directory)
    paths = [file.path for file in traces.files]
    bits = block_bits(sum(file.rows for file in traces.files))
    records = prepared(records_in(session, paths), bits)
    _run(digests(records.limit(1000), bits))  # Java has loaded what it needs
    bench.time("Spark", "every page of every file", lambda: torn_files(session, paths))
    parts = digests(records, bits).persist()
    blocks = merged(parts)
    bench.time("Spark", "digests", parts.count)
    bench.time("Spark", "order, gaps", lambda: _run(total_order.total_order(blocks), gaps.gaps(blocks)))
    telling = records.where("site = 0")
    order = agreed_order(
        telling, records.where("false"), blocks, session.createDataFrame([], "run string, block bigint, message bigint")
    )
    doubtful = duplicates.doubtful(duplicates.by_sender(order))
    bench.time("Spark", "duplicates", lambda: _run(doubtful))
    for what, tables in _further(session, records, blocks, order, bits).items():
        bench.time("Spark", what, partial(_run, *tables))
    parts.unpersist()
    bench.time("Spark", "exactly: order", lambda: _run(total_order.total_order_exactly(records)))
    bench.time("Spark", "exactly: gaps", lambda: _run(gaps.gaps_exactly(records)))
    bench.time("Spark", "exactly: duplicates", lambda: _run(duplicates.duplicates(order)))


def _further(
    session: SparkSession, records: DataFrame, blocks: DataFrame, order: DataFrame, bits: int
) -> dict[str, list[DataFrame]]:
    multicasts = creation.multicasts(records)
    sent = multicasts.where("ordered")
    made = virtual_synchrony.unordered_digests(records)
    view = [("made", 1, site, SITES) for site in range(SITES)]
    members = session.createDataFrame(view, "run string, view bigint, site int, size int")
    return {
        "FIFO": [fifo.fifo(order), fifo.fifo_without_places(records)],
        "finality": [finality.finality(records, bits)],
        "creation, validity": [
            validity.validity(order, creation.in_blocks(sent, creation.unequal(order, sent))),
            validity.validity_without_places(records, multicasts),
        ],
        "causal order": [causal.causal(records, multicasts, order), causal.causal_without_places(records)],
        "virtual synchrony, same view": [made],
        "safe delivery": [safe.safe(blocks, safe.logged(records), members)],
    }


def _run(*tables: DataFrame) -> None:
    for table in tables:
        table.write.format("noop").mode("overwrite").save()


def _whole(bench: Bench, session: SparkSession, directory: Path, exact: bool) -> None:
    traces = find_traces(directory)
    what = "whole audit" + (", --exact" if exact else "")
    verdicts, skipped = bench.time("Spark", what, lambda: audit_traces(session, traces, exact=exact))
    assert not skipped
    assert not any(verdict.violated for verdict in verdicts)


# --- the peers ---

DUCKDB = """
with blocks as (
    select site, incarnation, position >> {bits} as block, count(*) as n, bit_xor(hash(position, message, "view")) as x,
        min(position) as p, min(position - delivery_index) as a, max(position - delivery_index) as b
    from '{files}' where delivery_index is not null group by all)
select block from blocks group by block
having count(distinct (n, x, p)) > 1 or bool_or(a <> b)
"""


def _on_duckdb(files: str, bits: int) -> None:
    import duckdb

    with duckdb.connect() as connection:
        connection.execute(f"set threads = {CORES}")
        assert connection.execute(DUCKDB.format(files=files, bits=bits)).fetchall() == []


def _on_polars(files: str, bits: int) -> None:
    import polars as pl

    position, shift = pl.col("position"), pl.col("position") - pl.col("delivery_index")
    blocks = (
        pl.scan_parquet(files)
        .filter(pl.col("delivery_index").is_not_null())
        .group_by("site", "incarnation", (position // (1 << bits)).alias("block"))
        .agg(
            pl.len().alias("n"),
            pl.struct("position", "message", "view").hash().bitwise_xor().alias("x"),
            position.min().alias("p"),
            shift.min().alias("a"),
            shift.max().alias("b"),
        )
    )
    bad = blocks.group_by("block").agg(
        (pl.struct("n", "x", "p").n_unique() > 1).alias("differs"), (pl.col("a") != pl.col("b")).any().alias("gaps")
    )
    assert bad.filter(pl.col("differs") | pl.col("gaps")).collect(engine="streaming").is_empty()


# --- command ---


@click.command(short_help="The audit on Spark: records a second, each promise, DuckDB and polars beside it.")
@click.option("--deliveries", type=click.IntRange(min=1000), default=DELIVERIES, show_default=True)
@click.option("--quick", is_flag=True, help=f"Only {QUICK:,} deliveries.")
@click.option("--growth", is_flag=True, help="Only the whole audit, for 1 to 100 million deliveries.")
@click.option("--exact/--no-exact", default=True, help="Also with every record compared.")
@click.option("--traces", type=click.Path(path_type=Path), help="Keep the traces there, or use those that are there.")
@click.option("--json", "as_json", is_flag=True)
def command(deliveries: int, quick: bool, growth: bool, exact: bool, traces: Path | None, as_json: bool) -> None:
    """Time the audit of traces that were made for it."""
    sizes = GROWTH if growth else (QUICK if quick else deliveries,)
    timings = []
    with spark_session() as session:
        for size in sizes:
            bench = Bench(size)
            with _made(size, traces) as directory:
                if not growth:
                    _peers(bench, directory)
                    _on_spark(bench, session, directory)
                _whole(bench, session, directory, exact=False)
                if exact and not growth:
                    _whole(bench, session, directory, exact=True)
            timings += bench.timings
    if as_json:
        click.echo(json.dumps([msgspec.to_builtins(each) for each in timings], indent=2))


def _peers(bench: Bench, directory: Path) -> None:
    files = str(directory / "*.parquet")
    bits = block_bits(bench.deliveries)
    bench.time("DuckDB", "digests, order, gaps", lambda: _on_duckdb(files, bits))
    bench.time("polars", "digests, order, gaps", lambda: _on_polars(files, bits))


@contextmanager
def _made(deliveries: int, keep: Path | None) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as scratch:
        directory = (keep or Path(scratch)) / str(deliveries)
        if not directory.is_dir():
            write_trace(directory, drawn_order(deliveries // SITES))
        yield directory


def _say(timing: Timing) -> None:
    speeds = f"{timing.a_second / 1e6:6.2f} M/s, {timing.a_busy_second / 1e6:7.2f} M/s if nothing else ran"
    figures = f"{timing.deliveries:>11,} {timing.wall_s:8.1f} s wall {timing.cpu_s:7.1f} s cpu  {speeds}"
    click.echo(f"{timing.engine:7} {timing.what:30} {figures}", err=True)
