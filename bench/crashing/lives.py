"""Lives of one site's log, each ended by a crash, and what is to be found after each."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from unittest import mock

from msgspec import Struct

from bench.crashing.disk import Disk, Recorder, Reported, recording
from bench.crashing.model import Expected, Workload
from bench.crashing.vfs import watched
from ordercast.core.entries import Entry
from ordercast.core.errors import NotFit
from ordercast.records.log_database import SEGMENTS
from ordercast.records.log_errors import Hole
from ordercast.records.segments import SegmentFile
from ordercast.site.clock import ManualClock
from ordercast.site.storage import writer
from ordercast.site.storage.options import Fsync, LogOptions
from ordercast.site.storage.ordered_log import OrderedLog
from ordercast.site.storage.requests import Asked, Finalize, RestartAt, Save, Truncate

POLICIES: tuple[Fsync, ...] = ("always", "interval", "never")
REQUESTS_MAX = 80
CRASHES_PER_LIFE = 20
LIVES_PER_SITE = 5
CHECKPOINT_BYTES = 40_000
"""Far less than in earnest, so that lives of a few requests have some."""

KEPT = (0.0, 0.1, 0.5, 0.9, 1.0)
"""Chances of what was not synced. With the last, the process has crashed and the machine has not."""


class Violation(Exception):
    """What is on the disk after a crash is not what it has to be."""


class Crash(Struct, frozen=True):
    """One that the log has come through."""

    policy: Fsync
    kept: float
    requests: int
    """How many had been asked for ..."""
    durable: int
    """... how many had to be there ..."""
    found: int
    """... and how many were."""


def crashes(seed: int) -> Iterator[Crash]:
    """Of one site: a few lives, each from where one of the crashes of the one before has left the files."""
    picks = random.Random(seed)
    options = LogOptions(
        fsync=picks.choice(POLICIES),
        segment_positions=picks.choice((1, 3, 10, 1000)),
        segment_age_s=1e9,
        retention_bytes=picks.choice((None, 1, 20_000)),
    )
    with tempfile.TemporaryDirectory(prefix="ordercast-crash-", dir=_fast_place()) as place:
        directory, expected = Path(place) / "0", Expected()
        for life in range(LIVES_PER_SITE):
            recorder, workload = _live(directory, expected, life, options, picks)
            for number in range(CRASHES_PER_LIFE):
                after = Path(place) / f"{life}-{number}"
                try:
                    crash, found = _crash(recorder, workload, after, options, picks)
                except (Violation, NotFit) as error:
                    raise Violation(f"seed {seed}, fsync {options.fsync}, life {life}: {error}") from error
                yield crash
                if number == 0:
                    directory, expected = after, found


def _fast_place() -> str | None:
    """Memory, where there is some: what is tested is which bytes are there, not how they get there."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


# --- a life ---


def _live(
    directory: Path, expected: Expected, life: int, options: LogOptions, picks: random.Random
) -> tuple[Recorder, Workload]:
    """What happens to the files while a site asks for this and that."""
    (directory / SEGMENTS).mkdir(parents=True, exist_ok=True)
    recorder, clock = Recorder(directory), ManualClock()
    workload = Workload(picks, expected, life)
    with ExitStack() as stack:
        stack.enter_context(watched(recorder))
        stack.enter_context(recording(recorder))
        stack.enter_context(mock.patch.object(writer, "CHECKPOINT_BYTES", CHECKPOINT_BYTES))
        log = OrderedLog(directory, options, clock.now)
        incarnation = log.recovered.incarnation

        def report(durable: int) -> None:
            recorder.report(incarnation, durable, log.synced)

        log.on_durable(report)
        report(0)
        eagerness = picks.choice((0.05, 0.3, 1.0))
        for _ in range(picks.randint(1, REQUESTS_MAX)):
            ask(log, workload.next())
            if picks.random() < eagerness:
                clock.advance(picks.randint(0, 100_000))
                log.turn()
                report(log.durable)
        log.close()
        report(log.durable)
    return recorder, workload


def ask(log: OrderedLog, request: Asked | Entry) -> None:
    """The same by the methods that a host calls."""
    match request:
        case Entry():
            log.append(request)
        case Truncate(position=position):
            log.truncate(position)
        case Finalize(below=below):
            log.finalize(below)
        case Save(key=key, value=value, binding=binding):
            log.save(key, value, binding=binding)
        case RestartAt(position=position):
            log.restart_at(position)
        case _:
            raise AssertionError(f"not in a workload: {request}")


# --- its end ---


def _crash(
    recorder: Recorder, workload: Workload, directory: Path, options: LogOptions, picks: random.Random
) -> tuple[Crash, Expected]:
    """After any of the events; some of what was not synced is there. What the next life finds is compared."""
    kept = picks.choice(KEPT)
    happened = recorder.events[: picks.randint(recorder.beginning, len(recorder.events))]
    (directory / SEGMENTS).mkdir(parents=True)
    Disk(happened, picks, kept).write_to(directory)
    reported = [event for event in happened if isinstance(event, Reported)]
    last = reported[-1] if reported else Reported(-1, 0, 0)
    least = last.durable if kept == 1.0 or options.fsync == "always" else last.synced
    _check_visible(directory, workload)
    log = OrderedLog(directory, options, ManualClock().now)
    try:
        number = _check_found(log, workload, least)
        if log.recovered.incarnation <= last.life:
            raise Violation(f"life {log.recovered.incarnation} again, after life {last.life}")
    finally:
        log.close()
    return Crash(options.fsync, kept, len(workload.states) - 1, least, number), workload.states[number].recovered()


def _check_visible(directory: Path, workload: Workload) -> None:
    """Whoever reads the segments without asking the log meets whole ones only."""
    known = {entry for state in workload.states for entry in state.entries}
    for path in sorted((directory / SEGMENTS).glob("[!.]*.parquet")):
        first, stop = (int(part) for part in path.stem.split("-"))
        for entry in SegmentFile(path, first, stop).entries(first):
            if entry not in known:
                raise Violation(f"{path.name} holds at {entry.position} what nobody has written")


def _check_found(log: OrderedLog, workload: Workload, least: int) -> int:
    """After how many requests the log is as it is; at least those that were reported."""
    found = _read(log)
    matching = [
        number for number, state in enumerate(workload.states) if _is_as_expected(log, found, state.recovered())
    ]
    if not matching:
        raise Violation(f"what is found is no prefix of what was asked for: positions up to {log.end}")
    if matching[-1] < least:
        raise Violation(f"only {matching[-1]} requests of {least} that were durable are found")
    return next(number for number in matching if number >= least)


def _is_as_expected(log: OrderedLog, found: list[Entry], expected: Expected) -> bool:
    earliest = log.earliest
    recovered = log.recovered
    return (
        (log.end, log.final, recovered.final) == (expected.end, expected.final, expected.final)
        and recovered.saved == dict(expected.saved)
        and found == [entry for entry in expected.entries if entry.position >= earliest]
        and list(recovered.entries) == [entry for entry in expected.entries if entry.end > expected.base]
    )


def _read(log: OrderedLog) -> list[Entry]:
    """All that the log has, as a reader comes by it; no gap that it is not told of, and nothing twice."""
    entries: list[Entry] = []
    position = log.earliest
    while position < log.end:
        try:
            chunk = log.read(position, log.end, limit_bytes=500)
        except Hole as hole:
            position = hole.first
            continue
        for entry in chunk.entries:
            if entry.position != position:
                raise Violation(f"after position {position - 1} comes {entry.position}")
            position = entry.end
        entries.extend(chunk.entries)
        if chunk.end != position or not chunk.entries:
            raise Violation(f"nothing at position {position}, and the log ends at {log.end}")
    return entries
