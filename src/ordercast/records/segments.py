"""Sealed segments of the ordered log: Parquet files with a row for each position, all of them final.

A message has the columns of its own, a control entry (view, role, plan) those of what it changes. Whoever reads a
segment as a table needs no other; `SegmentFile` makes the log's entries of it again. Row groups hold whole entries, so
that a few of them can be read alone.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path
from typing import Any

import msgspec

from ordercast.core.entries import Entry
from ordercast.core.errors import NotFit
from ordercast.records.schema import mismatch
from ordercast.records.segment_tables import LoggedEntry, entries_of, segment_schema, table_of

GROUP_BYTES = 4 << 20
"""A row group holds about so much: each costs some compressors, and is what a reader decodes at once."""


class BadSegment(NotFit):
    """A segment that is listed and cannot be read; the message names its file."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}; restore it from a copy")
        self.path = path


def write_segment(path: Path, logged: Sequence[LoggedEntry], *, group_bytes: int = GROUP_BYTES) -> None:
    """Write consecutive entries to a file. That it gets to the disk is for others to see to.

    Nobody looks for a payload by its value: it goes without a dictionary and without statistics, which take most time.
    """
    import pyarrow.parquet as parquet

    schema = segment_schema()
    indexed = [name for name in schema.names if name != "payload"]
    with parquet.ParquetWriter(
        path, schema, compression="zstd", use_dictionary=indexed, write_statistics=indexed, write_page_checksum=True
    ) as file:
        for group in _groups(logged, group_bytes):
            file.write_table(table_of(group))


def _groups(logged: Sequence[LoggedEntry], group_bytes: int) -> Iterator[Sequence[LoggedEntry]]:
    begin = size = 0
    for index, each in enumerate(logged):
        size += each.size
        if size >= group_bytes or index + 1 == len(logged):
            yield logged[begin : index + 1]
            begin, size = index + 1, 0


class SegmentFile:
    """A sealed segment, open for reading. For one thread at a time."""

    def __init__(self, path: Path, first: int, stop: int) -> None:
        import pyarrow.parquet as parquet

        self.path = path
        with self._failing_to_read():
            self._file = parquet.ParquetFile(path, page_checksum_verification=True)
        if reason := mismatch(self._file.schema_arrow, segment_schema(), "segment"):
            raise BadSegment(path, reason)
        metadata = self._file.metadata
        counts = [metadata.row_group(index).num_rows for index in range(metadata.num_row_groups)]
        self._starts: list[int] = list(accumulate(counts, initial=first))
        if self._starts[-1] != stop:
            raise BadSegment(path, f"holds {metadata.num_rows} positions, expected {first} to {stop - 1}")
        self._held: tuple[int, list[Entry]] = (-1, [])

    def entries(self, start: int) -> Iterator[Entry]:
        """From the entry that holds a position on. A row group is read as its first entry is asked for."""
        for index, stop in enumerate(self._starts[1:]):
            if stop > start:
                yield from (entry for entry in self._group(index) if entry.end > start)

    def rows(self, position: int, columns: Sequence[str] | None = None) -> tuple[Any, int]:
        """The row group that holds a position, or some of its columns, as a `pyarrow.Table`; and where it begins."""
        index = self._group_of(position)
        with self._failing_to_read():
            return self._file.read_row_group(index, columns), self._starts[index]

    def begin_near(self, position: int) -> int:
        """Where the row group begins that holds a position."""
        return self._starts[self._group_of(position)]

    def _group_of(self, position: int) -> int:
        return bisect_right(self._starts, position) - 1

    def _group(self, index: int) -> list[Entry]:
        """Readers go on where they were: the last one is kept."""
        if self._held[0] != index:
            with self._failing_to_read():
                entries = entries_of(self._file.read_row_group(index))
            if (entries[0].position, entries[-1].end) != (self._starts[index], self._starts[index + 1]):
                raise BadSegment(self.path, f"holds other positions than {self._starts[index]} and those after it")
            self._held = (index, entries)
        return self._held[1]

    def close(self) -> None:
        self._file.close()

    @contextmanager
    def _failing_to_read(self) -> Iterator[None]:
        import pyarrow as pa

        try:
            yield
        except (OSError, pa.ArrowException, ValueError, KeyError, IndexError, msgspec.DecodeError) as error:
            reason = (str(error).splitlines() or [repr(error)])[0]
            raise BadSegment(self.path, f"is torn, or no Parquet file ({reason})") from error
