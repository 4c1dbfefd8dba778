"""Small ordered logs, written by the storage of a site. Without threads, so that nothing depends on when they run."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ordercast.core.entries import Entry
from ordercast.site.clock import ManualClock
from ordercast.site.storage.options import LogOptions
from ordercast.site.storage.ordered_log import OrderedLog

TURNS = 30
"""More than there is to do."""


def log_in(directory: Path, **options: Any) -> OrderedLog:
    """Seals as `options` say (`LogOptions`)."""
    return OrderedLog(directory, LogOptions(fsync="never", **options), ManualClock(0).now)


def add(log: OrderedLog, entries: Iterable[Entry]) -> None:
    """To the end of the log, all of it final."""
    for entry in entries:
        log.append(entry)
        log.finalize(entry.end)
    turn(log)


def turn(log: OrderedLog) -> None:
    """Write, seal and drop whatever is due."""
    for _ in range(TURNS):
        log.turn()


def sealed_and_tail(directory: Path, entries: Iterable[Entry], segment_positions: int) -> OrderedLog:
    """A log of these, sealed in segments of so many positions; the rest is in the tail."""
    log = log_in(directory, segment_positions=segment_positions)
    add(log, entries)
    return log
