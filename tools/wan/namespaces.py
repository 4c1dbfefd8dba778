"""Network namespaces that can be told apart from everybody else's, and removed even if their owner has crashed.

Whoever makes some first claims a number N, by a lock that the kernel drops when the owner dies. Namespaces are named
`ocN-SITE` and their addresses lie in 10.77.N.0/24; so whatever has a number that nobody holds is left over.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from ordercast.core.errors import NotFit, WrongUse

RUN = Path("/run/ordercast-wan")
"""Locks and control sockets, both named by the number."""

NETNS = Path("/run/netns")
"""Where `ip netns` keeps namespaces."""

SITES_MAX = 254
"""Hosts in a /24."""

NUMBERS = range(256)
KILL_WAIT_S = 10.0
CLONE_NEWNET = 0x40000000

_OURS = re.compile(r"oc(\d+)-.+")
_SITE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")

_libc = ctypes.CDLL(None, use_errno=True)


def why_unfit() -> str | None:
    """What this machine lacks, and how to get it; None if it can make namespaces."""
    if os.geteuid() != 0:
        return "network namespaces need root: run this with sudo"
    if not shutil.which("ip"):
        return "there is no `ip` command: install iproute2"
    if subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False).returncode:
        return "this machine lets nobody make network namespaces: a container needs CAP_SYS_ADMIN"
    return None


def run_ip(lines: Sequence[str], namespace: str = "") -> None:
    """Several commands of `ip` in one process; the first that fails ends it."""
    where = ["-n", namespace] if namespace else []
    text = "".join(f"{line}\n" for line in lines)
    done = subprocess.run(["ip", *where, "-batch", "-"], input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = " ".join(done.stderr.split()) or f"exit code {done.returncode}"
        raise NotFit(f"ip could not set up {namespace or 'the namespaces'}: {reason}")


# --- numbers ---


class Claim:
    """A number, and with it names and addresses, held by this process until it lets go or dies."""

    def __init__(self, number: int, lock: int) -> None:
        self.number = number
        self._lock = lock

    @property
    def socket(self) -> Path:
        """Where the one who holds the number listens."""
        return RUN / f"{self.number}.sock"

    def namespace(self, site: str) -> str:
        """The name of a site's namespace."""
        return f"oc{self.number}-{site}"

    def address(self, index: int) -> str:
        """The address of the site with this index."""
        return f"10.77.{self.number}.{index + 1}"

    def hardware_address(self, index: int) -> str:
        """Its last byte is that of the address, so that a switch need not learn."""
        return f"02:00:0a:4d:{self.number:02x}:{index + 1:02x}"

    def release(self) -> None:
        """Remove all that goes by this number, and let others have it."""
        remove(self.number)
        self.socket.unlink(missing_ok=True)
        _lock_file(self.number).unlink(missing_ok=True)
        os.close(self._lock)


def claim() -> Claim:
    """The lowest number that is free; what somebody has left over under it is removed."""
    RUN.mkdir(mode=0o700, exist_ok=True)
    for number in NUMBERS:
        lock = _try_lock(number)
        if lock is not None:
            remove(number)
            return Claim(number, lock)
    raise NotFit("all 256 numbers are taken: end some with `python -m tools.wan down`")


def _lock_file(number: int) -> Path:
    return RUN / f"{number}.lock"


def _try_lock(number: int) -> int | None:
    """A file descriptor that holds the number; None if another process does."""
    path = _lock_file(number)
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        # Whoever held it before removes the file; then the lock is on a file that nobody else can see.
        if path.exists() and os.fstat(descriptor).st_ino == path.stat().st_ino:
            return descriptor
        os.close(descriptor)


def held_numbers() -> list[int]:
    """Those that a living process holds."""
    held = []
    for path in RUN.glob("[0-9]*.lock"):
        with contextlib.suppress(FileNotFoundError), path.open() as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                held.append(int(path.stem))
    return sorted(held)


def clean() -> list[str]:
    """Remove the namespaces, processes and files of all that have died without doing so. Returns the namespaces."""
    removed = []
    left = {int(match[1]) for name in _names() if (match := _OURS.fullmatch(name))}
    left.update(number for number in NUMBERS if any(RUN.glob(f"{number}.*")))
    RUN.mkdir(mode=0o700, exist_ok=True)
    for number in sorted(left):
        lock = _try_lock(number) if number in NUMBERS else None
        if lock is not None:
            removed += _of_number(number)
            Claim(number, lock).release()
    return removed


# --- namespaces ---


def make(claimed: Claim, sites: Sequence[str]) -> list[str]:
    """An empty namespace for each site, but for its loopback. Without IPv6, which would talk unasked."""
    check_sites(sites)
    names = [claimed.namespace(site) for site in sites]
    run_ip([f"netns add {name}" for name in names])
    for name in names:
        run_ip(["link set lo up"], name)
        with entered(name), contextlib.suppress(FileNotFoundError):
            Path("/proc/sys/net/ipv6/conf/all/disable_ipv6").write_text("1")
            Path("/proc/sys/net/ipv6/conf/default/disable_ipv6").write_text("1")
    return names


def check_sites(sites: Sequence[str]) -> None:
    """Names that can be those of files, and not too many."""
    if len(sites) > SITES_MAX:
        raise WrongUse(f"{len(sites)} sites do not fit into one network of namespaces, expected at most {SITES_MAX}")
    for site in sites:
        if not _SITE.fullmatch(site):
            raise WrongUse(f"site {site!r} cannot name a namespace, expected letters, digits, dots, dashes")


@contextlib.contextmanager
def entered(name: str) -> Iterator[None]:
    """This thread is in the namespace: sockets and devices that it opens stay there. Others are not concerned."""
    with open("/proc/thread-self/ns/net") as home, open(NETNS / name) as there:
        _set_namespace(there.fileno())
        try:
            yield
        finally:
            _set_namespace(home.fileno())


def _set_namespace(descriptor: int) -> None:
    if _libc.setns(descriptor, CLONE_NEWNET):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def remove(number: int) -> None:
    """Kill whatever runs in the namespaces of this number, and delete them."""
    names = _of_number(number)
    end_s = time.monotonic() + KILL_WAIT_S
    while (inside := _processes(names)) and time.monotonic() < end_s:
        for process in inside:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        time.sleep(0.01)
    if names:
        run_ip([f"netns del {name}" for name in names])


def _names() -> list[str]:
    return sorted(path.name for path in NETNS.glob("oc*-*"))


def _of_number(number: int) -> list[str]:
    return [name for name in _names() if (match := _OURS.fullmatch(name)) and int(match[1]) == number]


def _processes(names: Sequence[str]) -> list[int]:
    """Those that are in one of these namespaces."""
    spaces = [_identity(NETNS / name) for name in names]
    found = []
    for folder in Path("/proc").glob("[0-9]*") if spaces else ():
        # A process may end while we look; one that has ended and waits for its parent has no namespace any more.
        with contextlib.suppress(OSError):
            if _identity(folder / "ns" / "net") in spaces:
                found.append(int(folder.name))
    return found


def _identity(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_dev, found.st_ino
