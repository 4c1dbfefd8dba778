"""Which runs the trace files below a directory hold, and the records of one of them.

A simulated run is one file. A live one is many: each site writes its own, one part after the other. The footers say
what is where, so that nothing is read to find out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from ordercast.core.trace import TraceRecord
from ordercast.records.traces import BadTraceFile, opened, read_trace, trace_paths


class TraceFile(Struct, frozen=True):
    """One file, by its footer."""

    path: Path
    runs: tuple[str, ...]
    rows: int
    first: tuple[int, int, int]
    """The lowest site, incarnation and index in it: parts of a life sort by this."""


class Traces(Struct, frozen=True):
    """What there is below a directory."""

    files: tuple[TraceFile, ...]
    """In the order in which they are to be read."""
    bad: tuple[BadTraceFile, ...]
    """Torn files, and Parquet files that are no traces."""

    @property
    def runs(self) -> list[str]:
        """The names of all runs."""
        return sorted(dict.fromkeys(run for file in self.files for run in file.runs))

    def of(self, run: str) -> list[TraceFile]:
        """The files that hold records of a run."""
        return [file for file in self.files if run in file.runs]


def find_traces(directory: Path) -> Traces:
    """All trace files below a directory."""
    files, bad = [], []
    for path in trace_paths(directory):
        try:
            files.append(_file_at(path))
        except BadTraceFile as error:
            bad.append(error)
    return Traces(tuple(sorted(files, key=lambda file: (file.first, file.path))), tuple(bad))


def records_of(run: str, files: Sequence[TraceFile]) -> Iterator[TraceRecord]:
    """The records of one run, file by file."""
    for file in files:
        if len(file.runs) == 1:
            yield from read_trace(file.path)
        else:
            yield from (record for record in read_trace(file.path) if record.run == run)


def _file_at(path: Path) -> TraceFile:
    with opened(path) as file:
        runs = _ends(file, "run")
        if runs is None:
            return TraceFile(path, (), 0, (0, 0, 0))
        names = (runs[0],) if runs[0] == runs[1] else _all_runs(file)
        first = [ends[0] for name in ("site", "incarnation", "index") if (ends := _ends(file, name))]
        return TraceFile(path, names, file.metadata.num_rows, (first[0], first[1], first[2]))


def _ends(file: Any, column: str) -> tuple[Any, Any] | None:
    """The smallest and the largest value of a column; None if the file is empty."""
    index = file.schema_arrow.get_field_index(column)
    groups = [file.metadata.row_group(number).column(index).statistics for number in range(file.num_row_groups)]
    known = [group for group in groups if group is not None and group.has_min_max]
    if len(known) < len(groups):
        values = file.read([column]).column(0).to_pylist()
        return (min(values), max(values)) if values else None
    return (min(group.min for group in known), max(group.max for group in known)) if known else None


def _all_runs(file: Any) -> tuple[str, ...]:
    return tuple(sorted(file.read(["run"]).column(0).unique().to_pylist()))
