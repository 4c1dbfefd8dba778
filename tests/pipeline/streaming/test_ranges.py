"""Ranges of a log, without Spark: where batches end, how they are cut, what they hold."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from ordercast.core.errors import NotFit
from ordercast.pipeline.streaming.options import ReadOptions
from ordercast.pipeline.streaming.ranges import batches, cut, end_of_batch
from ordercast.records.log_errors import Hole, Retained
from ordercast.site.storage.ordered_log import OrderedLog
from tests.pipeline.streaming.logs import add, log_in, sealed_and_tail, turn
from tests.site.storage.entries import bundle, entries, messages, mixed, save_base


@pytest.fixture
def log(tmp_path: Path) -> Iterator[OrderedLog]:
    """Two segments of eight positions, and four positions in the tail."""
    log = sealed_and_tail(tmp_path, [*mixed(), *mixed(8), *messages(4, start=16)], 8)
    with closing(log):
        yield log


def read(log: OrderedLog, start: int = 0, stop: int = 20, **options: Any) -> list[dict[str, Any]]:
    """The rows of a range."""
    chosen = ReadOptions(path=log.directory, **options)
    return [row for batch in batches(chosen, start, stop) for row in batch.to_pylist()]


def test_pieces_follow_on_each_other_and_together_are_the_range(log: OrderedLog) -> None:
    for tasks in (1, 2, 3, 7, 100):
        for start, stop in ((0, 20), (3, 19), (17, 18)):
            pieces = cut(ReadOptions(path=log.directory, tasks=tasks), start, stop)
            assert [start, *(end for _, end in pieces)] == [*(begin for begin, _ in pieces), stop]
            assert 1 <= len(pieces) <= tasks
            held = [row["position"] for begin, end in pieces for row in read(log, begin, end)]
            assert held == list(range(start, stop))
    assert cut(ReadOptions(path=log.directory), 5, 5) == []


def test_pieces_are_cut_where_row_groups_and_entries_begin(log: OrderedLog) -> None:
    assert cut(ReadOptions(path=log.directory, tasks=5), 0, 20) == [(0, 8), (8, 16), (16, 20)]


def test_rows_can_be_chosen(log: OrderedLog) -> None:
    add(log, entries(bundle(20, b"z", group="others"), start=20))
    assert [row["kind"] for row in read(log, stop=3)] == ["view", "message", "message"]
    assert {row["kind"] for row in read(log, rows="messages")} == {"message"}
    assert len(read(log, rows="messages")) == 6 + 6 + 4
    assert read(log, 5, 21, group="others", columns=("payload", "position")) == [{"payload": b"z", "position": 20}]
    assert read(log, 0, 20, group="others") == []


def test_what_is_void_is_no_message_to_participants(tmp_path: Path) -> None:
    content = replace(bundle(0, b"a", b"b"), void=(0,))
    with closing(sealed_and_tail(tmp_path, entries(content), 100)) as log:
        assert [row["payload"] for row in read(log, 0, 2)] == [b"a", b"b"]
        assert [row["payload"] for row in read(log, 0, 2, rows="messages")] == [b"b"]


def test_a_range_holds_the_same_once_it_is_sealed(tmp_path: Path) -> None:
    with closing(sealed_and_tail(tmp_path, mixed(), 16)) as log:
        planned = cut(ReadOptions(path=tmp_path, tasks=3), 0, 8)
        before = [read(log, *piece) for piece in planned]
        add(log, mixed(8))
        assert list((tmp_path / "segments").iterdir())
        assert [read(log, *piece) for piece in planned] == before


def test_a_batch_ends_before_what_is_not_final_with_so_many_positions(log: OrderedLog) -> None:
    assert end_of_batch(log.directory, 0, 20, None) == 20
    assert end_of_batch(log.directory, 4, 20, 10) == 14
    assert end_of_batch(log.directory, 14, 20, 10) == 20
    assert end_of_batch(log.directory, 20, 20, 10) == end_of_batch(log.directory, 20, 17, 10) == 20


def test_what_is_kept_no_longer_names_the_first_position_that_is(tmp_path: Path) -> None:
    log = log_in(tmp_path, segment_positions=10, retention_bytes=0)
    with closing(log):
        add(log, messages(30))
        save_base(log, 20)
        turn(log)
        for ask in (lambda: end_of_batch(tmp_path, 4, 30, 5), lambda: read(log, 4, 9)):
            with pytest.raises(Retained, match="position 4 is no longer kept: read from 20 on"):
                ask()
        assert cut(ReadOptions(path=tmp_path, tasks=3), 4, 30)[0][0] == 4


def test_a_batch_ends_before_a_hole_and_the_next_names_where_it_ends(log: OrderedLog) -> None:
    log.restart_at(30)
    add(log, messages(5, start=30))
    assert end_of_batch(log.directory, 14, 35, None) == 20
    with pytest.raises(Hole, match="positions 20 to 29 are not in the log of this site: read from 30 on"):
        end_of_batch(log.directory, 20, 35, None)
    assert [row["position"] for row in read(log, 30, 35)] == list(range(30, 35))


def test_a_log_that_ends_before_what_was_promised_is_another_one(log: OrderedLog) -> None:
    with pytest.raises(NotFit, match="the log ends at 20, before 25; is it the same one as before"):
        read(log, 15, 25)
