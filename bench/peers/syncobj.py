"""PySyncObj (Raft in Python) on one machine: a process for each member, in a network namespace of its own."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.metadata import version as version_of
from importlib.util import find_spec

from tools.wan.bridge import joined
from tools.wan.namespaces import why_unfit

from bench.peers.loads import Load, Outcome, run
from ordercast.core.errors import NotFit

PORT = 7500
WINDOW = 3000
WINDOW_BYTES = 4 << 20
"""Own messages under way, flat out; more do not make it faster."""

TUNED_PERIOD_MS = 5.0
"""Its tick, and how often its leader sends: 50 and 100 ms by default."""


def why_missing() -> str | None:
    """What this machine lacks to run it, and how to get it; None if it has all."""
    if find_spec("pysyncobj") is None:
        return "PySyncObj is not installed: pip install pysyncobj"
    return why_unfit()


def version() -> str:
    """As it is installed."""
    return version_of("pysyncobj")


class Cluster:
    """Makes a new cluster for each load: its members are the processes of the load themselves."""

    def __init__(self, period_ms: float = 0.0) -> None:
        """Both its periods; 0 leaves them as they are."""
        self._period_ms = period_ms

    def run(self, load: Load) -> Outcome:
        """Put a load on it."""
        if (missing := why_missing()) is not None:
            raise NotFit(missing)
        names = [f"p{member}" for member in range(load.members)]
        with joined(names) as claimed:
            addresses = ",".join(f"{claimed.address(member)}:{PORT}" for member in range(load.members))

            def command(member: int, arguments: Sequence[str]) -> list[str]:
                inside = ["ip", "netns", "exec", claimed.namespace(names[member])]
                window = min(WINDOW, WINDOW_BYTES // load.size_bytes)
                own = (str(self._period_ms), str(window), addresses)
                return [*inside, sys.executable, "-m", "bench.peers.syncobj_load", *own, *arguments]

            return run(load, command)

    def processor_s(self) -> float | None:
        """It has no daemons."""
        return None
