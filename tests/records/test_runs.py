"""Runs in a directory: which files hold them, in which order they are read, and what is no trace."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from ordercast.core.errors import WrongUse
from ordercast.core.trace import Kind, TraceRecord
from ordercast.records.runs import find_traces, records_of
from ordercast.records.traces import TraceWriter


def record(index: int, run: str = "r", site: int = 0, incarnation: int = 0) -> TraceRecord:
    return TraceRecord(run=run, site=site, incarnation=incarnation, index=index, at_us=0, kind=Kind.BLOCK)


def write(directory: Path, name: str, *records: TraceRecord) -> Path:
    with TraceWriter(directory, name) as writer:
        for each in records:
            writer.write(each)
    return writer.path


def test_parts_of_a_life_are_read_in_their_order_whatever_their_names(tmp_path: Path) -> None:
    write(tmp_path / "lis1", "a", record(2), record(3))
    write(tmp_path / "lis1", "b", record(0), record(1))
    write(tmp_path / "por1", "a", record(0, incarnation=1, site=1))
    write(tmp_path / "por1", "b", record(0, site=1))
    traces = find_traces(tmp_path)
    assert traces.runs == ["r"]
    read = [(each.site, each.incarnation, each.index) for each in records_of("r", traces.of("r"))]
    assert read == [(0, 0, 0), (0, 0, 1), (0, 0, 2), (0, 0, 3), (1, 0, 0), (1, 1, 0)]


def test_runs_are_told_apart_also_within_one_file(tmp_path: Path) -> None:
    write(tmp_path, "both", record(0, "one"), record(1, "two"), record(1, "one"))
    write(tmp_path, "more", record(0, "three"))
    traces = find_traces(tmp_path)
    assert traces.runs == ["one", "three", "two"]
    assert [each.index for each in records_of("one", traces.of("one"))] == [0, 1]
    assert [file.rows for file in traces.of("two")] == [3]


def test_an_empty_trace_holds_no_run(tmp_path: Path) -> None:
    write(tmp_path, "empty")
    traces = find_traces(tmp_path)
    assert (traces.runs, len(traces.files), traces.bad) == ([], 1, ())


def test_a_file_without_statistics_is_read(tmp_path: Path) -> None:
    path = write(tmp_path, "r", record(4), record(5))
    parquet.write_table(parquet.read_table(path), path, write_statistics=False)
    assert find_traces(tmp_path).files[0].first == (0, 0, 4)


def test_torn_and_foreign_files_are_named(tmp_path: Path) -> None:
    path = write(tmp_path, "torn", record(0))
    path.write_bytes(path.read_bytes()[:-20])
    parquet.write_table(pa.table({"price": [1]}), tmp_path / "foreign.parquet")
    write(tmp_path, "whole", record(0))
    traces = find_traces(tmp_path)
    assert traces.runs == ["r"]
    assert sorted(error.path.name for error in traces.bad) == ["foreign.parquet", "torn.parquet"]


def test_a_file_that_is_still_being_written_is_left_alone(tmp_path: Path) -> None:
    write(tmp_path, "whole", record(0))
    with TraceWriter(tmp_path, "growing") as writer:
        writer.write(record(0, "growing"))
        traces = find_traces(tmp_path)
        assert (traces.runs, traces.bad) == (["r"], ())


@pytest.mark.parametrize("name", ["", "nowhere"])
def test_a_directory_without_traces_is_a_mistake(tmp_path: Path, name: str) -> None:
    with pytest.raises(WrongUse, match=r"\*\.parquet"):
        find_traces(tmp_path / name)
