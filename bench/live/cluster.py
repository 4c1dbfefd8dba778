"""A cluster of our own daemons under load, with a client process at each site."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from tools.daemons import Daemons, Host

from bench.peers.loads import Load, Outcome, processor_s, run
from ordercast.core.errors import NotFit

PORT = 7400
BEGIN_S = 30.0

BUNDLE_BYTES = 128 << 10
BUNDLE_MESSAGES_MAX = 250
"""Flat out a client multicasts so much in one call: half of what its library puts into a bundle ..."""

WINDOW_BYTES = 4 << 20
WINDOW_MESSAGES_MAX = 8000
"""... and has so much under way."""


class Choice(NamedTuple):
    """Which of our own: what stands in the cluster file."""

    ordering: str = "adaptive"
    fsync: str = "interval"
    tls: bool = False
    real_time: bool = False
    """Whether the daemons have real-time priority: Corosync gives itself the highest there is."""
    options: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        priority = ", real time" if self.real_time else ""
        return f"{self.ordering}, fsync {self.fsync}, TLS {'on' if self.tls else 'off'}{priority}"

    @property
    def tables(self) -> str:
        """In the cluster file."""
        options = "".join(f"{key} = {json.dumps(value)}\n" for key, value in self.options)
        group = f'[group]\nordering = "{self.ordering}"\n[group.options]\n{options}'
        return f'{group}[log]\nfsync = "{self.fsync}"\n'


class LiveCluster:
    """Daemons that run."""

    def __init__(self, daemons: Daemons) -> None:
        self._daemons = daemons
        self._groups = 0

    def run(self, load: Load) -> Outcome:
        """Put a load on it: a client at each site, in a group of their own."""
        self._groups += 1
        group = f"load-{self._groups}"
        bundle = max(1, min(BUNDLE_BYTES // load.size_bytes, BUNDLE_MESSAGES_MAX))
        window = min(WINDOW_BYTES // load.size_bytes, WINDOW_MESSAGES_MAX)
        own = (group, str(bundle), str(window), str(load.spread))

        def command(member: int, arguments: Sequence[str]) -> list[str]:
            socket = self._daemons.socket(self._daemons.names[member])
            return [sys.executable, "-m", "bench.live.client", str(socket), *own, *arguments]

        views = self._views()
        outcome = run(load, command)
        return outcome._replace(view_changes=self._views() - views)

    def _views(self) -> int:
        """How many some site has installed so far."""
        return max(self._daemons.count(name, "view") for name in self._daemons.names)

    def processor_s(self) -> float | None:
        """Processor time that all daemons have taken so far."""
        return sum(processor_s(process.pid) for process in self._daemons.processes.values())


@contextlib.contextmanager
def cluster(choice: Choice, hosts: Sequence[Host]) -> Iterator[LiveCluster]:
    """Daemons for as long as the block lasts."""
    with contextlib.ExitStack() as stack:
        directory = Path(stack.enter_context(TemporaryDirectory(prefix="ordercast-live-")))
        names = [f"s{index}" for index in range(len(hosts))]
        sites = dict.fromkeys(names, "here")
        placed = dict(zip(names, hosts, strict=True))
        options = ("--real-time",) if choice.real_time else ()
        daemons = Daemons(directory, sites, choice.tables, hosts=placed, tls=choice.tls, options=options)
        stack.callback(daemons.close)
        daemons.up()
        _await_begin(daemons)
        yield LiveCluster(daemons)


def _await_begin(daemons: Daemons) -> None:
    """Until all can be called, and are in one view."""
    until_s = time.monotonic() + BEGIN_S
    while not all(_is_ready(daemons, name) for name in daemons.names):
        ended = any(process.poll() is not None for process in daemons.processes.values())
        if ended or time.monotonic() > until_s:
            last_words = [json.dumps(daemons.journal(name)[-1:]) for name in daemons.names]
            raise NotFit(f"the daemons do not begin: {' '.join(last_words)}")
        time.sleep(0.1)


def _is_ready(daemons: Daemons, name: str) -> bool:
    views = [line for line in daemons.journal(name) if line["event"] == "view"]
    return daemons.socket(name).exists() and bool(views) and len(views[-1]["members"]) == len(daemons.names)
