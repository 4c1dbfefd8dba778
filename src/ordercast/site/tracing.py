"""The trace of a live site: records gathered on the loop, written by a thread, in files of some seconds each.

A file is there whole or not at all, so a killed site loses the records of its last seconds and no more.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import SimpleQueue

from ordercast.core.errors import NotFit
from ordercast.core.trace import TraceRecord
from ordercast.records.traces import TraceWriter

FILE_US = 5_000_000
"""So much time goes into a file ..."""

FILE_ROWS = 1 << 20
"""... or so many records."""

WAITING_ROWS_MAX = 1 << 23
"""If the disk is further behind than that, the trace ends: it must not take the site's memory."""

Recorded = tuple[TraceRecord, Sequence[int] | None]


class TraceFiles:
    """Where one life of a site puts its records."""

    def __init__(self, directory: Path, site: str, incarnation: int, failed: Callable[[str], None]) -> None:
        """`failed` is called, from the writing thread or the loop, when the trace ends before its time."""
        self.directory = directory
        self.ended = False
        self._name = f"{site}-{incarnation:04d}"
        self._failed = failed
        self._batch: list[Recorded] = []
        self._batch_rows = 0
        self._batch_from_us = 0
        self._waiting_rows = 0
        self._queue: SimpleQueue[tuple[list[Recorded], int] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._write_files, name="trace-writer", daemon=True)
        self._thread.start()

    def write(self, record: TraceRecord) -> None:
        """One record."""
        self._add(record, None, 1)

    def write_bundle(self, first: TraceRecord, sizes: Sequence[int]) -> None:
        """The records of a bundle, of which the first is given."""
        self._add(first, sizes, len(sizes))

    def _add(self, record: TraceRecord, sizes: Sequence[int] | None, rows: int) -> None:
        if self.ended:
            return
        if not self._batch:
            self._batch_from_us = record.at_us
        self._batch.append((record, sizes))
        self._batch_rows += rows
        if self._batch_rows >= FILE_ROWS or record.at_us - self._batch_from_us >= FILE_US:
            self._hand_over()

    def _hand_over(self) -> None:
        if self._waiting_rows + self._batch_rows > WAITING_ROWS_MAX:
            self.ended = True
            self._failed("the disk is too slow for the trace, which ends here")
        elif self._batch:
            self._waiting_rows += self._batch_rows
            self._queue.put((self._batch, self._batch_rows))
        self._batch, self._batch_rows = [], 0

    def close(self) -> None:
        """Write what is left. Closing again does nothing."""
        self._hand_over()
        self.ended = True
        self._queue.put(None)
        self._thread.join()

    def _write_files(self) -> None:
        while (handed := self._queue.get()) is not None:
            batch, rows = handed
            try:
                self._write_file(f"{self._name}-{batch[0][0].index:012d}", batch)
            except NotFit as error:
                self.ended = True
                self._failed(str(error))
            self._waiting_rows -= rows

    def _write_file(self, name: str, batch: list[Recorded]) -> None:
        with TraceWriter(self.directory, name) as writer:
            for record, sizes in batch:
                if sizes is None:
                    writer.write(record)
                else:
                    writer.write_bundle(record, sizes)
