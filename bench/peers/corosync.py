"""Corosync on one machine: each daemon in a network, mount and IPC namespace of its own, as if on a host of its own."""

from __future__ import annotations

import contextlib
import itertools
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tools.wan.bridge import joined
from tools.wan.namespaces import why_unfit

from bench.peers.loads import Load, Outcome, processor_s, run
from ordercast.core.errors import NotFit

SOURCE = Path(__file__).with_name("cpg_load.c")
HEADER_FILE = Path("/usr/include/corosync/cpg.h")
INSTALL = "apt-get install corosync libcpg-dev libcorosync-common-dev gcc"

WINDOW = 400
"""Own messages under way, flat out; more do not make it faster."""

BEGIN_S = 30.0

PRIVATE = "for place in /dev/shm /run /var/lib/corosync; do mount -t tmpfs corosync $place; done"
"""What each daemon has for itself: its buffers, its lock, its state."""

CONFIGURATION = """
totem {{
    version: 2
    cluster_name: bench
    transport: knet
    token: 5000
    crypto_cipher: {cipher}
    crypto_hash: {hash}
{key}
}}
logging {{
    to_stderr: no
    to_syslog: no
    to_logfile: yes
    logfile: {log}
}}
quorum {{
}}
nodelist {{
{nodes}
}}
"""

NODE = "    node {{\n        nodeid: {id}\n        name: {name}\n        ring0_addr: {address}\n    }}"

_group_numbers = itertools.count()


def why_missing() -> str | None:
    """What this machine lacks to run it, and how to get it; None if it has all."""
    if not shutil.which("corosync"):
        return f"Corosync is not installed: {INSTALL}"
    if not HEADER_FILE.exists() or not shutil.which("gcc"):
        return f"the headers of Corosync, or a C compiler, are not installed: {INSTALL}"
    return why_unfit()


def version() -> str:
    """As it says itself."""
    said = subprocess.run(["corosync", "-v"], capture_output=True, text=True, check=True).stdout
    return said.partition("version '")[2].partition("'")[0]


class Corosync:
    """A running cluster."""

    def __init__(self, daemons: Sequence[subprocess.Popen[bytes]], program: Path) -> None:
        self._daemons = daemons
        self._program = program

    def run(self, load: Load) -> Outcome:
        """Put a load on it. Each has a group name of its own: what an earlier one has left must not leak in."""
        group = f"load-{time.time_ns():x}-{next(_group_numbers)}"

        def command(member: int, arguments: Sequence[str]) -> list[str]:
            inside = ["nsenter", "--target", str(self._daemons[member].pid), "--net", "--mount", "--ipc"]
            return [*inside, str(self._program), group, str(WINDOW), *arguments]

        return run(load, command)

    def processor_s(self) -> float | None:
        """Processor time that its daemons have taken so far."""
        return sum(processor_s(daemon.pid) for daemon in self._daemons)


@contextlib.contextmanager
def cluster(members: int, *, crypto: bool) -> Iterator[Corosync]:
    """So many daemons, for as long as the block lasts."""
    if (missing := why_missing()) is not None:
        raise NotFit(missing)
    names = [f"c{member}" for member in range(members)]
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="ordercast-corosync-")))
        claimed = stack.enter_context(joined(names))
        program = _compiled(folder)
        addresses = [claimed.address(member) for member in range(members)]
        key = _key(folder) if crypto else None
        daemons = []
        for name in names:
            file = folder / f"{name}.conf"
            file.write_text(_configuration(addresses, folder / f"{name}.log", key))
            script = f"{PRIVATE} && exec corosync -f -c {file}"
            argv = ["ip", "netns", "exec", claimed.namespace(name), "unshare", "--mount", "--ipc", "sh", "-ec", script]
            daemon = subprocess.Popen(argv, stdout=subprocess.DEVNULL)
            stack.callback(daemon.wait)
            stack.callback(daemon.kill)
            daemons.append(daemon)
        _await_daemons(daemons, folder, members)
        yield Corosync(daemons, program)


def _compiled(folder: Path) -> Path:
    program = folder / "cpg_load"
    done = subprocess.run(
        ["gcc", "-O2", "-Wall", "-o", str(program), str(SOURCE), "-lcpg"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise NotFit(f"{SOURCE.name} does not compile: {done.stderr.strip()}")
    return program


def _key(folder: Path) -> Path:
    file = folder / "authkey"
    done = subprocess.run(["corosync-keygen", "-k", str(file)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotFit(f"corosync-keygen has failed: {done.stderr.strip()}")
    return file


def _configuration(addresses: Sequence[str], log: Path, key: Path | None) -> str:
    nodes = [NODE.format(id=index + 1, name=f"c{index}", address=each) for index, each in enumerate(addresses)]
    return CONFIGURATION.format(
        cipher="aes256" if key else "none",
        hash="sha256" if key else "none",
        key=f"    keyfile: {key}" if key else "",
        log=log,
        nodes="\n".join(nodes),
    )


def _await_daemons(daemons: Sequence[subprocess.Popen[bytes]], folder: Path, members: int) -> None:
    """Until each says that all are in."""
    all_in = f"Sync members[{members}]"
    until_s = time.monotonic() + BEGIN_S
    waiting = list(range(members))
    while waiting:
        if any(daemon.poll() is not None for daemon in daemons) or time.monotonic() > until_s:
            raise NotFit(f"Corosync does not begin: {_last_words(folder)}")
        time.sleep(0.1)
        waiting = [each for each in waiting if all_in not in _said(folder / f"c{each}.log")]


def _said(log: Path) -> str:
    return log.read_text() if log.exists() else ""


def _last_words(folder: Path) -> str:
    lines = [line for log in sorted(folder.glob("*.log")) for line in _said(log).splitlines()[-1:]]
    return "; ".join(lines) or "it says nothing"
