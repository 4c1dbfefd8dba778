"""Where a site's time comes from. It is handed in, so that a test can step it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from heapq import heappop, heappush
from typing import Protocol

from ordercast.core.events import Now

WALL_ERROR_US = 1_000_000
"""What the wall clock may be wrong by, as long as nothing measures it."""

HELD_UP_NS = 50_000_000
"""A loop whose timers are later than that was held up."""


class Alarm(Protocol):
    """A call that has been asked for, and may be taken back."""

    def cancel(self) -> None:
        """Make sure that the call does not happen."""


class Clock(Protocol):
    """What time it is, and calls at a later time."""

    def now(self) -> Now:
        """The site's clocks."""

    def call_later(self, after_us: int, callback: Callable[[], None]) -> Alarm:
        """Call back once, so much later."""


class SystemClock:
    """The machine's clocks, and the timers of the event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def now(self) -> Now:
        return Now(time.monotonic_ns() // 1000, time.time_ns() // 1000, WALL_ERROR_US)

    def call_later(self, after_us: int, callback: Callable[[], None]) -> Alarm:
        return _Timer(self._loop, after_us, callback)


class _Timer:
    """Goes off when its time has come; after what has arrived meanwhile, if the whole loop was held up.

    uvloop calls what is due before it reads on. A process that was not let run for a while in the midst of its reading
    would take the silence of that time for that of the other sites, and suspect them all.
    """

    __slots__ = ("_callback", "_due_ns", "_handle", "_loop")

    def __init__(self, loop: asyncio.AbstractEventLoop, after_us: int, callback: Callable[[], None]) -> None:
        self._loop = loop
        self._callback = callback
        self._due_ns = time.monotonic_ns() + after_us * 1000
        self._handle: asyncio.Handle = loop.call_later(after_us / 1e6, self._go_off)

    def _go_off(self) -> None:
        if time.monotonic_ns() - self._due_ns < HELD_UP_NS:
            self._callback()
        else:
            # In its next turn the loop reads, in the one after that all of it has been handled.
            self._handle = self._loop.call_soon(self._wait_a_turn)

    def _wait_a_turn(self) -> None:
        self._handle = self._loop.call_soon(self._callback)

    def cancel(self) -> None:
        self._handle.cancel()


class _ManualAlarm:
    def __init__(self, callback: Callable[[], None]) -> None:
        self.callback: Callable[[], None] | None = callback

    def cancel(self) -> None:
        self.callback = None


class ManualClock:
    """Stands still until it is moved; what is due on the way is called in the order of its time."""

    def __init__(self, now_us: int = 0) -> None:
        self.now_us = now_us
        self._asked = 0
        self._agenda: list[tuple[int, int, _ManualAlarm]] = []

    def now(self) -> Now:
        return Now(self.now_us, self.now_us, 0)

    def call_later(self, after_us: int, callback: Callable[[], None]) -> Alarm:
        alarm = _ManualAlarm(callback)
        self._asked += 1
        heappush(self._agenda, (self.now_us + after_us, self._asked, alarm))
        return alarm

    def advance(self, by_us: int) -> None:
        """Move on, through everything that is due."""
        until_us = self.now_us + by_us
        while self._agenda and self._agenda[0][0] <= until_us:
            self.now_us, _, alarm = heappop(self._agenda)
            if alarm.callback is not None:
                alarm.callback()
        self.now_us = until_us
