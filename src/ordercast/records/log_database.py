"""The SQLite file of a log: how it is opened, what tables it has, and how far it is by them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from ordercast.core.errors import NotFit

FILE = "log.sqlite"
SEGMENTS = "segments"

APPLICATION = 0x6F636C67
"""The letters `oclg`, in the header of the file."""

VERSION = 1
"""Of the tables below."""

PAGE_BYTES = 16384
"""A message of that size takes one page or two; larger pages cost more where messages come one by one."""

CHECKPOINT_BYTES = 32 << 20
"""After so much has been written, the write-ahead log is copied into the file. By then most of it has been sealed, and
its pages written over, so that they are copied once."""

TABLES = """
CREATE TABLE entries (position INTEGER PRIMARY KEY, end INTEGER NOT NULL, wall_us INTEGER NOT NULL,
                      check_sum INTEGER NOT NULL, entry BLOB NOT NULL);
CREATE TABLE standing (one INTEGER PRIMARY KEY CHECK (one = 1), lives INTEGER NOT NULL, final INTEGER NOT NULL,
                       dropped INTEGER NOT NULL, touched INTEGER NOT NULL);
CREATE TABLE saved (key TEXT PRIMARY KEY, value BLOB NOT NULL);
CREATE TABLE holes (start INTEGER PRIMARY KEY, stop INTEGER NOT NULL);
CREATE TABLE segments (first INTEGER PRIMARY KEY, stop INTEGER NOT NULL, file TEXT NOT NULL, bytes INTEGER NOT NULL,
                       newest_wall_us INTEGER NOT NULL);
INSERT INTO standing VALUES (1, 0, 0, 0, 0);
"""


class Segment(Struct, frozen=True, gc=False):
    """A sealed segment, as the manifest lists it."""

    first: int
    stop: int
    """The position after its last."""
    file: str
    bytes: int
    newest_wall_us: int


def connect(path: Path) -> sqlite3.Connection:
    """A connection in autocommit mode, for one thread at a time."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=60.0)
    connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    return connection


def create_or_check(connection: sqlite3.Connection, path: Path) -> None:
    """The tables are there, and of this version."""
    application, version = _marks(connection)
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if version == 0 and tables == 0:
        connection.execute("PRAGMA synchronous = FULL")
        with transaction(connection):
            for statement in (*TABLES.split(";")[:-1], f"PRAGMA application_id = {APPLICATION}"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {VERSION}")
    else:
        _check(application, version, path)


def _check(application: int, version: int, path: Path) -> None:
    if application != APPLICATION:
        raise NotFit(f"{path}: is no ordered log; name another directory")
    if version != VERSION:
        raise NotFit(f"{path}: was written by another version of ordercast (format {version}, not {VERSION})")


def connect_to_read(path: Path) -> sqlite3.Connection:
    """A connection that writes nothing, beside the daemon that does, or after it. Raises `NotFit`."""
    if not path.is_file():
        raise NotFit(f"{path.parent}: is no ordered log (it has no {path.name}); name a site's log directory")
    with in_one_line(path):
        connection = _read_only(path, "")
        try:
            application, version = _marks(connection)
        except sqlite3.OperationalError:
            connection.close()
            if path.with_name(f"{path.name}-wal").exists():
                raise
            connection = _read_only(
                path, "&immutable=1"
            )  # no daemon, and a directory in which SQLite can make no files
            application, version = _marks(connection)
    _check(application, version, path)
    return connection


def _read_only(path: Path, more: str) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?mode=ro{more}"
    return sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False, timeout=60.0)


def _marks(connection: sqlite3.Connection) -> tuple[int, int]:
    """What kind of file it is, and of which version."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    return application, version


# --- how far it is ---


def end_of(connection: sqlite3.Connection) -> int:
    """The next position."""
    tail = "(SELECT end FROM entries ORDER BY position DESC LIMIT 1)"
    ends = (tail, "max(stop) FROM segments", "max(stop) FROM holes", "dropped FROM standing")
    return max(connection.execute(f"SELECT {each}").fetchone()[0] or 0 for each in ends)


def final_of(connection: sqlite3.Connection) -> int:
    """Positions below this one are final."""
    (final,) = connection.execute("SELECT final FROM standing").fetchone()
    return int(min(final, end_of(connection)))


# --- transactions and errors ---


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All of it, or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


REFUSED = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMSIZE)
"""Nothing was written, and may be later. After any other error, a failed sync above all, what the operating system
says about the file cannot be relied on until it is opened again."""


def is_refused(error: sqlite3.Error) -> bool:
    """Whether the disk takes no more."""
    return getattr(error, "sqlite_errorcode", None) in REFUSED  # errors of the Python module itself have no code


@contextmanager
def in_one_line(path: Path) -> Iterator[None]:
    """Errors of the database as `NotFit`, with what to do."""
    try:
        yield
    except sqlite3.Error as error:
        if is_refused(error):
            raise NotFit(f"{path}: the disk takes no more ({error}); free some space") from error
        raise NotFit(f"{path}: cannot be used ({error}); check that it is whole and may be written") from error
