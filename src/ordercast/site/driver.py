"""The host of one stack: feeds it events, one after the other, and performs its effects in order.

This is all there is between the protocols and the machine, and it decides nothing. Deliveries for the ordered log are
written; everything else that leaves the stack goes through the outbox, behind the writes before it.
"""

from __future__ import annotations

from collections import deque
from typing import Any, Protocol

from ordercast.core.deliveries import Finalized, Logged, Snapshot, Truncated
from ordercast.core.effects import Note
from ordercast.core.entries import Entry
from ordercast.core.events import Event, TimerFired, TimerKey
from ordercast.core.ids import SiteId
from ordercast.core.layer import Layer
from ordercast.core.views import View
from ordercast.site.clock import Alarm, Clock
from ordercast.site.outbox import Outbox


class Log(Protocol):
    """The ordered log as the driver sees it. Nothing here waits for the disk."""

    @property
    def written(self) -> int:
        """The number of the newest write asked for."""

    @property
    def appends_must_be_durable(self) -> bool:
        """Whether others may rely on an entry only once it is on disk (fsync policy `always`)."""

    def append(self, entry: Entry) -> None:
        """Write an entry at the end of the log."""

    def truncate(self, position: int) -> None:
        """What the log holds from this position on is void."""

    def finalize(self, below: int) -> None:
        """Positions below this one are final."""

    def restart_at(self, position: int) -> None:
        """The log goes on at this position, with somebody else's state before it."""

    def save(self, key: str, value: bytes, *, binding: bool = True) -> None:
        """Write a value that, if it is binding, always is durable before what follows."""


class Links(Protocol):
    """The way to other sites."""

    def send(self, to: SiteId, frame: Any) -> None:
        """Put a frame on its way, if there is a connection; a lost one is the stack's business."""


class Host(Protocol):
    """Whoever is told of what the stack says."""

    def delivered(self, sender: SiteId, message: Any) -> None:
        """The stack hands up a message, in order."""

    def noted(self, note: Note) -> None:
        """The stack leaves a note for the trace."""


class Driver:
    """The `Out` of its stack."""

    def __init__(self, stack: Layer, clock: Clock, links: Links, log: Log, host: Host) -> None:
        self.stack = stack
        self.events = 0
        """How many have been handled."""
        self._clock = clock
        self._links = links
        self._log = log
        self._host = host
        self._outbox = Outbox()
        self._events: deque[Event] = deque()
        self._timers: dict[TimerKey, Alarm] = {}
        self._busy = False
        self._stopped = False

    def handle(self, event: Event) -> None:
        """Let the stack handle an event; one that comes up meanwhile waits until this one is done with."""
        self._events.append(event)
        if self._busy or self._stopped:
            return
        self._busy = True
        events, stack, clock = self._events, self.stack, self._clock
        try:
            while events:
                self.events += 1
                stack.handle(events.popleft(), clock.now(), self)
        finally:
            self._busy = False

    def on_durable(self, write: int) -> None:
        """The log has everything up to this write on disk."""
        if not self._stopped:
            self._outbox.on_durable(write)

    @property
    def held_back(self) -> int:
        """How many effects wait for the disk."""
        return len(self._outbox)

    def stop(self) -> None:
        """End: no event is handled any more, no timer fires, nothing leaves."""
        self._stopped = True
        for alarm in self._timers.values():
            alarm.cancel()
        self._timers.clear()

    # --- effects ---

    def send(self, to: SiteId, message: Any) -> None:
        self._outbox.put(self._links.send, to, message)

    def multicast(self, message: Any) -> None:
        raise AssertionError(f"the links of a full stack send to each site by itself: {message}")

    def deliver(self, sender: SiteId, message: Any) -> None:
        log = self._log
        match message:
            case Logged(entry=entry):
                log.append(entry)
                if log.appends_must_be_durable:
                    self._outbox.require(log.written)
            case Truncated(from_position=position):
                log.truncate(position)
            case Finalized(below=below):
                log.finalize(below)
            case Snapshot(position=position):
                log.restart_at(position)
        self._outbox.put(self._host.delivered, sender, message)

    def install(self, view: View) -> None:
        raise AssertionError(f"a site group tells of views in its deliveries: {view}")

    def save(self, key: str, value: bytes, *, binding: bool = True) -> None:
        self._log.save(key, value, binding=binding)
        if binding or self._log.appends_must_be_durable:
            self._outbox.require(self._log.written)

    def record(self, note: Note) -> None:
        self._host.noted(note)

    def set_timer(self, key: TimerKey, after_us: int) -> None:
        self.cancel(key)
        self._timers[key] = self._clock.call_later(after_us, lambda: self._fire(key))

    def cancel(self, key: TimerKey) -> None:
        alarm = self._timers.pop(key, None)
        if alarm is not None:
            alarm.cancel()

    def _fire(self, key: TimerKey) -> None:
        self._timers.pop(key, None)
        self.handle(TimerFired(key))
