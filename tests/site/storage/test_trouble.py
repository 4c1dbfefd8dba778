"""A disk that is full, or broken: a clear state, nothing lost that was durable, and on it goes once there is room."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench.crashing.vfs import watched

from ordercast.core.errors import NotFit
from ordercast.site.storage import writer
from ordercast.site.storage.options import LogOptions
from ordercast.site.storage.ordered_log import OrderedLog, machine_now
from ordercast.site.storage.writer import LogState
from tests.site.storage.entries import messages, read_all
from tests.site.storage.faulty_disk import FaultyDisk

WAIT_S = 60.0
EAGER = LogOptions(retry_ms=1.0)
CHECKPOINT_BYTES = 1 << 20


@pytest.fixture
def disk() -> Iterator[FaultyDisk]:
    disk = FaultyDisk()
    with watched(disk):
        yield disk


def states_of(log: OrderedLog) -> list[tuple[LogState, str]]:
    told: list[tuple[LogState, str]] = []
    log.on_state(lambda state, reason: told.append((state, reason)))
    return told


@pytest.mark.parametrize("writes_left", [0, 1, 3])
def test_a_full_disk_keeps_what_is_durable_and_takes_the_rest_later(
    tmp_path: Path, disk: FaultyDisk, writes_left: int
) -> None:
    log = OrderedLog(tmp_path, EAGER, machine_now)
    told = states_of(log)
    entries = messages(9, size=5000)
    for entry in entries[:3]:
        log.append(entry)
    log.turn()
    disk.fill_up(writes_left)
    for entry in entries[3:6]:
        log.append(entry)
    for _ in range(3):
        log.turn()
    assert log.state is LogState.FULL
    assert (log.durable, log.end, list(read_all(log))) == (3, 3, entries[:3])
    for entry in entries[6:]:
        log.append(entry)
    disk.make_room()
    log.turn()
    log.turn()
    assert log.durable == log.written == 9
    assert list(read_all(log)) == entries
    assert [state for state, _ in told] == [LogState.FULL, LogState.ACCEPTING]
    assert told[0][1].endswith("the disk takes no more (database or disk is full); free some space")
    log.close()


def test_the_writer_resumes_by_itself(tmp_path: Path, disk: FaultyDisk) -> None:
    log = OrderedLog.open(tmp_path, EAGER)
    disk.fill_up()
    log.append(messages(1)[0])
    while disk.refused < 3:
        assert not log.wait(1, 0.01)
    disk.make_room()
    assert log.wait(1, WAIT_S)
    assert log.state is LogState.ACCEPTING
    log.close()


def test_a_log_on_a_full_disk_can_be_closed_and_opened_again(tmp_path: Path, disk: FaultyDisk) -> None:
    log = OrderedLog.open(tmp_path)
    entries = messages(2)
    log.append(entries[0])
    assert log.wait(1, WAIT_S)
    disk.fill_up()
    log.append(entries[1])
    while log.state is LogState.ACCEPTING:
        log.wait(2, 0.01)
    log.close()
    with pytest.raises(NotFit, match=r"log\.sqlite: the disk takes no more .*; free some space"):
        OrderedLog.open(tmp_path)
    disk.make_room()
    log = OrderedLog.open(tmp_path)
    assert log.recovered.entries == (entries[0],)
    log.close()


def test_a_sync_that_fails_is_the_end_of_this_life(tmp_path: Path, disk: FaultyDisk) -> None:
    """What the system has not written then, it may say later that it has."""
    log = OrderedLog.open(tmp_path)
    told = states_of(log)
    entries = messages(2)
    log.append(entries[0])
    assert log.wait(1, WAIT_S)
    disk.sync_error = sqlite3.SQLITE_IOERR_FSYNC
    log.append(entries[1])
    with pytest.raises(NotFit, match=r"cannot be written .*; check the disk, then start the site again"):
        log.wait(2, WAIT_S)
    assert log.state is LogState.FAILED
    assert log.durable == 1
    disk.sync_error = 0
    log.append(messages(1, start=2)[0])
    log.close()
    assert [state for state, _ in told] == [LogState.FAILED]
    log = OrderedLog.open(tmp_path)
    assert log.recovered.entries[:1] == (entries[0],)
    log.close()


def test_a_checkpoint_that_finds_no_room_costs_nothing(
    tmp_path: Path, disk: FaultyDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it would copy is safe where it is."""
    monkeypatch.setattr(writer, "CHECKPOINT_BYTES", CHECKPOINT_BYTES)
    log = OrderedLog.open(tmp_path)
    disk.fill_up(only=".sqlite")
    entries = messages(4, size=CHECKPOINT_BYTES // 2)
    for entry in entries:
        log.append(entry)
        assert log.wait(log.written, WAIT_S)
    assert log.state is LogState.ACCEPTING
    assert disk.refused
    disk.make_room()
    log.close()
    log = OrderedLog.open(tmp_path)
    assert list(log.recovered.entries) == entries
    log.close()


# --- a real disk that is full ---


def may_mount(directory: Path) -> bool:
    """Whether a small file system can be made here."""
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=3m", "ordercast", directory], capture_output=True, check=False
    )
    return done.returncode == 0


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    directory = tmp_path / "small"
    directory.mkdir()
    if os.geteuid() != 0 or not may_mount(directory):
        pytest.skip("needs root, to mount a file system of three megabytes")
    yield directory
    subprocess.run(["umount", directory], check=True)


def test_a_real_disk_that_is_full(small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(2_600_000))
    log = OrderedLog.open(small_disk / "log", EAGER)
    entries = messages(25, size=20_000)
    for entry in entries:
        log.append(entry)
    while log.state is LogState.ACCEPTING:
        assert not log.wait(25, 0.01)
    assert log.state is LogState.FULL
    kept = log.durable
    assert list(read_all(log)) == entries[:kept]
    ballast.unlink()
    assert log.wait(25, WAIT_S)
    assert list(read_all(log)) == entries
    log.close()
    log = OrderedLog.open(small_disk / "log")
    assert list(log.recovered.entries) == entries
    log.close()


# --- files that are not what they were ---


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    (tmp_path / "log.sqlite").write_text("hello, " * 1000)
    with pytest.raises(NotFit, match=r"log\.sqlite: cannot be used \(file is not a database\)"):
        OrderedLog.open(tmp_path)


def test_another_database_is_left_alone(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "log.sqlite")
    connection.execute("CREATE TABLE cats (name)")
    connection.close()
    with pytest.raises(NotFit, match=r"log\.sqlite: is no ordered log; name another directory"):
        OrderedLog.open(tmp_path)


def changed(directory: Path, statement: str) -> None:
    connection = sqlite3.connect(directory / "log.sqlite")
    connection.execute(statement)
    connection.commit()
    connection.close()


def test_a_log_of_another_version_is_left_alone(tmp_path: Path) -> None:
    OrderedLog.open(tmp_path).close()
    changed(tmp_path, "PRAGMA user_version = 9")
    with pytest.raises(NotFit, match=r"another version of ordercast \(format 9, not 1\)"):
        OrderedLog.open(tmp_path)


def with_ten_messages(directory: Path) -> None:
    log = OrderedLog.open(directory)
    for entry in messages(10):
        log.append(entry)
    log.close()


def test_positions_that_are_missing_are_named(tmp_path: Path) -> None:
    with_ten_messages(tmp_path)
    changed(tmp_path, "DELETE FROM entries WHERE position BETWEEN 3 AND 5")
    with pytest.raises(NotFit, match="positions 3 to 5 are missing; restore the directory from a copy"):
        OrderedLog.open(tmp_path)


def test_a_row_that_is_damaged_is_named(tmp_path: Path) -> None:
    with_ten_messages(tmp_path)
    changed(tmp_path, "UPDATE entries SET entry = zeroblob(length(entry)) WHERE position = 7")
    with pytest.raises(NotFit, match="position 7 is damaged; restore the directory from a copy"):
        OrderedLog.open(tmp_path)


def test_a_site_that_has_had_all_its_lives_says_so(tmp_path: Path) -> None:
    OrderedLog.open(tmp_path).close()
    changed(tmp_path, "UPDATE standing SET lives = 4096")
    with pytest.raises(NotFit, match="has had all its 4096 lives"):
        OrderedLog.open(tmp_path)
