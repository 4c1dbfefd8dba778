"""The SQLite side of the log: batches of requests, each one transaction. For one thread at a time."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import assert_never
from zlib import crc32

import msgspec
from msgspec import Struct

from ordercast.protocols.groups.building import needed_from
from ordercast.records.log_database import FILE, connect, create_or_check, end_of, final_of, in_one_line, transaction
from ordercast.site.storage.requests import Append, Drop, Finalize, Request, RestartAt, Save, Seal, Truncate


class Standing(Struct):
    """Where the log stands, as far as it is committed."""

    end: int = 0
    """The next position."""
    final: int = 0
    base: int = 0
    """The next life of the site needs everything from here on."""


class Store:
    """What is committed is in `standing`."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / FILE
        with in_one_line(self.path):
            self.connection = connect(self.path)
            create_or_check(self.connection, self.path)
            self.standing = self._standing()
        self._synchronous = ""
        self._unsynced = True
        """Whether something may be committed that is not on disk."""

    def close(self) -> None:
        """Copy what is in the write-ahead log into the file."""
        self.connection.close()

    def commit(self, requests: Sequence[Request], sync: bool) -> None:
        """Perform them all, in order, or none. With `sync` they are on disk afterwards, and all before them."""
        self._set_synchronous("FULL" if sync else "NORMAL")
        with transaction(self.connection):
            standing = _Batch(self.connection, self.standing).perform(requests)
            if sync and self._unsynced:
                self._touch()
        self.standing = standing
        self._unsynced = not sync

    def sync(self) -> None:
        """Force what is committed to the disk."""
        self.commit((), sync=True)

    def _touch(self) -> None:
        """A transaction that is synced syncs those before it; one that changes nothing is not even written."""
        self.connection.execute("UPDATE standing SET touched = touched + 1")

    def checkpoint(self) -> None:
        """Copy what is in the write-ahead log into the file, so that it can begin anew."""
        self.connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def begin_life(self) -> int:
        """The number of this life of the site, from 0; on disk."""
        with in_one_line(self.path):
            self._set_synchronous("FULL")
            with transaction(self.connection):
                _undo_unfinished_restarts(self.connection, self.standing.base)
                self.connection.execute("UPDATE standing SET lives = lives + 1")
            self.standing = self._standing()
            (lives,) = self.connection.execute("SELECT lives FROM standing").fetchone()
        return int(lives) - 1

    def saved(self) -> dict[str, bytes]:
        """All that has been saved."""
        return saved_in(self.connection)

    def _set_synchronous(self, wanted: str) -> None:
        if wanted != self._synchronous:
            self.connection.execute(f"PRAGMA synchronous = {wanted}")
            self._synchronous = wanted

    def _standing(self) -> Standing:
        return Standing(end_of(self.connection), final_of(self.connection), needed_from(self.saved()))


class _Batch:
    """One transaction. Appends are inserted together; what is overwritten in the same batch is not written first."""

    def __init__(self, connection: sqlite3.Connection, standing: Standing) -> None:
        self._connection = connection
        self._execute = connection.execute
        self._standing = Standing(standing.end, standing.final, standing.base)
        self._final_before = standing.final
        self._appends: list[tuple[int, int, int, int, bytes]] = []
        self._saves: dict[str, bytes] = {}

    def perform(self, requests: Sequence[Request]) -> Standing:
        for request in requests:
            self._take(request)
        self._insert_appends()
        standing = self._standing
        if standing.final != self._final_before:
            self._execute("UPDATE standing SET final = ?", (standing.final,))
        for item in self._saves.items():
            self._execute("INSERT OR REPLACE INTO saved VALUES (?, ?)", item)
        if self._saves:
            standing.base = needed_from(saved_in(self._connection))
        return standing

    def _take(self, request: Request) -> None:
        match request:
            case Append(position=position, end=end, wall_us=wall_us, data=data):
                self._appends.append((position, end, wall_us, crc32(data), data))
                self._standing.end = end
            case Finalize(below=below):
                self._standing.final = below
            case Save(key=key, value=value):
                self._saves[key] = value
            case Truncate(position=position):
                self._truncate(position)
            case RestartAt(position=position):
                self._restart_at(position)
            case Seal(segment=segment):
                self._execute("INSERT INTO segments VALUES (?, ?, ?, ?, ?)", msgspec.structs.astuple(segment))
                self._execute("DELETE FROM entries WHERE position < ?", (segment.stop,))
            case Drop(segments=segments):
                for segment in segments:
                    self._execute("DELETE FROM segments WHERE first = ?", (segment.first,))
                    self._execute("UPDATE standing SET dropped = ?", (segment.stop,))
            case _:
                assert_never(request)

    def _insert_appends(self) -> None:
        if self._appends:
            self._connection.executemany("INSERT INTO entries VALUES (?, ?, ?, ?, ?)", self._appends)
            self._appends = []

    def _truncate(self, position: int) -> None:
        assert position >= self._standing.final, "what is final is never truncated"
        self._insert_appends()
        self._execute("DELETE FROM entries WHERE position >= ?", (position,))
        self._standing.end = min(self._standing.end, position)

    def _restart_at(self, position: int) -> None:
        """What is tentative before the snapshot is void with everything else that is missing."""
        assert position >= self._standing.final, "a snapshot is taken of what comes later"
        self._truncate(self._standing.final)
        end = self._standing.end
        if end < position:
            joined = self._execute("UPDATE holes SET stop = ? WHERE stop = ?", (position, end)).rowcount
            if not joined:
                self._execute("INSERT INTO holes VALUES (?, ?)", (end, position))
        self._standing.end = self._standing.final = position


def saved_in(connection: sqlite3.Connection) -> dict[str, bytes]:
    """All that has been saved."""
    return dict(connection.execute("SELECT key, value FROM saved ORDER BY key").fetchall())


def _undo_unfinished_restarts(connection: sqlite3.Connection, base: int) -> None:
    """A snapshot counts once the group has saved that it begins there; until then the log ends where it ended before.

    No other site has been told of what came after it: so much is durable only once the group has saved.
    """
    row = connection.execute("SELECT start, stop FROM holes WHERE stop > ? ORDER BY start LIMIT 1", (base,)).fetchone()
    if row is None:
        return
    start, stop = row
    connection.execute("DELETE FROM entries WHERE position >= ?", (stop,))
    connection.execute("DELETE FROM segments WHERE first >= ?", (stop,))
    connection.execute("DELETE FROM holes WHERE start >= ?", (start,))
    if start < base:
        connection.execute("INSERT INTO holes VALUES (?, ?)", (start, base))
    connection.execute("UPDATE standing SET final = ?", (max(start, base),))
