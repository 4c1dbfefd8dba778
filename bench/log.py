"""How fast the ordered log takes entries, beside the least that could be done with the same bytes.

The log is asked to append as fast as it takes them, with so many entries on their way at most; what counts is the time
until the last is durable. *SQLite* inserts the same encoded entries into a table of two columns, from the same thread;
*file* appends them to a file. Both sync after each group of entries, if at all. All three on the same disk, one after
the other, in each of several rounds; the best round counts. *call* is what one `append` costs its caller, in
processor time; *delay* is from an `append` to the report that it is durable, when one is asked for every millisecond.
"""

from __future__ import annotations

import json
import os
import sqlite3
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import click
import msgspec

from ordercast.core.entries import Entry
from ordercast.core.ids import SiteId, pack_message_id
from ordercast.core.messages import Author, Bundle
from ordercast.records.log_database import PAGE_BYTES
from ordercast.site.storage.options import Fsync, LogOptions
from ordercast.site.storage.ordered_log import OrderedLog

POLICIES: tuple[Fsync, ...] = ("always", "interval", "never")

OUTSTANDING_MAX = 500
"""Entries on their way to the disk."""

GROUPS = (1, 100)
"""Entries that SQLite and the file take before they sync."""

PACED_GAP_S = 0.001


class Load(NamedTuple):
    """Entries of so many messages of so many bytes."""

    bodies: int
    body_bytes: int

    @property
    def name(self) -> str:
        return f"{self.bodies} × {self.body_bytes} B"

    def entries(self, count: int) -> list[Entry]:
        """As a site group makes them."""
        body = os.urandom(self.body_bytes)
        return [self.entry(index, body) for index in range(count)]

    def entry(self, index: int, body: bytes | None = None) -> Entry:
        """One of them; with a body that says which, if none is given."""
        first = index * self.bodies
        bundle = Bundle(
            pack_message_id(SiteId(1), 0, first),
            (body or b"%0*d" % (self.body_bytes, index),) * self.bodies,
            author=Author("orders", "alice", 1 << 62, first),
        )
        return Entry(first, first + self.bodies, bundle, index)


LOADS = (Load(100, 64), Load(1, 16_384), Load(1, 64))


class Effort(NamedTuple):
    """How much is measured."""

    bytes: int
    """Of each case: so many entries as make up this, within `entries_max`."""
    entries_max: int
    synced_each_max: int
    """Entries of the cases that sync after each."""
    paced: int
    rounds: int

    def count(self, load: Load) -> int:
        return max(1, min(self.entries_max, self.bytes // (load.bodies * load.body_bytes)))


NORMAL = Effort(128 << 20, 40_000, 500, 1_000, 3)
SMOKE = Effort(1 << 16, 10, 3, 5, 1)


class Speed(NamedTuple):
    """The best round of one way to store one load."""

    load: str
    way: str
    entries_per_s: float
    mb_per_s: float
    call_us: float | None = None
    delay_p50_ms: float | None = None
    delay_p99_ms: float | None = None


# --- what is measured ---


def measure(effort: Effort, place: Path, on_round: Callable[[int], None] = lambda done: None) -> list[Speed]:
    """Every case of every round; of each its best."""
    best: dict[tuple[str, str], Speed] = {}
    for done in range(effort.rounds):
        for load in LOADS:
            for speed in _round(load, effort, place):
                key = (speed.load, speed.way)
                best[key] = max(best.get(key, speed), speed, key=lambda each: each.entries_per_s)
        on_round(done + 1)
    return list(best.values())


def _round(load: Load, effort: Effort, place: Path) -> list[Speed]:
    entries = load.entries(effort.count(load))
    encoded = [msgspec.msgpack.encode(entry) for entry in entries]
    speeds = [_log(load, entries, policy, effort, place) for policy in POLICIES]
    for group in GROUPS:
        part = encoded[: effort.synced_each_max * group]
        speeds.append(_speed(load, f"sqlite, sync every {group}", part, _timed(_sqlite, part, group, True, place)))
        speeds.append(_speed(load, f"file, sync every {group}", part, _timed(_file, part, group, True, place)))
    speeds.append(_speed(load, "sqlite, no sync", encoded, _timed(_sqlite, encoded, GROUPS[-1], False, place)))
    speeds.append(_speed(load, "file, no sync", encoded, _timed(_file, encoded, GROUPS[-1], False, place)))
    return speeds


def _speed(load: Load, way: str, encoded: list[bytes], elapsed_s: float) -> Speed:
    size = sum(len(data) for data in encoded)
    return Speed(load.name, way, len(encoded) / elapsed_s, size / elapsed_s / 1e6)


def _log(load: Load, entries: list[Entry], policy: Fsync, effort: Effort, place: Path) -> Speed:
    options = LogOptions(fsync=policy)
    with tempfile.TemporaryDirectory(dir=place) as directory:
        log = OrderedLog.open(Path(directory), options)
        begin_s, calls_ns = time.perf_counter(), 0
        for entry in entries:
            if log.written - log.durable >= OUTSTANDING_MAX:
                log.wait(log.written - OUTSTANDING_MAX // 2, 60.0)
            call_ns = time.thread_time_ns()
            log.append(entry)
            calls_ns += time.thread_time_ns() - call_ns
        log.wait(log.written, 60.0)
        elapsed_s = time.perf_counter() - begin_s
        log.close()
    size = sum(len(msgspec.msgpack.encode(entry)) for entry in entries)
    return Speed(
        load.name,
        f"log, fsync {policy}",
        len(entries) / elapsed_s,
        size / elapsed_s / 1e6,
        calls_ns / len(entries) / 1e3,
        *_delays_ms(load, policy, effort, place),
    )


def _delays_ms(load: Load, policy: Fsync, effort: Effort, place: Path) -> tuple[float, float]:
    """Median and 99th percentile."""
    asked: list[float] = []
    told: list[tuple[int, float]] = []
    with tempfile.TemporaryDirectory(dir=place) as directory:
        log = OrderedLog.open(Path(directory), LogOptions(fsync=policy))
        log.on_durable(lambda number: told.append((number, time.perf_counter())))
        for entry in load.entries(effort.paced):
            time.sleep(PACED_GAP_S)
            asked.append(time.perf_counter())
            log.append(entry)
        log.close()
    delays: list[float] = []
    for number, at_s in told:
        delays.extend(at_s - asked_s for asked_s in asked[len(delays) : number])
    delays.sort()
    return delays[len(delays) // 2] * 1e3, delays[len(delays) * 99 // 100] * 1e3


def _timed(work: Callable[[list[bytes], int, bool, Path], None], encoded: list[bytes], *rest: object) -> float:
    begin_s = time.perf_counter()
    work(encoded, *rest)  # type: ignore[arg-type]
    return time.perf_counter() - begin_s


def _sqlite(encoded: list[bytes], group: int, sync: bool, place: Path) -> None:
    with tempfile.TemporaryDirectory(dir=place) as directory:
        connection = sqlite3.connect(Path(directory) / "raw.sqlite", isolation_level=None)
        connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {'FULL' if sync else 'NORMAL'}")
        connection.execute("CREATE TABLE entries (position INTEGER PRIMARY KEY, entry BLOB)")
        for begin in range(0, len(encoded), group):
            connection.execute("BEGIN")
            connection.executemany(
                "INSERT INTO entries (entry) VALUES (?)", [(x,) for x in encoded[begin : begin + group]]
            )
            connection.execute("COMMIT")
        connection.close()


def _file(encoded: list[bytes], group: int, sync: bool, place: Path) -> None:
    with tempfile.TemporaryFile(dir=place, buffering=0) as file:
        for begin in range(0, len(encoded), group):
            file.write(b"".join(encoded[begin : begin + group]))
            if sync:
                os.fsync(file.fileno())


# --- what is shown ---


@click.command("log")
@click.option("--dir", "place", type=click.Path(path_type=Path, exists=True, file_okay=False), default=Path("."),
              help="On the disk that is measured; the working directory if absent.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
@click.option("--smoke", is_flag=True, help="The least that runs everything once; the figures mean nothing.")
def command(place: Path, as_json: bool, smoke: bool) -> None:
    """Appends per second of the ordered log, beside SQLite alone and a plain file."""
    effort = SMOKE if smoke else NORMAL

    def tell(done: int) -> None:
        click.echo(f"round {done} of {effort.rounds} done", err=True)

    speeds = measure(effort, place, (lambda done: None) if as_json else tell)
    if as_json:
        click.echo(json.dumps([speed._asdict() for speed in speeds], indent=2))
    else:
        _print_table(speeds)


def _print_table(speeds: list[Speed]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table("entry", "way", title="Appending to a log", title_justify="left", box=SIMPLE_HEAD)
    for heading in ("entries/s", "MB/s", "call µs", "delay p50 ms", "p99"):
        table.add_column(heading, justify="right")
    for speed in speeds:
        rest = ("" if figure is None else f"{figure:.2f}" for figure in speed[4:])
        table.add_row(speed.load, speed.way, f"{speed.entries_per_s:,.0f}", f"{speed.mb_per_s:,.1f}", *rest)
    Console(highlight=False, width=110).print(table)
