"""Reads the log: the tail from SQLite, what is older from segments. Any thread may; they take turns."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from zlib import crc32

import msgspec
from msgspec import Struct

from ordercast.core.entries import Entry
from ordercast.core.errors import NotFit
from ordercast.records.segments import SegmentFile
from ordercast.site.storage.database import FILE, SEGMENTS, connect, in_one_line
from ordercast.site.storage.errors import Hole, Retained
from ordercast.site.storage.requests import Segment
from ordercast.site.storage.store import end_of

OPEN_SEGMENTS_MAX = 4

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

    def __init__(self, directory: Path) -> None:
        self._path = directory / FILE
        self._segments = directory / SEGMENTS
        self._connection = connect(self._path)
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
        with self._lock, in_one_line(self._path):
            while True:
                with self._snapshot():
                    found = self._from_tail(start, stop, limit_bytes)
                    segment = None if found else self._segment_at(start)
                    if found is None and segment is None:
                        return self._nothing_at(start)
                if found is None and segment is not None:
                    found = self._from_segment(segment, start, stop, limit_bytes)
                if found is not None:
                    return found

    def _from_tail(self, start: int, stop: int, limit_bytes: int) -> Chunk | None:
        query = "SELECT ifnull(max(position), -1), ifnull(max(end), -1) FROM entries WHERE position = "
        query += "(SELECT max(position) FROM entries WHERE position <= ?)"
        position, end = self._one(query, (start,))
        if end <= start:
            return None
        return _chunk(((row.entry(), len(row.data)) for row in self._rows(position, stop)), limit_bytes)

    def _from_segment(self, segment: Segment, start: int, stop: int, limit_bytes: int) -> Chunk | None:
        """None if it has been dropped meanwhile."""
        if segment.file not in self._open and not (self._segments / segment.file).exists():
            with self._snapshot():
                if self._segment_at(start) is None:
                    return None
        entries = self._file(segment).entries(start)
        return _chunk(((entry, _size(entry)) for entry in entries if entry.position < stop), limit_bytes)

    def _nothing_at(self, start: int) -> Chunk:
        earliest, end = self._bounds()
        if start >= end:
            return Chunk((), start)
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
