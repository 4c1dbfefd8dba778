"""What tests and benchmarks use: a network as a context manager."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import msgspec

from ordercast.core.errors import NotFit, WrongUse
from ordercast.planning.topology import Topology
from tools.wan.desk import Setup
from tools.wan.namespaces import RUN, clean, held_numbers
from tools.wan.process import UNTIL_END_OF_INPUT, Begun
from tools.wan.requests import Answer, Change, Cut, Down, Heal, Report, Request, Status, ask
from tools.wan.tap import MTU_DEFAULT, why_unfit

ROOT = Path(__file__).parents[2]
STOP_WAIT_S = 30.0

ERRORS = RUN / "errors.log"
"""What a process that runs by itself has to complain of."""


def control_socket(number: int) -> Path:
    """Where the emulation of this number listens."""
    return RUN / f"{number}.sock"


def running() -> list[int]:
    """The numbers of all emulations on this machine."""
    return [number for number in held_numbers() if control_socket(number).exists()]


def start(setup: Setup, *, attached: bool) -> tuple[subprocess.Popen[bytes], int]:
    """The process of an emulation, once it is ready, and its number. If attached it ends with this process."""
    if (lacking := why_unfit()) is not None:
        raise NotFit(lacking)
    RUN.mkdir(mode=0o700, exist_ok=True)
    with ERRORS.open("ab") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "tools.wan.process", *([UNTIL_END_OF_INPUT] if attached else [])],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if attached else errors,
            start_new_session=True,
        )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(msgspec.json.encode(setup) + b"\n")
    process.stdin.flush()
    line = process.stdout.readline()
    process.stdout.close()
    if not attached:
        process.stdin.close()
    begun = msgspec.json.decode(line, type=Begun) if line else Begun(error="the switch has died", exit_code=3)
    if begun.error:
        process.stdin.close()
        process.wait()
        raise WrongUse(begun.error) if begun.exit_code == 2 else NotFit(begun.error)
    return process, begun.number


class Wan:
    """A network of namespaces, one for each site of a topology, for as long as the block lasts.

    >>> with Wan(topology) as wan:                                        # doctest: +SKIP
    ...     daemon = wan.exec("A", ["ordercast", "up", "cluster.toml", "--site", "A"])
    ...     wan.cut(["A"], ["B"], one_way=True)
    ...     wan.heal()

    Leaving the block kills whatever still runs in the namespaces. Every change is in force when its call returns.
    """

    def __init__(
        self, topology: Topology, *, mtu: int = MTU_DEFAULT, offload: bool = True, realtime: bool = True
    ) -> None:
        self.topology = topology
        self._setup = Setup(topology, mtu, offload, realtime)
        self._started: list[subprocess.Popen[Any]] = []

    def __enter__(self) -> Wan:
        self._process, self.number = start(self._setup, attached=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self._started:
            process.kill()
            process.wait()
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(STOP_WAIT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.returncode:
            clean()

    def namespace(self, site: str) -> str:
        """The name by which `ip netns` knows a site."""
        self.topology.site(site)
        return f"oc{self.number}-{site}"

    def address(self, site: str) -> str:
        """The IPv4 address of a site."""
        return f"10.77.{self.number}.{self.topology.site(site) + 1}"

    def exec(self, site: str, argv: Sequence[str], **options: Any) -> subprocess.Popen[Any]:
        """Start a program at a site; the options are those of `subprocess.Popen`."""
        process = subprocess.Popen(["ip", "netns", "exec", self.namespace(site), *argv], **options)
        self._started.append(process)
        return process

    def set_delay(
        self, site: str, to: str, delay_ms: float, *, variance: float | None = None, one_way: bool = False
    ) -> None:
        """Another mean delay, and another variance in ms², between two sites."""
        self._ask(Change(sites=[site], to=[to], delay_ms=delay_ms, variance=variance, one_way=one_way))

    def set_loss(self, site: str, to: str, loss: float, *, one_way: bool = False) -> None:
        """From now on each frame between two sites is lost with this probability."""
        self._ask(Change(sites=[site], to=[to], loss=loss, one_way=one_way))

    def cut(self, sites: Sequence[str], to: Sequence[str] = (), *, one_way: bool = False) -> None:
        """Let nothing pass between some sites and others, by default all others; one way, not from those to these."""
        self._ask(Cut(sites=_names(sites), to=_names(to), one_way=one_way))

    def heal(self, sites: Sequence[str] = (), to: Sequence[str] = ()) -> None:
        """End all cuts, or those between some sites and others."""
        self._ask(Heal(sites=_names(sites), to=_names(to)))

    def status(self) -> Status:
        """Settings and counters."""
        status = self._ask(Report()).status
        assert status is not None
        return status

    def processor_s(self) -> float:
        """Processor time that the switch has taken so far."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _ask(self, request: Request) -> Answer:
        return ask(control_socket(self.number), request)


def _names(sites: Sequence[str]) -> list[str]:
    """A single name is a sequence of letters, which nobody means."""
    return [sites] if isinstance(sites, str) else list(sites)


def take_down(number: int) -> None:
    """End an emulation that runs by itself, and wait until all of it has gone."""
    with contextlib.suppress(NotFit):
        ask(control_socket(number), Down())
    end_s = time.monotonic() + STOP_WAIT_S
    while number in held_numbers():
        if time.monotonic() > end_s:
            raise NotFit(f"emulation {number} does not end")
        time.sleep(0.02)
