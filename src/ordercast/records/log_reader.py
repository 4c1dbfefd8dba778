"""Reads the log: the tail from SQLite, what is older from segments. Any thread may; they take turns."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar
from zlib import crc32

import msgspec
from msgspec import Struct

from ordercast.core.entries import Entry
from ordercast.core.errors import NotFit
from ordercast.records.log_database import (
    FILE,
    SEGMENTS,
    Segment,
    connect,
    connect_to_read,
    end_of,
    final_of,
    in_one_line,
)
from ordercast.records.log_errors import Hole, Retained
from ordercast.records.segment_tables import LoggedEntry, segment_schema, table_of
from ordercast.records.segments import BadSegment, SegmentFile

OPEN_SEGMENTS_MAX = 4

Found = TypeVar("Found")

SEGMENT_COLUMNS = "first, stop, file, bytes, newest_wall_us"

_decode = msgspec.msgpack.Decoder(Entry).decode


class Chunk(Struct, frozen=True):
    """Consecutive entries."""

    entries: tuple[Entry, ...]
    end: int
    """Where to go on: the position after them. With no entries, the end of the log, or of what was asked for."""


class TailRow(Struct, frozen=True, gc=False):
    """A row of the tail, its check sum found right."""

    position: int
    end: int
    wall_us: int
    data: bytes

    def entry(self) -> Entry:
        """What it holds."""
        return _decode(self.data)


class Reader:
    """Sees what is committed."""

    def __init__(self, directory: Path, *, beside: bool = False) -> None:
        """Of the process that writes the log; or `beside` it, by whom nothing at all is written."""
        self._path = directory / FILE
        self._segments = directory / SEGMENTS
        self._connection = connect_to_read(self._path) if beside else connect(self._path)
        self._connection.execute("PRAGMA query_only = 1")
        self._lock = threading.Lock()
        self._open: dict[str, SegmentFile] = {}

    def close(self) -> None:
        with self._lock:
            self._connection.close()
            for file in self._open.values():
                file.close()
            self._open.clear()

    # --- entries ---

    def read(self, start: int, stop: int, limit_bytes: int) -> Chunk:
        """Entries from the one that holds `start` on, below `stop`, the first of them whatever its size."""

        def in_segment(file: SegmentFile) -> Chunk:
            entries = (entry for entry in file.entries(start) if entry.position < stop)
            return _chunk(((entry, _size(entry)) for entry in entries), limit_bytes)

        found = self._found(start, stop, limit_bytes, in_segment)
        if isinstance(found, list):
            entries = tuple(row.entry() for row in found)
            return Chunk(entries, entries[-1].end)
        return found or Chunk((), start)

    def table(self, start: int, stop: int, limit_bytes: int, columns: Sequence[str] | None = None) -> Any:
        """The rows (`records.segment_tables.SegmentRow`) of consecutive positions from `start` on, below `stop`, or
        some of their columns, as a `pyarrow.Table`; none at the end of the log. Go on at `start` and their number.
        """
        found = self._found(start, stop, limit_bytes, lambda file: file.rows(start, columns))
        if isinstance(found, list):
            rows = table_of([LoggedEntry(row.entry(), row.wall_us, len(row.data)) for row in found])
            found = (rows if columns is None else rows.select(columns)), found[0].position
        if found is None:
            return _selected(segment_schema(), columns).empty_table()
        rows, first = found
        return rows.slice(start - first, stop - start)

    def _found(
        self, start: int, stop: int, limit_bytes: int, in_segment: Callable[[SegmentFile], Found]
    ) -> Found | list[TailRow] | None:
        """What is at a position: rows of the tail, or what `in_segment` makes of the segment. None at the end.

        While it is looked for, rows may leave the tail for a segment, and a segment may be dropped: then once more.
        """
        with self._lock, in_one_line(self._path):
            while True:
                with self._snapshot():
                    rows = self._tail_from(start, stop, limit_bytes)
                    segment = None if rows else self._segment_at(start)
                    if not rows and segment is None:
                        self._check_end(start)
                if segment is None:
                    return rows or None
                try:
                    return in_segment(self._file(segment))
                except BadSegment:
                    if self._is_listed(segment):
                        raise

    def _tail_from(self, start: int, stop: int, limit_bytes: int) -> list[TailRow]:
        query = "SELECT ifnull(max(position), -1), ifnull(max(end), -1) FROM entries WHERE position = "
        query += "(SELECT max(position) FROM entries WHERE position <= ?)"
        position, end = self._one(query, (start,))
        return [] if end <= start else _consecutive(self._rows(position, stop), limit_bytes)

    def _is_listed(self, segment: Segment) -> bool:
        with self._snapshot():
            return self._segment_at(segment.first) == segment

    def _check_end(self, start: int) -> None:
        """Nothing is there: because the log ends before, or why else."""
        earliest, end = self._bounds()
        if start >= end:
            return
        if start < earliest:
            raise Retained(start, earliest)
        row = self._connection.execute(
            "SELECT stop FROM holes WHERE start <= ? AND stop > ?", (start, start)
        ).fetchone()
        if row is None:
            raise NotFit(f"{self._path}: position {start} is missing; restore the directory from a copy")
        raise Hole(start, row[0])

    def digest_at(self, position: int) -> int | None:
        """The order digest of everything below a position where an entry ends; None if that is not kept."""
        if position == 0:
            return 0
        try:
            chunk = self.read(position - 1, position, 0)
        except (Retained, Hole):
            return None
        return chunk.entries[0].digest if chunk.entries and chunk.end == position else None

    def forget(self, segment: Segment) -> None:
        """Its file is going."""
        with self._lock:
            file = self._open.pop(segment.file, None)
            if file is not None:
                file.close()

    # --- what there is ---

    def final(self) -> int:
        """Everything that can be read below this position is the same at every site, for ever."""
        with self._lock, in_one_line(self._path), self._snapshot():
            return final_of(self._connection)

    def whole_until(self, start: int) -> int:
        """Up to where the log goes on without a hole from a position. Raises what reading there would raise."""
        with self._lock, in_one_line(self._path), self._snapshot():
            if self._segment_at(start) is None and not self._tail_from(start, start + 1, 0):
                self._check_end(start)
            query = "SELECT min(start) FROM holes WHERE start > ?"
            (hole,) = self._connection.execute(query, (start,)).fetchone()
            return end_of(self._connection) if hole is None else int(hole)

    def begin_near(self, position: int) -> int:
        """A good place to cut: where the row group of a segment, or the entry of the tail, begins that holds it.

        The position itself where nothing can be read; whoever reads is told why.
        """
        with self._lock, in_one_line(self._path), self._snapshot():
            segment = self._segment_at(position)
            if segment is not None:
                with suppress(BadSegment):
                    return self._file(segment).begin_near(position)
            rows = self._tail_from(position, position + 1, 0)
            return rows[0].position if rows else position

    def bounds(self) -> tuple[int, int]:
        """The first position that is kept, and the one after the last."""
        with self._lock, self._snapshot():
            return self._bounds()

    def _bounds(self) -> tuple[int, int]:
        begins = [self._one(f"SELECT {each}")[0] for each in ("min(position) FROM entries", "min(first) FROM segments")]
        end = end_of(self._connection)
        return min((begin for begin in begins if begin is not None), default=end), end

    def segments(self) -> tuple[Segment, ...]:
        """Those listed, in order."""
        with self._lock:
            rows = self._connection.execute(f"SELECT {SEGMENT_COLUMNS} FROM segments ORDER BY first").fetchall()
        return tuple(Segment(*row) for row in rows)

    def holes(self) -> tuple[tuple[int, int], ...]:
        """What is missing, from a position up to another."""
        with self._lock:
            return tuple(self._connection.execute("SELECT start, stop FROM holes ORDER BY start").fetchall())

    def tail_runs(self) -> tuple[tuple[int, int], ...]:
        """Which positions the tail holds, from one up to another, interrupted by what is missing."""
        query = "SELECT position, ifnull(lag(end) OVER (ORDER BY position), -1) AS before, end FROM entries"
        with self._lock:
            begins = self._connection.execute(
                f"SELECT position, before FROM ({query}) WHERE position != before ORDER BY position"
            ).fetchall()
            (end,) = self._one("SELECT max(end) FROM entries")
        stops = [before for _, before in begins[1:]] + [end]
        return tuple((position, stop) for (position, _), stop in zip(begins, stops, strict=False))

    def tail_below(self, stop: int) -> tuple[int, int, int]:
        """Of the tail below a position: how many positions, how many bytes, and when the oldest was written."""
        query = "SELECT ifnull(sum(end - position), 0), ifnull(sum(length(entry)), 0), ifnull(min(wall_us), 0) "
        with self._lock:
            positions, size, oldest_us = self._one(query + "FROM entries WHERE end <= ?", (stop,))
        return positions, size, oldest_us

    def tail_rows(self, stop: int, limit_positions: int, limit_bytes: int) -> list[TailRow]:
        """The oldest rows of the tail, up to a position, a number of positions, a size or a gap."""
        rows: list[TailRow] = []
        size = 0
        with self._lock:
            for row in self._rows(0, stop):
                if row.end > stop or (rows and row.position != rows[-1].end):
                    break
                rows.append(row)
                size += len(row.data)
                if size >= limit_bytes or row.end - rows[0].position >= limit_positions:
                    break
        return rows

    # --- helpers ---

    @contextmanager
    def _snapshot(self) -> Iterator[None]:
        self._connection.execute("BEGIN")
        try:
            yield
        finally:
            self._connection.execute("COMMIT")

    def _one(self, query: str, parameters: tuple[int, ...] = ()) -> tuple[int, ...]:
        row: tuple[int, ...] = self._connection.execute(query, parameters).fetchone()
        return row

    def _rows(self, position: int, stop: int) -> Iterator[TailRow]:
        query = "SELECT position, end, wall_us, check_sum, entry FROM entries WHERE position >= ? AND position < ? "
        cursor = self._connection.execute(query + "ORDER BY position", (position, stop))
        try:
            for begin, end, wall_us, check_sum, data in cursor:
                if crc32(data) != check_sum:
                    raise NotFit(f"{self._path}: position {begin} is damaged; restore the directory from a copy")
                yield TailRow(begin, end, wall_us, data)
        finally:
            cursor.close()

    def _segment_at(self, position: int) -> Segment | None:
        query = f"SELECT {SEGMENT_COLUMNS} FROM segments WHERE first <= ? AND stop > ?"
        row = self._connection.execute(query, (position, position)).fetchone()
        return None if row is None else Segment(*row)

    def _file(self, segment: Segment) -> SegmentFile:
        file = self._open.pop(segment.file, None)
        if file is None:
            file = SegmentFile(self._segments / segment.file, segment.first, segment.stop)
            while len(self._open) >= OPEN_SEGMENTS_MAX:
                self._open.pop(next(iter(self._open))).close()
        self._open[segment.file] = file
        return file


def _consecutive(rows: Iterable[TailRow], limit_bytes: int) -> list[TailRow]:
    """Up to a gap or a size, the first of them in any case."""
    taken: list[TailRow] = []
    size = 0
    for row in rows:
        if taken and row.position != taken[-1].end:
            break
        taken.append(row)
        size += len(row.data)
        if size >= limit_bytes:
            break
    return taken


def _selected(schema: Any, columns: Sequence[str] | None) -> Any:
    import pyarrow as pa

    return schema if columns is None else pa.schema([schema.field(name) for name in columns])


def _chunk(sized: Iterable[tuple[Entry, int]], limit_bytes: int) -> Chunk:
    """Consecutive entries up to a size, the first of them in any case."""
    entries: list[Entry] = []
    size = 0
    for entry, its_size in sized:
        if entries and entry.position != entries[-1].end:
            break
        entries.append(entry)
        size += its_size
        if size >= limit_bytes:
            break
    return Chunk(tuple(entries), entries[-1].end)


def _size(entry: Entry) -> int:
    """About what the entry takes."""
    bodies = getattr(entry.content, "bodies", ())
    return sum(len(body) for body in bodies)
