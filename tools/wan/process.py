"""The process of an emulation: makes the namespaces, switches frames until it is told to stop, takes everything down.

`python -m tools.wan.process` reads a `Setup` as one JSON line, and says in one line how it has begun. Started with
`--until-end-of-input` it stops when its standard input ends, so that it does not outlive who started it.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys
from collections.abc import Sequence
from functools import partial
from select import select
from time import monotonic_ns

import msgspec
from msgspec import Struct

from ordercast.core.errors import NotFit, WrongUse
from tools.wan import namespaces
from tools.wan.callers import Callers
from tools.wan.desk import Desk, Setup
from tools.wan.namespaces import Claim
from tools.wan.switch import Switch
from tools.wan.tap import (
    ETHERNET_HEADER_BYTES,
    LARGEST_FRAME_BYTES,
    OFFLOAD_HEADER_BYTES,
    check_mtu,
    open_taps,
)

UNTIL_END_OF_INPUT = "--until-end-of-input"

PRIORITY = 10
"""Of SCHED_FIFO: above every ordinary process, below whatever the kernel needs more."""

IDLE_WAIT_S = 60.0


class Begun(Struct, frozen=True):
    """How it has begun."""

    number: int = -1
    error: str = ""
    exit_code: int = 0


class Emulation:
    """Devices, the switch between them, and whoever asks for changes."""

    def __init__(self, setup: Setup, claimed: Claim, ends: Sequence[int]) -> None:
        """It ends when one of the descriptors in `ends` can be read."""
        names = setup.topology.names
        namespaces.make(claimed, names)
        self._taps = open_taps(claimed, names, mtu=setup.mtu, offload=setup.offload)
        senders = [partial(os.write, tap.descriptor) for tap in self._taps]
        self._switch = Switch(setup.topology, senders, OFFLOAD_HEADER_BYTES if setup.offload else 0)
        realtime = setup.realtime and _at_real_time_priority()
        self._desk = Desk(setup, claimed, self._switch, self._taps, realtime=realtime)
        self._callers = Callers(claimed.socket, self._desk.answer)
        self._frame_bytes = LARGEST_FRAME_BYTES if setup.offload else setup.mtu + ETHERNET_HEADER_BYTES
        self._ends = ends

    def run(self) -> None:
        """Until somebody asks to stop."""
        taps = [tap.descriptor for tap in self._taps]
        sites: dict[int | socket.socket, int] = {tap: index for index, tap in enumerate(taps)}
        switch, frame_bytes, read = self._switch, self._frame_bytes, os.read
        inputs = self._inputs()
        while not self._desk.closed:
            # Unlike epoll, select waits to the microsecond; and there are few descriptors.
            ready, _, _ = select(inputs, (), (), self._patience_s())
            now_ns = monotonic_ns()
            for each in ready:
                site = sites.get(each)
                if site is not None:
                    switch.take(site, read(taps[site], frame_bytes), now_ns)
                elif isinstance(each, socket.socket):
                    self._callers.attend(each)
                    inputs = self._inputs()
                else:
                    return
            switch.deliver(monotonic_ns())

    def _inputs(self) -> list[int | socket.socket]:
        return [*(tap.descriptor for tap in self._taps), *self._ends, *self._callers.sockets()]

    def _patience_s(self) -> float:
        """How long nothing is due."""
        next_ns = self._switch.next_ns
        return IDLE_WAIT_S if next_ns is None else max(0, next_ns - monotonic_ns()) / 1e9

    def close(self) -> None:
        """The devices go with their files; the namespaces go with the number."""
        self._callers.close()
        for tap in self._taps:
            tap.close()


def _at_real_time_priority() -> bool:
    """Whether it could be had. What this process starts later does not inherit it."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(PRIORITY))
    except PermissionError:
        return False
    return True


def _say(begun: Begun) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(begun) + b"\n")
    sys.stdout.buffer.flush()


def _emulate(setup: Setup, ends: Sequence[int]) -> None:
    namespaces.check_sites(setup.topology.names)
    check_mtu(setup.mtu)
    claimed = namespaces.claim()
    try:
        emulation = Emulation(setup, claimed, ends)
        _say(Begun(claimed.number))
        # A collection would hold up frames for milliseconds; nothing here makes cycles.
        gc.freeze()
        gc.disable()
        try:
            emulation.run()
        finally:
            emulation.close()
    finally:
        claimed.release()


def main() -> int:
    """Exit code 1 if it could not begin."""
    signals, wake = socket.socketpair()
    wake.setblocking(False)
    signal.set_wakeup_fd(wake.fileno())
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, frame: None)
    setup = msgspec.json.decode(sys.stdin.buffer.readline(), type=Setup)
    ends = [signals.fileno()] + ([sys.stdin.fileno()] if UNTIL_END_OF_INPUT in sys.argv else [])
    try:
        _emulate(setup, ends)
    except (WrongUse, NotFit) as error:
        _say(Begun(error=str(error), exit_code=2 if isinstance(error, WrongUse) else 3))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
