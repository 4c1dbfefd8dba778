"""What this machine can do at most with the same bytes: into SQLite at every site, and through sockets, and no more.

`python -m bench.live.bounds WORK SECONDS` is one of the processes that try; it waits for a line on its input.
"""

from __future__ import annotations

import itertools
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from bench.live.cluster import BUNDLE_BYTES
from ordercast.records.log_database import CHECKPOINT_BYTES, connect, transaction

SECONDS = 1.5

ENTRIES = 16
"""In one transaction."""


class Bound(NamedTuple):
    """Messages per second that a group cannot exceed here."""

    members: int
    size_bytes: int
    sqlite_per_s: float
    """If every site did nothing but insert them into SQLite, all on this disk and without syncs but at checkpoints."""
    sockets_per_s: float
    """If they did nothing but travel: to a site, from there to the others, and from each to its client."""

    def __str__(self) -> str:
        return (
            f"{self.members} sites, {self.size_bytes} bytes: this machine can put {self.sqlite_per_s:,.0f}/s into "
            f"SQLite at every site, or get {self.sockets_per_s:,.0f}/s through sockets"
        )

    @property
    def per_s(self) -> float:
        """The lower of the two."""
        return min(self.sqlite_per_s, self.sockets_per_s)


def measured(members: int, size_bytes: int) -> Bound:
    """Let a process for each site try."""
    sqlite, sockets = _tried("sqlite", members), _tried("sockets", members)
    return Bound(members, size_bytes, min(sqlite) / size_bytes, sum(sockets) / (2 * members * size_bytes))


def _tried(work: str, members: int) -> list[float]:
    """Bytes per second of each process."""
    argv = [sys.executable, "-m", "bench.live.bounds", work, str(SECONDS)]
    processes = [
        subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(members)
    ]
    try:
        for process in processes:
            assert process.stdout is not None
            process.stdout.readline()
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        return [float(process.communicate()[0]) / SECONDS for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait()


# --- one of the processes ---


def _insert(seconds: float, begin: Callable[[], None]) -> int:
    """Into a table like that of the log, with a checkpoint now and then; what is old goes, as when it is sealed."""
    entry, size = os.urandom(BUNDLE_BYTES), 0
    with TemporaryDirectory(prefix="ordercast-bound-") as directory:
        connection = connect(Path(directory) / "raw.sqlite")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("CREATE TABLE entries (position INTEGER PRIMARY KEY, entry BLOB NOT NULL)")
        begin()
        until_s = time.monotonic() + seconds
        for number in itertools.count(1):
            with transaction(connection):
                connection.executemany("INSERT INTO entries (entry) VALUES (?)", [(entry,)] * ENTRIES)
            size += ENTRIES * len(entry)
            if number * ENTRIES * len(entry) % CHECKPOINT_BYTES == 0:
                connection.execute("DELETE FROM entries")
                connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            if time.monotonic() >= until_s:
                break
        connection.close()
    return size


def _travel(seconds: float, begin: Callable[[], None]) -> int:
    """Over the loopback, from one thread to another."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        out = socket.create_connection(server.getsockname())
        into, _ = server.accept()
    begin()
    until_s = time.monotonic() + seconds

    def send() -> None:
        data = os.urandom(BUNDLE_BYTES)
        while time.monotonic() < until_s:
            out.sendall(data)
        out.close()

    thread = threading.Thread(target=send)
    thread.start()
    size, buffer = 0, bytearray(BUNDLE_BYTES)
    while count := into.recv_into(buffer):
        size += count
    thread.join()
    into.close()
    return size


def _begin() -> None:
    print("ready", flush=True)
    sys.stdin.readline()


if __name__ == "__main__":
    work, seconds = sys.argv[1:]
    print({"sqlite": _insert, "sockets": _travel}[work](float(seconds), _begin))
