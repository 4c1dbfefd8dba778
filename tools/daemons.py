"""A cluster of real daemons on this machine: processes of `ordercast up`, for tests, demonstrations and trials."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ordercast.site.keys import authority
from ordercast.site.keys.files import KeyFiles

PATIENCE_S = 60.0

ORDERCAST = (sys.executable, "-m", "ordercast")


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on."""
    probes = [socket.socket() for _ in range(count)]
    for probe in probes:
        probe.bind(("127.0.0.1", 0))
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports


class Host(NamedTuple):
    """Where a site listens, and what its command line begins with to be there, as in a network namespace."""

    address: str
    inside: tuple[str, ...] = ()


class Daemons:
    """The sites of one cluster on this machine."""

    def __init__(
        self,
        directory: Path,
        sites: dict[str, str],
        tables: str = "",
        metrics: dict[str, str] | None = None,
        *,
        hosts: dict[str, Host] | None = None,
        tls: bool = True,
        options: Sequence[str] = (),
    ) -> None:
        """The sites with their facilities; what else is in the cluster file; and where sites serve their figures.

        Without `hosts` they listen on the loopback. `options` are those of `ordercast up`.
        """
        self.directory = directory
        self.sites = dict(sites)
        names = self.names
        self.file = directory / "cluster.toml"
        self.ports = dict(zip(names, free_ports(len(names)), strict=True))
        self._hosts = hosts or {}
        self._tls = tls
        self._options = options
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self._tables = tables
        self._metrics = metrics or {}
        if tls:
            files = authority.init(directory / "keys", "orders")
            for name in names:
                authority.issue(files, name)
        self.write_file()

    @property
    def names(self) -> tuple[str, ...]:
        """Of all sites."""
        return tuple(self.sites)

    def add(self, name: str, facility: str) -> None:
        """One more site in the file, with a certificate. Sites that run know it once they are started again."""
        self.sites[name] = facility
        (self.ports[name],) = free_ports(1)
        if self._tls:
            authority.issue(KeyFiles(self.directory / "keys"), name)
        self.write_file()

    def write_file(self) -> None:
        """The cluster file, with the ports as they are now."""
        sites = "".join(map(self._site_table, self.names))
        security = "[security]\n" + ('keys = "keys"\n' if self._tls else "tls = false\n")
        self.file.write_text(f'cluster = "orders"\n{security}\n{sites}\n{self._tables}', encoding="utf-8")

    def _site_table(self, name: str) -> str:
        address = self._hosts[name].address if self._hosts else f"127.0.0.1:{self.ports[name]}"
        lines = [f'name = "{name}"', f'facility = "{self.sites[name]}"', f'address = "{address}"']
        if name in self._metrics:
            lines.append(f'metrics = "{self._metrics[name]}"')
        return "\n".join(["[[site]]", *lines, ""])

    def socket(self, name: str) -> Path:
        """Where a site's participants find it."""
        return self.directory / "run" / f"{name}.sock"

    def up(self, *names: str) -> None:
        """Start sites, all of them if none is named."""
        for name in names or self.names:
            with (self.directory / f"{name}.log").open("ab") as log:
                inside = self._hosts[name].inside if self._hosts else ()
                argv = [*inside, *ORDERCAST, "up", str(self.file), "--site", name, *self._options]
                self.processes[name] = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def send_signal(self, name: str, number: signal.Signals) -> None:
        """To one site."""
        self.processes[name].send_signal(number)

    def end(self, name: str, number: signal.Signals) -> int:
        """Send a signal that ends the site; its exit code."""
        process = self.processes.pop(name)
        process.send_signal(number)
        return process.wait(PATIENCE_S)

    def close(self) -> None:
        """Kill what still runs."""
        for process in self.processes.values():
            process.kill()
        for process in self.processes.values():
            process.wait()
        self.processes.clear()

    def end_all(self) -> list[str]:
        """Ask all sites to end; returns those that did not do so in good order."""
        for process in self.processes.values():
            process.send_signal(signal.SIGTERM)
        bad = []
        for name, process in self.processes.items():
            try:
                if process.wait(PATIENCE_S) != 0:
                    bad.append(name)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                bad.append(name)
        self.processes.clear()
        return bad

    def command(self, *arguments: str, site: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        """Run a command of an operator at a site."""
        argv = [*ORDERCAST, *arguments, "--cluster", str(self.file), "--site", site]
        return subprocess.run(argv, input=stdin, capture_output=True, timeout=PATIENCE_S, check=False)

    def status(self, site: str) -> dict[str, Any] | None:
        """What the site says of itself; None while it says nothing."""
        done = self.command("status", "--json", site=site)
        return json.loads(done.stdout) if done.stdout else None

    def await_members(self, *members: str) -> None:
        """Until these sites are in a view of exactly these."""
        until(lambda: all((self.status(name) or {}).get("members") == list(members) for name in members))

    def journal(self, name: str) -> list[dict[str, Any]]:
        """What the site has written so far, in all its lives."""
        lines = (self.directory / f"{name}.log").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]

    def count(self, name: str, event: str) -> int:
        """How often the site has written of this."""
        return sum(line["event"] == event for line in self.journal(name))


def until(true: Callable[[], Any]) -> None:
    """Wait, but not for ever."""
    deadline_s = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < deadline_s, "it has not come to pass"
        time.sleep(0.05)
