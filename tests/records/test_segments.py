"""Segments: a table that reads by itself, and the log's entries again."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordercast.core.entries import Content, Entry, RoleChange
from ordercast.core.ids import SITES_MAX, SiteId, ViewId, pack_message_id
from ordercast.core.messages import Act, Author, Bundle, Level
from ordercast.core.plans import ChangeOrdering
from ordercast.core.views import View
from ordercast.records.segment_tables import LoggedEntry, entries_of, segment_schema, table_of
from ordercast.records.segments import BadSegment, SegmentFile, write_segment

POSITIVE = st.integers(0, (1 << 63) - 1)
SITES = st.integers(0, SITES_MAX - 1).map(SiteId)
NUMBERS = st.lists(POSITIVE, max_size=3).map(tuple)


@st.composite
def bundles(draw: st.DrawFn) -> Bundle:
    bodies = tuple(draw(st.lists(st.binary(max_size=20), min_size=1, max_size=4)))
    speaker = st.builds(Author, st.text(), st.text(), POSITIVE, st.integers(0, 1 << 62), st.sampled_from(Act))
    void = tuple(sorted(draw(st.sets(st.integers(0, len(bodies) - 1)))))
    message = pack_message_id(draw(SITES), draw(st.integers(0, 4095)), draw(st.integers(0, 1 << 36)))
    author = draw(st.none() | speaker)
    return Bundle(message, bodies, draw(st.sampled_from(Level)), draw(NUMBERS), draw(NUMBERS), author, void)


CONTENTS: st.SearchStrategy[Content] = (
    bundles()
    | st.builds(View, POSITIVE.map(ViewId), st.lists(SITES, max_size=3).map(tuple), NUMBERS)
    | st.builds(RoleChange, SITES, st.booleans())
)


def logged(contents: list[Content], begin: int = 0) -> list[LoggedEntry]:
    made: list[LoggedEntry] = []
    for number, content in enumerate(contents):
        end = begin + (len(content.bodies) if isinstance(content, Bundle) else 1)
        made.append(LoggedEntry(Entry(begin, end, content, 100 + number), 1_000 + number, 50))
        begin = end
    return made


def entries(made: list[LoggedEntry]) -> list[Entry]:
    return [each.entry for each in made]


@given(st.lists(CONTENTS, min_size=1, max_size=8), st.integers(0, 1 << 40))
def test_rows_become_the_same_entries_again(contents: list[Content], begin: int) -> None:
    made = logged(contents, begin)
    assert entries_of(table_of(made)) == entries(made)


@settings(max_examples=30)
@given(st.lists(CONTENTS, min_size=1, max_size=8), st.integers(1, 200), st.data())
def test_a_reader_begins_anywhere(
    tmp_path_factory: pytest.TempPathFactory, contents: list[Content], group_bytes: int, data: st.DataObject
) -> None:
    made = logged(contents, 7)
    stop = made[-1].entry.end
    path = tmp_path_factory.mktemp("segments") / "s.parquet"
    write_segment(path, made, group_bytes=group_bytes)
    file = SegmentFile(path, 7, stop)
    start = data.draw(st.integers(0, stop))
    assert list(file.entries(start)) == [entry for entry in entries(made) if entry.end > start]
    file.close()


ORDER: list[Content] = [
    View(ViewId(3), (SiteId(0), SiteId(2)), (0, 4)),
    Bundle(
        pack_message_id(SiteId(2), 4, 10), (b"a", b"b"), Level.SAFE, (1, 2), (), Author("orders", "alice", 9, 6), (1,)
    ),
    Bundle(pack_message_id(SiteId(2), 4, 12), (b"",), author=Author("orders", "alice", 9, 8, Act.LEAVES)),
    RoleChange(SiteId(2), False),
    Bundle(pack_message_id(SiteId(1), 0, 0), (b"c",)),
    Bundle(
        pack_message_id(SiteId(1), 0, 1),
        (msgspec.msgpack.encode(ChangeOrdering("token-site", {"site": 2})),),
        author=Author("", "", 0, 0, Act.PLANS),
    ),
]


def test_a_table_can_be_read_without_knowing_entries(tmp_path: Path) -> None:
    path = tmp_path / "s.parquet"
    write_segment(path, logged(ORDER, 5))
    rows = [
        {name: value for name, value in row.items() if value is not None}
        for row in parquet.read_table(path).to_pylist()
    ]
    common = {"level": "safe", "group": "orders", "sender": "alice", "session": 9, "kind": "message", "origin": 2}
    common |= {"origin_incarnation": 4, "wall_us": 1001, "entry": 6}
    assert rows[0].items() >= {"position": 5, "kind": "view", "view": 3, "digest": 100, "wall_us": 1000}.items()
    assert rows[0]["members"] == [0, 2]
    assert rows[0]["control"] == '{"id":3,"members":[0,2],"incarnations":[0,4]}'
    message = pack_message_id(SiteId(2), 4, 10)
    mine = {"position": 6, "message": message, "seq": 10, "number": 6, "payload": b"a", "void": False, "past": [1, 2]}
    assert rows[1] == common | mine
    mine = {"position": 7, "message": message + 1, "seq": 11, "number": 7, "payload": b"b", "void": True, "digest": 101}
    assert rows[2] == common | mine
    assert rows[3].items() >= {"position": 8, "kind": "leave", "number": 8, "payload": b""}.items()
    assert rows[4].items() >= {"position": 9, "kind": "role", "origin": 2, "role": "passive"}.items()
    assert rows[5].items() >= {"position": 10, "kind": "message", "level": "agreed", "payload": b"c"}.items()
    assert rows[6].items() >= {"position": 11, "kind": "plan", "origin": 1}.items()
    assert rows[6]["control"] == '{"protocol":"token-site","options":{"site":2}}'
    assert not {"group", "sender", "session", "number"} & set(rows[5])


def written(tmp_path: Path) -> tuple[Path, list[Entry]]:
    made = logged(ORDER * 3)
    path = tmp_path / "s.parquet"
    write_segment(path, made, group_bytes=200)
    return path, entries(made)


def test_only_payloads_go_without_dictionary_and_statistics(tmp_path: Path) -> None:
    path, _ = written(tmp_path)
    group = parquet.ParquetFile(path).metadata.row_group(0)
    for index, name in enumerate(segment_schema().names):
        column = group.column(index)
        if name in ("payload", "position"):
            assert column.has_dictionary_page == column.is_stats_set == (name == "position")


def read(path: Path, stop: int = 21) -> list[Entry]:
    file = SegmentFile(path, 0, stop)
    try:
        return list(file.entries(0))
    finally:
        file.close()


@pytest.mark.parametrize("length", [0, 3, 500, -9, -1])
def test_a_torn_segment_is_named(tmp_path: Path, length: int) -> None:
    path, _ = written(tmp_path)
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(BadSegment, match=r"s\.parquet: is torn, or no Parquet file") as caught:
        read(path)
    assert caught.value.path == path
    assert "\n" not in str(caught.value)


def test_a_segment_that_holds_other_positions_is_named(tmp_path: Path) -> None:
    path, _ = written(tmp_path)
    with pytest.raises(BadSegment, match=r"holds 21 positions, expected 0 to 21"):
        read(path, 22)


def test_a_table_of_another_kind_is_named(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"price": [1.5]}), tmp_path / "s.parquet")
    with pytest.raises(BadSegment, match="is no segment: it has no column 'position'"):
        read(tmp_path / "s.parquet", 1)
    table = table_of(logged(ORDER)).set_column(2, "kind", pa.array([1] * 7))
    parquet.write_table(table, tmp_path / "s.parquet")
    with pytest.raises(BadSegment, match=r"column 'kind' is .*int64.*, expected .*string not null"):
        read(tmp_path / "s.parquet", 7)


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("position", 1, "holds other positions than 0"),
        ("kind", "dance", "is torn, or no Parquet file"),
        ("level", "loud", "is torn, or no Parquet file"),
        ("content", b"\xc1", "is torn, or no Parquet file"),
    ],
)
def test_a_table_that_makes_no_entries_is_named(tmp_path: Path, column: str, value: Any, said: str) -> None:
    rows = table_of(logged(ORDER)).to_pylist()
    for row in rows:
        if column == "position":
            row["position"] += value
            row["entry"] += value
        elif row[column] is not None:
            row[column] = value
    parquet.write_table(pa.Table.from_pylist(rows, schema=segment_schema()), tmp_path / "s.parquet")
    with pytest.raises(BadSegment, match=said):
        read(tmp_path / "s.parquet", 7)


@given(st.data())
@settings(max_examples=50, deadline=None)
def test_damage_is_noticed_or_harmless(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    path, expected = written(tmp_path_factory.mktemp("damaged"))
    content = bytearray(path.read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    found: list[Entry] | None = None
    with suppress(BadSegment):
        found = read(path)
    assert found in (None, expected)
