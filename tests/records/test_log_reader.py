"""Reading a log beside the process that writes it."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ordercast.core.errors import NotFit
from ordercast.records.log_database import FILE
from ordercast.records.log_errors import Hole, Retained
from ordercast.records.log_reader import Reader
from ordercast.records.segment_tables import segment_schema
from ordercast.records.segments import BadSegment
from tests.pipeline.streaming.logs import add, log_in, sealed_and_tail, turn
from tests.site.storage.entries import messages, mixed, save_base

EVERYTHING = 1 << 30


def positions(reader: Reader, start: int, stop: int) -> list[int]:
    """Chunk by chunk."""
    found: list[int] = []
    while start < stop:
        table = reader.table(start, stop, 30)
        assert table.schema.equals(segment_schema())
        assert table.num_rows > 0
        found += table["position"].to_pylist()
        start += table.num_rows
    return found


@pytest.mark.parametrize("segment_positions", [3, 8, 1000])
def test_every_range_holds_its_positions_wherever_they_lie(tmp_path: Path, segment_positions: int) -> None:
    with (
        closing(sealed_and_tail(tmp_path, [*mixed(), *mixed(8)], segment_positions)),
        closing(Reader(tmp_path, beside=True)) as reader,
    ):
        whole = reader.final()
        assert whole == 16
        for start in range(whole):
            for stop in range(start + 1, whole + 1):
                assert positions(reader, start, stop) == list(range(start, stop))


def test_a_table_is_the_same_from_the_tail_and_from_a_segment(tmp_path: Path) -> None:
    log = log_in(tmp_path, segment_positions=16)
    columns = ("digest", "position", "kind", "void", "payload")
    with closing(log), closing(Reader(tmp_path, beside=True)) as reader:
        add(log, mixed())
        in_tail = reader.table(1, 7, EVERYTHING)
        assert reader.tail_runs() == ((0, 8),)
        add(log, mixed(8))
        assert reader.tail_runs() == ()
        sealed = reader.table(1, 7, EVERYTHING)
        assert in_tail.equals(sealed)
        assert reader.table(1, 7, EVERYTHING, columns).equals(in_tail.select(columns))


def test_at_the_end_there_is_a_table_without_rows(tmp_path: Path) -> None:
    with closing(sealed_and_tail(tmp_path, mixed(), 3)), closing(Reader(tmp_path, beside=True)) as reader:
        assert reader.table(8, 10, EVERYTHING).schema.equals(segment_schema())
        assert reader.table(8, 10, EVERYTHING, ["kind"]).column_names == ["kind"]
        assert reader.table(8, 10, EVERYTHING).num_rows == 0
        assert reader.read(8, 10, EVERYTHING).entries == ()


def test_only_what_a_majority_has_ordered_is_final(tmp_path: Path) -> None:
    log = log_in(tmp_path)
    with closing(log), closing(Reader(tmp_path, beside=True)) as reader:
        for entry in messages(5):
            log.append(entry)
        log.finalize(3)
        turn(log)
        assert (reader.final(), reader.bounds()) == (3, (0, 5))


def test_what_is_dropped_while_it_is_read_names_where_to_go_on(tmp_path: Path) -> None:
    """The segment is listed as the reader looks, and gone as it opens the file."""
    log = sealed_and_tail(tmp_path, messages(30), 10)
    with closing(log), closing(Reader(tmp_path, beside=True)) as reader:
        opened = reader._file

        def dropped_before(segment: object) -> object:
            reader._file = opened  # type: ignore[method-assign]
            log._keeper._options = log._keeper._options.__class__(retention_bytes=0)
            save_base(log, 20)
            turn(log)
            return opened(segment)  # type: ignore[arg-type]

        reader._file = dropped_before  # type: ignore[method-assign,assignment]
        with pytest.raises(Retained, match="position 4 is no longer kept: read from 20 on"):
            reader.table(4, 8, EVERYTHING)
        assert positions(reader, 20, 30) == list(range(20, 30))


def test_a_file_that_is_listed_and_not_there_is_damage(tmp_path: Path) -> None:
    with closing(sealed_and_tail(tmp_path, messages(10), 10)), closing(Reader(tmp_path, beside=True)) as reader:
        (path,) = (tmp_path / "segments").iterdir()
        path.unlink()
        with pytest.raises(BadSegment, match="restore it from a copy"):
            reader.table(4, 8, EVERYTHING)


def test_a_hole_ends_what_is_whole(tmp_path: Path) -> None:
    log = sealed_and_tail(tmp_path, messages(10), 5)
    with closing(log), closing(Reader(tmp_path, beside=True)) as reader:
        log.restart_at(20)
        add(log, messages(5, start=20))
        assert reader.whole_until(3) == 10
        assert reader.whole_until(20) == reader.whole_until(25) == 25
        for ask in (reader.whole_until, lambda start: reader.table(start, 25, EVERYTHING)):
            with pytest.raises(Hole, match="positions 12 to 19 are not in the log of this site: read from 20 on"):
                ask(12)


def test_a_good_place_to_cut_is_where_an_entry_or_a_row_group_begins(tmp_path: Path) -> None:
    with closing(sealed_and_tail(tmp_path, [*mixed(), *mixed(8)], 8)), closing(Reader(tmp_path, beside=True)) as reader:
        assert [reader.begin_near(position) for position in (0, 3, 7)] == [0, 0, 0]
    tail = tmp_path / "tail"
    with closing(sealed_and_tail(tail, mixed(), 100)), closing(Reader(tail, beside=True)) as reader:
        assert [reader.begin_near(position) for position in range(9)] == [0, 1, 1, 1, 4, 5, 6, 6, 8]


# --- beside the daemon, and after it ---


def test_a_reader_beside_the_log_writes_nothing(tmp_path: Path) -> None:
    sealed_and_tail(tmp_path, messages(10), 100).close()
    before = (tmp_path / FILE).read_bytes()
    with closing(Reader(tmp_path, beside=True)) as reader:
        assert positions(reader, 0, 10) == list(range(10))
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            reader._connection.execute("UPDATE standing SET final = 5")
    assert (tmp_path / FILE).read_bytes() == before


def test_a_reader_sees_what_comes_and_hinders_nobody(tmp_path: Path) -> None:
    log = log_in(tmp_path)
    with closing(Reader(tmp_path, beside=True)) as reader:
        add(log, messages(10))
        assert reader.final() == 10
        log.close()
        log = log_in(tmp_path)
        add(log, messages(10, start=10))
        assert positions(reader, 0, 20) == list(range(20))
        log.close()


def test_a_directory_without_a_log_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFit, match=r"is no ordered log \(it has no log.sqlite\); name a site's log directory"):
        Reader(tmp_path, beside=True)
    sqlite3.connect(tmp_path / FILE).executescript("CREATE TABLE a (b); PRAGMA user_version = 1")
    with pytest.raises(NotFit, match="is no ordered log; name another directory"):
        Reader(tmp_path, beside=True)
    assert sorted(os.listdir(tmp_path)) == [FILE]
