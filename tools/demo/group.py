"""Five daemons on this machine."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from ordercast.site.keys import authority
from tools.demo.plan import SITES, cluster_file

END_S = 30.0


class Group:
    """The processes of the sites, and what they write."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.file = directory / "cluster.toml"
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        files = authority.init(directory / "keys", "demo")
        for name in SITES:
            authority.issue(files, name)
        self.file.write_text(cluster_file(_free_ports(len(SITES))), encoding="utf-8")

    def socket(self, name: str) -> Path:
        """Where a site's participants find it."""
        return self.directory / "run" / f"{name}.sock"

    def up(self, name: str) -> None:
        """Start a site, or start it again."""
        with (self.directory / f"{name}.log").open("ab") as log:
            argv = [sys.executable, "-m", "ordercast", "up", str(self.file), "--site", name]
            self._processes[name] = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def kill(self, name: str) -> None:
        """As a power cut does."""
        process = self._processes.pop(name)
        process.kill()
        process.wait()

    def end(self) -> list[str]:
        """Ask all sites to end; returns those that did not do so in good order."""
        for process in self._processes.values():
            process.send_signal(signal.SIGTERM)
        bad = []
        for name, process in self._processes.items():
            try:
                if process.wait(END_S) != 0:
                    bad.append(name)
            except subprocess.TimeoutExpired:
                process.kill()
                bad.append(name)
        self._processes.clear()
        return bad

    def close(self) -> None:
        """Kill what still runs."""
        for name in tuple(self._processes):
            self.kill(name)

    def journal(self, name: str) -> list[dict[str, Any]]:
        """What a site has written, in all its lives."""
        path = self.directory / f"{name}.log"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return [json.loads(line) for line in lines if line.startswith("{")]


def _free_ports(count: int) -> list[int]:
    probes = [socket.socket() for _ in range(count)]
    for probe in probes:
        probe.bind(("127.0.0.1", 0))
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports
