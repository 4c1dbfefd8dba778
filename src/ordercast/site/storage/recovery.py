"""What the log holds after whatever end the life before has had."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from msgspec import Struct

from ordercast.core.entries import Entry
from ordercast.core.errors import NotFit
from ordercast.core.ids import INCARNATIONS_MAX
from ordercast.records.log_database import SEGMENTS
from ordercast.records.log_reader import Reader
from ordercast.records.segments import BadSegment
from ordercast.site.storage.files import remove
from ordercast.site.storage.store import Store

RECOVERY_BYTES = 16 << 20
"""Read at once."""


class RecoveredLog(Struct, frozen=True):
    """Where a new life of the site begins."""

    incarnation: int
    """The number of this life, from 0."""
    saved: dict[str, bytes]
    entries: tuple[Entry, ...]
    """From the position on that the stack needs them from, by what it has saved."""
    final: int


def recover(directory: Path, store: Store, reader: Reader) -> RecoveredLog:
    """Begin a life; or say in one line what is wrong with the files."""
    incarnation = store.begin_life()
    if incarnation >= INCARNATIONS_MAX:
        raise NotFit(
            f"{store.path}: this site has had all its {INCARNATIONS_MAX} lives; give it a new place in the file"
        )
    _sweep(directory / SEGMENTS, reader)
    _check_segments(directory / SEGMENTS, reader)
    _check_whole(store.path, reader)
    standing = store.standing
    entries = _entries(reader, standing.base, standing.end)
    return RecoveredLog(incarnation, store.saved(), entries, standing.final)


def _sweep(segments: Path, reader: Reader) -> None:
    """Files that are not listed: never finished, or not listed yet (the tail holds their rows), or dropped."""
    listed = {segment.file for segment in reader.segments()}
    for path in sorted(segments.iterdir()):
        if path.suffix in (".parquet", ".unfinished") and path.name not in listed:
            remove(path)


def _check_segments(segments: Path, reader: Reader) -> None:
    for segment in reader.segments():
        path = segments / segment.file
        if not path.exists():
            raise BadSegment(path, "is listed and not there")
        if path.stat().st_size != segment.bytes:
            raise BadSegment(path, f"is torn: it has {path.stat().st_size} bytes, not {segment.bytes}")


def _check_whole(path: Path, reader: Reader) -> None:
    """Every position that is kept is in one place: a segment, a hole, or the tail."""
    earliest, _ = reader.bounds()
    segments = [(segment.first, segment.stop) for segment in reader.segments()]
    holes = [hole for hole in reader.holes() if hole[0] >= earliest]
    pieces = sorted([*segments, *holes, *reader.tail_runs()])
    for (_, before), (begin, _) in pairwise(pieces):
        if begin != before:
            what = f"{before} to {begin - 1} are missing" if begin > before else f"{begin} to {before - 1} are doubled"
            raise NotFit(f"{path}: positions {what}; restore the directory from a copy")


def _entries(reader: Reader, base: int, end: int) -> tuple[Entry, ...]:
    entries: list[Entry] = []
    position = base
    while position < end:
        chunk = reader.read(position, end, RECOVERY_BYTES)
        entries.extend(chunk.entries)
        position = chunk.end
    return tuple(entries)
