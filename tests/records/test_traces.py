"""Trace files: what is written can be read, and what cannot be read says which file it was."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordercast.core.errors import NotFit, WrongUse
from ordercast.core.trace import Kind, TraceRecord
from ordercast.records.schema import trace_schema
from ordercast.records.traces import BadTraceFile, TraceWriter, read_trace, read_traces
from tests.strategies import values_of


def record(index: int, run: str = "r", **columns: Any) -> TraceRecord:
    return TraceRecord(run=run, site=3, incarnation=0, index=index, at_us=10 * index, kind=Kind.DELIVER, **columns)


def write(directory: Path, records: list[TraceRecord], run: str = "r", rows_per_group: int = 100) -> Path:
    with TraceWriter(directory, run, rows_per_group=rows_per_group) as writer:
        for each in records:
            writer.write(each)
    return writer.path


@given(st.lists(values_of(TraceRecord), max_size=12), st.integers(1, 5))
def test_what_is_written_can_be_read(
    tmp_path_factory: pytest.TempPathFactory, records: list[TraceRecord], rows_per_group: int
) -> None:
    directory = tmp_path_factory.mktemp("traces")
    write(directory, records, rows_per_group=rows_per_group)
    assert list(read_traces(directory)) == records


def test_a_bundle_is_as_many_records_as_it_has_messages(tmp_path: Path) -> None:
    first = record(4, message=70, seq=6, position=20, delivery_index=9, size=1, level="agreed")
    with TraceWriter(tmp_path, "r") as writer:
        writer.write_bundle(first, [1, 0, 5])
        writer.write(record(7))
    records = list(read_traces(tmp_path))
    assert records[0] == first
    assert [
        (each.index, each.message, each.seq, each.position, each.delivery_index, each.size) for each in records
    ] == [
        (4, 70, 6, 20, 9, 1),
        (5, 71, 7, 21, 10, 0),
        (6, 72, 8, 22, 11, 5),
        (7, None, None, None, None, None),
    ]
    assert {(each.at_us, each.level) for each in records[:3]} == {(40, "agreed")}


def test_what_a_bundle_leaves_empty_stays_so(tmp_path: Path) -> None:
    with TraceWriter(tmp_path, "r") as writer:
        writer.write_bundle(record(0, message=7, seq=7), [1, 1])
    assert [(each.message, each.position) for each in read_traces(tmp_path)] == [(7, None), (8, None)]


def test_the_messages_of_bundles_count_in_a_group(tmp_path: Path) -> None:
    with TraceWriter(tmp_path, "r", rows_per_group=10) as writer:
        for index in range(0, 24, 4):
            writer.write_bundle(record(index), [1] * 4)
    metadata = parquet.ParquetFile(writer.path).metadata
    assert [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)] == [12, 12]


def test_rows_are_written_in_bounded_groups(tmp_path: Path) -> None:
    path = write(tmp_path, [record(index) for index in range(25)], rows_per_group=10)
    metadata = parquet.ParquetFile(path).metadata
    assert [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)] == [10, 10, 5]
    assert metadata.row_group(0).column(0).compression == "ZSTD"


def test_the_file_appears_when_it_is_complete(tmp_path: Path) -> None:
    with TraceWriter(tmp_path, "r", rows_per_group=1) as writer:
        writer.write(record(0))
        assert list(tmp_path.glob("*.parquet")) == []
    assert [path.name for path in tmp_path.iterdir()] == ["r.parquet"]
    writer.close()


def test_an_error_leaves_no_file(tmp_path: Path) -> None:
    def fail_half_way() -> None:
        with TraceWriter(tmp_path, "r", rows_per_group=1) as writer:
            writer.write(record(0))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_half_way()
    assert list(tmp_path.iterdir()) == []


def test_a_run_of_any_name_gets_a_file_of_its_own(tmp_path: Path) -> None:
    names = ["../up", "a/b", "a%2Fb", ".hidden", "with space", "ü", "a"]
    for name in names:
        write(tmp_path, [record(0, name)], name)
    assert sorted(each.run for each in read_traces(tmp_path)) == sorted(names)
    assert len(list(tmp_path.iterdir())) == len(names)


def test_the_same_records_give_the_same_bytes(tmp_path: Path) -> None:
    records = [record(index, level="agreed") for index in range(50)]
    assert write(tmp_path / "a", records).read_bytes() == write(tmp_path / "b", records).read_bytes()


def test_runs_are_read_in_the_order_of_their_names(tmp_path: Path) -> None:
    for run in ("b", "a", "c"):
        write(tmp_path, [record(0, run), record(1, run)], run)
    assert [(each.run, each.index) for each in read_traces(tmp_path)] == [(r, i) for r in "abc" for i in (0, 1)]


# --- files that are no traces ---


def test_a_file_torn_anywhere_is_named(tmp_path: Path) -> None:
    data = write(tmp_path, [record(index) for index in range(20)]).read_bytes()
    torn = tmp_path / "torn" / "r.parquet"
    torn.parent.mkdir()
    for length in [0, 1, 4, len(data) // 2, len(data) - 9, len(data) - 1]:
        torn.write_bytes(data[:length])
        with pytest.raises(BadTraceFile, match="is torn, or no Parquet file") as caught:
            list(read_traces(torn.parent))
        assert str(caught.value).startswith(str(torn))
        assert "\n" not in str(caught.value)
        assert caught.value.path == torn


@given(st.data())
def test_damage_is_noticed_or_harmless(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Pages carry check sums and rows are counted, so a damaged byte never shows in a record."""
    directory = tmp_path_factory.mktemp("damaged")
    records = [record(index) for index in range(5)]
    path = write(directory, records)
    content = bytearray(path.read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    read: list[TraceRecord] | None = None
    with suppress(BadTraceFile):
        read = list(read_trace(path))
    assert read in (None, records)


def test_records_that_get_lost_without_a_word_are_missed(tmp_path: Path) -> None:
    """A damaged page header can make the reader skip the page; then the number of rows is wrong."""
    path = write(tmp_path, [record(index) for index in range(5)])
    content = path.read_bytes()
    reasons = []
    for at in range(4, 600):
        path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        try:
            assert len(list(read_trace(path))) == 5
        except BadTraceFile as error:
            reasons.append(str(error))
    assert any(reason.endswith("is torn: 5 of 5 records cannot be read") for reason in reasons)


def write_table(path: Path, table: pa.Table) -> Path:
    parquet.write_table(table, path)
    return path


def trace_table(**replaced: pa.Array) -> pa.Table:
    """One valid row, with some columns replaced."""
    row = {"run": "r", "site": 0, "incarnation": 0, "index": 0, "at_us": 0, "kind": "deliver"}
    table = pa.Table.from_pylist([row], schema=trace_schema())
    for name, values in replaced.items():
        table = table.set_column(table.schema.get_field_index(name), name, values)
    return table


def test_a_foreign_table_is_named(tmp_path: Path) -> None:
    path = write_table(tmp_path / "x.parquet", pa.table({"price": [1.5]}))
    with pytest.raises(BadTraceFile, match=r"x\.parquet: is no trace: it has no column 'run'"):
        list(read_traces(tmp_path))
    with pytest.raises(BadTraceFile, match="has a column 'price' that no trace has"):
        list(read_trace(write_table(path, trace_table().append_column("price", pa.array([1.5])))))


def test_a_column_of_another_type_is_named(tmp_path: Path) -> None:
    path = write_table(tmp_path / "x.parquet", trace_table(site=pa.array(["A"])))
    with pytest.raises(BadTraceFile, match=r"column 'site' is .*string.*, expected .*int64 not null"):
        list(read_trace(path))


def test_a_kind_that_does_not_exist_is_named(tmp_path: Path) -> None:
    table = trace_table().set_column(5, trace_schema().field("kind"), pa.array(["dance"]))
    with pytest.raises(BadTraceFile, match=r"holds something that is no trace record.*dance"):
        list(read_trace(write_table(tmp_path / "x.parquet", table)))


def test_text_is_no_trace(tmp_path: Path) -> None:
    (tmp_path / "x.parquet").write_text("hello, hello, hello")
    with pytest.raises(BadTraceFile, match=r"x\.parquet: is torn, or no Parquet file"):
        list(read_traces(tmp_path))


def test_a_missing_or_empty_directory_is_named(tmp_path: Path) -> None:
    with pytest.raises(WrongUse, match="nowhere: no such directory"):
        list(read_traces(tmp_path / "nowhere"))
    with pytest.raises(WrongUse, match="holds no trace files"):
        list(read_traces(tmp_path))


def test_a_file_in_the_place_of_the_directory_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(WrongUse, match="file: traces need a directory"):
        TraceWriter(tmp_path / "file", "r")


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFit, match="cannot be written"):
        TraceWriter(tmp_path, "r" * 300)
    assert list(tmp_path.iterdir()) == []
