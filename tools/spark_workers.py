"""The Python workers of Spark on this machine: to find them, and to kill one in the middle of a job."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

DAEMON = b"pyspark.daemon"


def python_workers(ancestor: int) -> list[int]:
    """The processes below this one that run tasks; not the daemons that they are forked from."""
    parents = dict(_parents())
    daemons = [pid for pid in parents if DAEMON in _command_of(pid)]
    workers = [pid for pid in daemons if parents[pid] in daemons]
    return [pid for pid in workers if ancestor in _line_of(pid, parents)]


def kill_a_worker(ancestor: int) -> int | None:
    """SIGKILL for one of them, the youngest; None if there is none."""
    workers = python_workers(ancestor)
    if not workers:
        return None
    os.kill(workers[-1], signal.SIGKILL)
    return workers[-1]


def _parents() -> Iterator[tuple[int, int]]:
    for folder in sorted(Path("/proc").glob("[0-9]*"), key=lambda folder: int(folder.name)):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        yield int(folder.name), int(fields[1])


def _command_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def _line_of(pid: int, parents: dict[int, int]) -> list[int]:
    line = [pid]
    while line[-1] in parents:
        line.append(parents[line[-1]])
    return line
