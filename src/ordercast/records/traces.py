"""Writer and reader of trace files: one Parquet file for each run, complete or not there at all.

A file grows under a hidden name and gets its own only when it is closed, so that whoever reads the directory never
meets half of a trace. Rows are written in groups of bounded size: memory does not grow with the length of a run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import quote

import msgspec

from ordercast.core.errors import NotFit, WrongUse
from ordercast.core.trace import TraceRecord
from ordercast.records.schema import mismatch, trace_schema
from ordercast.records.whole_files import hidden

ROWS_PER_GROUP = 1 << 16
"""How many records are held before they are written."""

ROWS_PER_READ = 1 << 12
"""How many records are held while reading."""

COUNTING = ("index", "message", "seq", "position", "delivery_index")
"""Columns in which the records of one bundle count up."""

_names = TraceRecord.__struct_fields__


class BadTraceFile(WrongUse):
    """A file among the traces that is torn, or no trace at all; the message names it."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path


class TraceWriter:
    """Writes the records of one run into `DIRECTORY/RUN.parquet`. Leaving its block after an error leaves no file."""

    def __init__(self, directory: Path, run: str, *, rows_per_group: int = ROWS_PER_GROUP) -> None:
        import pyarrow.parquet as parquet

        name = quote(run, safe=" ") + ".parquet"
        self.path = directory / name
        self._unfinished = hidden(self.path)
        self._rows_per_group = rows_per_group
        self._waiting: list[tuple[TraceRecord, Sequence[int] | None]] = []
        """Single records, and first records of bundles with the sizes of their messages."""
        self._rows_waiting = 0
        with _failing_to_write(self.path):
            directory.mkdir(parents=True, exist_ok=True)
            self._file: Any = parquet.ParquetWriter(
                self._unfinished, trace_schema(), compression="zstd", write_page_checksum=True
            )

    def write(self, record: TraceRecord) -> None:
        """Add one record."""
        self._add(record, None, 1)

    def write_bundle(self, first: TraceRecord, sizes: Sequence[int]) -> None:
        """Add the records of a bundle, of which the first is given (`core.trace.TraceSink`)."""
        self._add(first, sizes, len(sizes))

    def _add(self, record: TraceRecord, sizes: Sequence[int] | None, rows: int) -> None:
        self._waiting.append((record, sizes))
        self._rows_waiting += rows
        if self._rows_waiting >= self._rows_per_group:
            self._write_group()

    def _write_group(self) -> None:
        import pyarrow as pa

        schema = trace_schema()
        columns = [pa.array(_column(name, self._waiting), schema.field(name).type) for name in _names]
        self._waiting.clear()
        self._rows_waiting = 0
        with _failing_to_write(self.path):
            self._file.write_table(pa.Table.from_arrays(columns, schema=schema))

    def close(self) -> None:
        """Write the rest and give the file its name. Closing again does nothing."""
        if self._file is None:
            return
        try:
            if self._waiting:
                self._write_group()
            with _failing_to_write(self.path):
                self._file.close()
                os.replace(self._unfinished, self.path)
        except BaseException:
            self.discard()
            raise
        self._file = None

    def discard(self) -> None:
        """Leave no file, unless it has been closed already."""
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
            self._unfinished.unlink(missing_ok=True)
            self._file = None

    def __enter__(self) -> TraceWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.discard()


def _column(name: str, waiting: list[tuple[TraceRecord, Sequence[int] | None]]) -> list[Any]:
    """One value for each row."""
    column: list[Any] = []
    for record, sizes in waiting:
        value = getattr(record, name)
        if sizes is None:
            column.append(value)
        elif name == "size":
            column.extend(sizes)
        elif name in COUNTING and value is not None:
            column.extend(range(value, value + len(sizes)))
        else:
            column.extend([value] * len(sizes))
    return column


@contextmanager
def _failing_to_write(path: Path) -> Iterator[None]:
    try:
        yield
    except (FileExistsError, NotADirectoryError) as error:
        raise WrongUse(f"{path.parent}: traces need a directory, and this is a file") from error
    except OSError as error:
        raise NotFit(f"{path}: cannot be written ({error.strerror or error})") from error


def trace_paths(directory: Path) -> list[Path]:
    """All finished trace files in a directory and below it, by name."""
    if not directory.is_dir():
        raise WrongUse(f"{directory}: no such directory; expected one with trace files (*.parquet)")
    paths = sorted(directory.rglob("*.parquet"))
    if not paths:
        raise WrongUse(f"{directory}: holds no trace files (*.parquet)")
    return paths


def read_traces(directory: Path) -> Iterator[TraceRecord]:
    """The records of all trace files, file by file."""
    for path in trace_paths(directory):
        yield from read_trace(path)


def read_trace(path: Path) -> Iterator[TraceRecord]:
    """The records of one trace file, in the order in which they were written."""
    with opened(path) as file:
        missing = file.metadata.num_rows
        for batch in file.iter_batches(ROWS_PER_READ):
            yield from msgspec.convert(batch.to_pylist(), list[TraceRecord])
            missing -= batch.num_rows
        if missing:
            raise BadTraceFile(path, f"is torn: {missing} of {file.metadata.num_rows} records cannot be read")


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """The `pyarrow.parquet.ParquetFile` of a trace. Whatever is wrong, also with what is read of it, names the file."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    try:
        with parquet.ParquetFile(path, page_checksum_verification=True) as file:
            if reason := mismatch(file.schema_arrow, trace_schema(), "trace"):
                raise BadTraceFile(path, reason)
            yield file
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        raise BadTraceFile(path, f"is torn, or no Parquet file ({str(error).splitlines()[0]})") from error
    except msgspec.ValidationError as error:
        raise BadTraceFile(path, f"holds something that is no trace record ({error})") from error
