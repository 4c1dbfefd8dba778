"""Seals what is final into segments, and drops old ones, beside the writer and in small steps.

A segment's file is on disk under its name before it is listed, and its rows leave the tail as it is listed. A segment
is off the list, durably, before its file goes. So a file that is not listed counts for nothing.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

from ordercast.core.errors import NotFit
from ordercast.core.events import Now
from ordercast.records.log_database import SEGMENTS, Segment
from ordercast.records.log_reader import Reader, TailRow
from ordercast.records.segment_tables import LoggedEntry
from ordercast.records.segments import write_segment
from ordercast.site.storage.files import remove, written_durably
from ordercast.site.storage.options import LogOptions
from ordercast.site.storage.requests import Drop, Seal
from ordercast.site.storage.writer import Writer

LOOK_S = 1.0
"""How often to look whether there is something to do."""


class Keeper:
    """Runs in a thread of its own, or turn by turn."""

    def __init__(
        self, directory: Path, reader: Reader, writer: Writer, options: LogOptions, now: Callable[[], Now]
    ) -> None:
        self.trouble = ""
        """Why the last attempt to seal or to drop has failed; it is repeated."""
        self.on_dropped: Callable[[Segment], None] = lambda segment: None
        """Called before a segment's file goes."""
        self._segments = directory / SEGMENTS
        self._reader = reader
        self._writer = writer
        self._options = options
        self._now = now
        self._asked = False
        self._going: list[Segment] = []
        """Off the list; their files are not gone yet."""
        self._wake = threading.Event()
        self._closing = False
        writer.on_kept = self._on_kept

    def run(self) -> None:
        """Until `stop`."""
        try:
            import pyarrow.parquet  # noqa: F401  # it keeps the interpreter busy: rather now than under load

            while not self._closing:
                self._wake.wait(LOOK_S)
                self._wake.clear()
                if not self._closing:
                    self.turn()
        except BaseException as error:
            self.trouble = f"sealing has stopped for this life ({error!r})"
            raise

    def stop(self) -> None:
        """Begin nothing more."""
        self._closing = True
        self._wake.set()

    def turn(self) -> None:
        """Seal a segment, or drop some, if it is time; nothing while the writer has not done what was asked before."""
        if self._asked:
            return
        try:
            self._remove_files()
            request = self._seal() or self._drop()
            self.trouble = ""
        except (OSError, NotFit, sqlite3.Error) as error:
            self.trouble = str(error)
            return
        if request is not None:
            self._asked = True
            self._writer.ask(request)

    def _remove_files(self) -> None:
        while self._going:
            self.on_dropped(self._going[-1])
            remove(self._segments / self._going[-1].file)
            self._going.pop()

    def _on_kept(self, request: Seal | Drop) -> None:
        """The writer has done it. Called by its thread."""
        if isinstance(request, Drop):
            self._going.extend(request.segments)
        self._asked = False
        self._wake.set()

    # --- sealing ---

    def _seal(self) -> Seal | None:
        final = self._writer.standing.final
        positions, size, oldest_us = self._reader.tail_below(final)
        options = self._options
        aged_us = self._now().wall_us - oldest_us
        if positions == 0 or (
            positions < options.segment_positions
            and size < options.segment_bytes
            and aged_us < options.segment_age_s * 1e6
        ):
            return None
        rows = self._reader.tail_rows(final, options.segment_positions, options.segment_bytes)
        return Seal(self._write(rows))

    def _write(self, rows: list[TailRow]) -> Segment:
        first, stop = rows[0].position, rows[-1].end
        path = self._segments / f"{first:016}-{stop:016}.parquet"
        with written_durably(path) as unfinished:
            write_segment(unfinished, [LoggedEntry(row.entry(), row.wall_us, len(row.data)) for row in rows])
        return Segment(first, stop, path.name, path.stat().st_size, max(row.wall_us for row in rows))

    # --- retention ---

    def _drop(self) -> Drop | None:
        """The oldest, while there is too much or they are too old, and the next life does not need them."""
        base = self._writer.standing.base
        segments = self._reader.segments()
        kept_bytes = sum(segment.bytes for segment in segments)
        dropped: list[Segment] = []
        for segment in segments:
            if segment.stop > base or not self._is_surplus(segment, kept_bytes):
                break
            dropped.append(segment)
            kept_bytes -= segment.bytes
        return Drop(tuple(dropped)) if dropped else None

    def _is_surplus(self, segment: Segment, kept_bytes: int) -> bool:
        size, age_s = self._options.retention_bytes, self._options.retention_s
        if size is not None and kept_bytes > size:
            return True
        return age_s is not None and self._now().wall_us - segment.newest_wall_us > age_s * 1e6
