"""Two links over a channel whose every copy meets the fate that the test decides."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any

from ordercast.core.effects import Note
from ordercast.core.events import Event, FromAbove, FromBelow, Now, TimerFired, TimerKey
from ordercast.core.ids import SiteId
from ordercast.core.views import View
from ordercast.protocols.links.frames import Congestion, Frame
from ordercast.protocols.links.reliable import Reliable
from tests.layers import sites

A, B = sites(2)
DELAY_US = 5_000

Fate = tuple[int, ...]
"""After how long each copy of what is sent arrives: none if it is lost, two if it is doubled."""

ARRIVES: Fate = (DELAY_US,)
LOST: Fate = ()


class End:
    """One site: runs a link, and keeps what it sends and hands up."""

    def __init__(self, me: SiteId, link: Reliable, channel: TwoLinks) -> None:
        self.me = me
        self.link = link
        self.handed_up: list[Any] = []
        self.congestion: list[bool] = []
        self.sent: list[tuple[int, Any]] = []
        """With the time."""
        self._channel = channel
        self._timers: dict[TimerKey, int] = {}

    def put_down(self, *messages: Any) -> None:
        """The layer above sends messages to the other site."""
        for message in messages:
            self.handle(FromAbove(message, B if self.me == A else A))

    def handle(self, event: Event) -> None:
        now_us = self._channel.now_us
        self.link.handle(event, Now(now_us, now_us, 0), self)

    def frames(self) -> list[tuple[int, Frame]]:
        """The frames with messages that it has sent, with the times."""
        return [(at_us, frame) for at_us, frame in self.sent if isinstance(frame, Frame) and frame.seq >= 0]

    def seqs(self) -> list[int]:
        """The numbers of these frames."""
        return [frame.seq for _, frame in self.frames()]

    def acks(self) -> list[tuple[int, Frame]]:
        """The frames with an acknowledgement only."""
        return [(at_us, frame) for at_us, frame in self.sent if isinstance(frame, Frame) and frame.seq < 0]

    def timers(self) -> tuple[TimerKey, ...]:
        """All that it has ever set."""
        return tuple(self._timers)

    # --- effects ---

    def send(self, to: SiteId, message: Any) -> None:
        self.sent.append((self._channel.now_us, message))
        self._channel.carry(self.me, message)

    def deliver(self, sender: SiteId, message: Any) -> None:
        assert sender != self.me
        if isinstance(message, Congestion):
            self.congestion.append(message.full)
        else:
            self.handed_up.append(message)

    def set_timer(self, key: TimerKey, after_us: int) -> None:
        number = self._timers[key] = self._timers.get(key, 0) + 1
        self._channel.later(after_us, lambda: self._on_timer(key, number))

    def _on_timer(self, key: TimerKey, number: int) -> None:
        if self._timers[key] == number:
            self.handle(TimerFired(key))

    def cancel(self, key: TimerKey) -> None:
        self._timers[key] = self._timers.get(key, 0) + 1

    def multicast(self, message: Any) -> None:
        raise AssertionError("links send to one site")

    def install(self, view: View) -> None:
        raise AssertionError("links know no views")

    def save(self, key: str, value: bytes, *, binding: bool = True) -> None:
        raise AssertionError("links save nothing")

    def record(self, note: Note) -> None:
        raise AssertionError("links have nothing to tell")


class TwoLinks:
    """Sites A and B, in virtual time."""

    def __init__(self, fate: Callable[[SiteId, Any], Fate] = lambda sender, message: ARRIVES, **options: Any) -> None:
        self.now_us = 0
        self.fate = fate
        self._options = options
        self._agenda: list[tuple[int, int, Callable[[], None]]] = []
        self._count = 0
        self.a = End(A, Reliable(A, **options), self)
        self.b = End(B, Reliable(B, **options), self)

    def restart_b(self, incarnation: int) -> None:
        """B comes up as another life."""
        self.b = End(B, Reliable(B, incarnation, **self._options), self)

    def carry(self, sender: SiteId, message: Any) -> None:
        for after_us in self.fate(sender, message):
            self.later(after_us, lambda: (self.b if sender == A else self.a).handle(FromBelow(sender, message)))

    def later(self, after_us: int, what: Callable[[], None]) -> None:
        """Do something then."""
        self._count += 1
        heappush(self._agenda, (self.now_us + after_us, self._count, what))

    def run(self, for_us: int = 60_000_000) -> None:
        """Let time pass."""
        until_us = self.now_us + for_us
        while self._agenda and self._agenda[0][0] <= until_us:
            self.now_us, _, what = heappop(self._agenda)
            what()
        self.now_us = until_us
