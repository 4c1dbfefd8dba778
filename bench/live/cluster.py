"""A cluster of our own daemons: its file, its certificates, and a process for each site."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from bench.peers.loads import Load, Outcome, processor_s, run
from ordercast.core.errors import NotFit
from ordercast.site.keys import authority

PORT = 7400
BEGIN_S = 30.0


class Choice(NamedTuple):
    """Which of our own: what stands in the cluster file."""

    ordering: str = "adaptive"
    fsync: str = "interval"
    tls: bool = False
    options: tuple[tuple[str, Any], ...] = ()
    trace: bool = False

    def __str__(self) -> str:
        return f"{self.ordering}, fsync {self.fsync}, TLS {'on' if self.tls else 'off'}"


class Host(NamedTuple):
    """Where a site runs."""

    name: str
    address: str
    facility: str = "default"
    inside: tuple[str, ...] = ()
    """What its command line begins with, to be in its namespace."""


class LiveCluster:
    """Daemons that run."""

    def __init__(self, directory: Path, hosts: Sequence[Host], daemons: Sequence[subprocess.Popen[bytes]]) -> None:
        self.directory = directory
        self.daemons = tuple(daemons)
        self._hosts = hosts
        self._groups = 0

    def socket(self, name: str) -> Path:
        """Of a site, for its participants."""
        return self.directory / "run" / f"{name}.sock"

    def run(self, load: Load, bundle: int = 1, window: int = 1) -> Outcome:
        """Put a load on it: a client at each site, in a group of their own."""
        self._groups += 1
        group = f"load-{self._groups}"

        def command(member: int, arguments: Sequence[str]) -> list[str]:
            own = (str(self.socket(self._hosts[member].name)), group, str(bundle), str(window), str(load.spread))
            return [sys.executable, "-m", "bench.live.client", *own, *arguments]

        return run(load, command)

    def views(self) -> int:
        """How many views some site has installed so far."""
        return max(journal.read_text().count('"event": "view"') for journal in self.directory.glob("*.journal"))

    def processor_s(self) -> float:
        """Processor time that all daemons have taken so far."""
        return sum(processor_s(daemon.pid) for daemon in self.daemons)


@contextlib.contextmanager
def cluster(choice: Choice, hosts: Sequence[Host]) -> Iterator[LiveCluster]:
    """Daemons for as long as the block lasts. What they write to their journal is lost unless one fails."""
    with contextlib.ExitStack() as stack:
        directory = Path(stack.enter_context(TemporaryDirectory(prefix="ordercast-live-")))
        file = directory / "cluster.toml"
        file.write_text(_cluster_file(choice, hosts))
        if choice.tls:
            files = authority.init(directory / "keys", "bench")
            for host in hosts:
                authority.issue(files, host.name)
        daemons = []
        for host in hosts:
            journal = stack.enter_context((directory / f"{host.name}.journal").open("wb"))
            argv = [*host.inside, sys.executable, "-m", "ordercast", "up", str(file), "--site", host.name]
            daemon = subprocess.Popen(argv, stderr=journal)
            stack.callback(daemon.wait)
            stack.callback(daemon.kill)
            daemons.append(daemon)
        group = LiveCluster(directory, hosts, daemons)
        _await(lambda: all(group.socket(host.name).exists() for host in hosts), group)
        yield group


def _cluster_file(choice: Choice, hosts: Sequence[Host]) -> str:
    def table(name: str, values: dict[str, Any]) -> str:
        return f"{name}\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items())

    group: dict[str, Any] = {"ordering": choice.ordering}
    security = {"keys": "keys"} if choice.tls else {"tls": False}
    parts = [
        table("", {"cluster": "bench", "trace": choice.trace}),
        table("[security]", security),
        table("[group]", group),
        table("[group.options]", dict(choice.options)),
        table("[log]", {"fsync": choice.fsync}),
    ]
    for host in hosts:
        parts.append(table("[[site]]", {"name": host.name, "address": host.address, "facility": host.facility}))
    return "\n".join(parts)


def _await(done: Callable[[], bool], group: LiveCluster) -> None:
    until_s = time.monotonic() + BEGIN_S
    while not done():
        if any(daemon.poll() is not None for daemon in group.daemons) or time.monotonic() > until_s:
            raise NotFit(f"the daemons do not begin: {_last_words(group.directory)}")
        time.sleep(0.05)


def _last_words(directory: Path) -> str:
    lines = [line for journal in sorted(directory.glob("*.journal")) for line in journal.read_text().splitlines()[-1:]]
    return "; ".join(lines) or "they say nothing"

