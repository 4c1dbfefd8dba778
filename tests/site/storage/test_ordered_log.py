"""The log from outside: what is written can be read, now and in the next life."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from bench.crashing.model import saved_by_group

from ordercast.core.errors import NotFit
from ordercast.records.log_errors import Hole, Retained
from ordercast.site.storage import writer
from ordercast.site.storage.options import Fsync, LogOptions
from ordercast.site.storage.ordered_log import OrderedLog, machine_now
from tests.site.storage.entries import entries, messages, mixed, read_all, save_base, view

WAIT_S = 60.0


@pytest.fixture
def log(tmp_path: Path) -> Iterator[OrderedLog]:
    log = OrderedLog.open(tmp_path / "log")
    yield log
    log.close()


def settle(log: OrderedLog) -> None:
    assert log.wait(log.written, WAIT_S)


def test_a_new_log_is_empty(log: OrderedLog) -> None:
    assert (log.earliest, log.end, log.final, log.written, log.durable) == (0, 0, 0, 0, 0)
    assert log.recovered.incarnation == 0
    assert log.recovered.entries == ()
    assert log.read(0, 100).entries == ()


@pytest.mark.parametrize("fsync", ["always", "interval", "never"])
def test_the_next_life_finds_everything(tmp_path: Path, fsync: Fsync) -> None:
    options = LogOptions(fsync=fsync)
    log = OrderedLog.open(tmp_path, options)
    for entry in mixed():
        log.append(entry)
    log.finalize(5)
    log.save("acceptor", b"promise")
    log.close()
    log = OrderedLog.open(tmp_path, options)
    recovered = log.recovered
    log.close()
    assert recovered.incarnation == 1
    assert recovered.entries == tuple(mixed())
    assert recovered.final == 5
    assert recovered.saved == {"acceptor": b"promise"}


def test_the_host_is_told_what_is_durable(log: OrderedLog) -> None:
    told: list[int] = []
    log.on_durable(told.append)
    for entry in messages(20):
        log.append(entry)
    assert log.written == 20
    settle(log)
    assert told == sorted(set(told))
    assert told[-1] == log.durable == log.synced == 20


@pytest.mark.parametrize("binding", [True, False])
def test_only_what_is_saved_as_binding_is_synced_whatever_the_policy(tmp_path: Path, *, binding: bool) -> None:
    log = OrderedLog(tmp_path, LogOptions(fsync="never"), machine_now)
    log.append(messages(1)[0])
    log.save("group", saved_by_group(0).value, binding=binding)
    log.turn()
    assert (log.durable, log.synced) == (2, 2 if binding else 0)
    log.close()


@pytest.mark.parametrize(("fsync", "gathers"), [("never", True), ("interval", True), ("always", False)])
def test_what_comes_together_is_one_transaction_unless_somebody_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fsync: Fsync, *, gathers: bool
) -> None:
    monkeypatch.setattr(writer, "GATHER_S", WAIT_S)
    log = OrderedLog.open(tmp_path, LogOptions(fsync=fsync, interval_ms=1e6))
    told: list[int] = []
    log.on_durable(told.append)
    for entry in messages(5):
        log.append(entry)
        assert gathers or log.wait(log.written, WAIT_S)
    log.save("acceptor", b"promise")
    settle(log)
    assert told == ([6] if gathers else [1, 2, 3, 4, 5, 6])
    log.append(messages(1, start=5)[0])
    log.close()
    assert told[-1] == 7


def test_a_reader_gets_the_entry_that_holds_the_position(log: OrderedLog) -> None:
    for entry in mixed():
        log.append(entry)
    settle(log)
    assert [entry.position for entry in log.read(2, 5).entries] == [1, 4]
    assert list(read_all(log)) == mixed()


def test_the_first_entry_comes_whatever_its_size(log: OrderedLog) -> None:
    for entry in messages(3, size=1000):
        log.append(entry)
    settle(log)
    chunk = log.read(1, 3, limit_bytes=1)
    assert ([entry.position for entry in chunk.entries], chunk.end) == ([1], 2)


def test_what_is_truncated_is_gone_and_can_be_ordered_otherwise(log: OrderedLog) -> None:
    old, new = messages(6), mixed(start=3)
    for entry in old:
        log.append(entry)
    log.finalize(3)
    log.truncate(3)
    for entry in new:
        log.append(entry)
    settle(log)
    assert list(read_all(log)) == [*old[:3], *new]


def test_an_entry_at_the_wrong_place_is_a_bug_of_the_caller(log: OrderedLog) -> None:
    log.append(messages(1)[0])
    with pytest.raises(AssertionError, match="goes on at 1, not at 2"):
        log.append(messages(1, start=2)[0])


def test_recovery_begins_where_the_group_has_saved_that_it_does(tmp_path: Path) -> None:
    log = OrderedLog.open(tmp_path)
    for entry in messages(10):
        log.append(entry)
    log.finalize(8)
    save_base(log, 4)
    log.close()
    log = OrderedLog.open(tmp_path)
    log.close()
    assert [entry.position for entry in log.recovered.entries] == [4, 5, 6, 7, 8, 9]


def test_the_digest_of_the_order_below_a_position(log: OrderedLog) -> None:
    written = mixed()
    for entry in written:
        log.append(entry)
    settle(log)
    assert log.digest_at(0) == 0
    assert [log.digest_at(entry.end) for entry in written] == [entry.digest for entry in written]
    assert log.digest_at(2) is None, "inside a bundle"
    assert log.digest_at(9) is None


# --- snapshots ---


def with_a_hole(log: OrderedLog) -> None:
    """Positions 0 to 2, then a snapshot at 10, and three more."""
    for entry in messages(4):
        log.append(entry)
    log.finalize(3)
    log.restart_at(10)
    save_base(log, 10)
    for entry in messages(3, start=10):
        log.append(entry)
    settle(log)


def test_a_snapshot_leaves_a_hole_that_readers_are_told_of(log: OrderedLog) -> None:
    with_a_hole(log)
    assert log.read(1, 100).end == 3
    for position in (3, 9):
        with pytest.raises(Hole) as caught:
            log.read(position, 100)
        assert caught.value.first == 10
    assert log.read(10, 100).end == 13
    assert (log.earliest, log.end, log.final) == (0, 13, 10)


def test_a_log_that_begins_with_a_snapshot_begins_there(log: OrderedLog) -> None:
    log.restart_at(10)
    settle(log)
    assert (log.earliest, log.end, log.final) == (10, 10, 10)
    assert log.read(10, 20).entries == ()
    with pytest.raises(Retained) as caught:
        log.read(0, 20)
    assert caught.value.first == 10


def test_snapshots_that_follow_on_each_other_leave_one_hole(log: OrderedLog) -> None:
    log.append(messages(1)[0])
    log.finalize(1)
    log.restart_at(5)
    log.restart_at(9)
    settle(log)
    with pytest.raises(Hole) as caught:
        log.read(2, 20)
    assert caught.value.first == 9


def test_the_next_life_keeps_a_snapshot_that_the_group_has_taken_over(tmp_path: Path) -> None:
    log = OrderedLog.open(tmp_path)
    with_a_hole(log)
    log.close()
    log = OrderedLog.open(tmp_path)
    log.close()
    assert log.recovered.entries == tuple(messages(3, start=10))
    assert log.recovered.final == 10


@pytest.mark.parametrize(("base", "end"), [(None, 2), (1, 2), (7, 7)])
def test_a_snapshot_that_the_group_has_not_taken_over_is_undone(tmp_path: Path, base: int | None, end: int) -> None:
    log = OrderedLog.open(tmp_path)
    for entry in messages(2):
        log.append(entry)
    log.finalize(2)
    if base == 7:
        log.restart_at(7)
    if base is not None:
        save_base(log, base)
    log.restart_at(10)
    for entry in messages(2, start=10):
        log.append(entry)
    log.close()
    log = OrderedLog.open(tmp_path)
    assert log.recovered.entries == tuple(messages(2)[base or 0 :])
    assert (log.end, log.final, log.recovered.final) == (end, end, end)
    log.append(entries(view(2), start=end)[0])
    log.close()


# --- whose directory it is ---


def test_one_process_at_a_time(tmp_path: Path) -> None:
    log = OrderedLog.open(tmp_path)
    with pytest.raises(NotFit, match=r"in use by another process \(\d+\); stop that one first"):
        OrderedLog.open(tmp_path)
    log.close()
    OrderedLog.open(tmp_path).close()


def test_a_file_in_the_place_of_the_directory_is_named(tmp_path: Path) -> None:
    (tmp_path / "log").touch()
    with pytest.raises(NotFit, match="log/segments: cannot be made"):
        OrderedLog.open(tmp_path / "log")
