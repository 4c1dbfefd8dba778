"""FIFO channels by sequence numbers, without repair: what the papers assume of a network that never loses.

"All logical point-to-point channels between any pair of processes are FIFO (this can be easily enforced using
sequence numbers)" (hybrid report, section 3). What comes too early waits for what it overtook; what comes twice is
dropped; what is lost is lost, and everything behind it waits for ever.
"""

from __future__ import annotations

from typing import ClassVar, Generic, TypeVar, assert_never

from msgspec import Struct

from ordercast.core.effects import Out
from ordercast.core.events import (
    Event,
    Flush,
    FromAbove,
    FromBelow,
    Now,
    Started,
    TimerFired,
    ViewClosed,
    ViewInstalled,
)
from ordercast.core.ids import SiteId
from ordercast.core.layer import Waiting

Payload = TypeVar("Payload")


class Numbered(Struct, Generic[Payload], frozen=True, array_like=True, tag="numbered", gc=False):
    """A message with its place on the channel from its sender to one receiver."""

    seq: int
    payload: Payload


class Fifo(Struct, Generic[Payload]):
    """Restores the order of each channel."""

    WIRE: ClassVar = Numbered

    me: SiteId
    members: tuple[SiteId, ...]
    sent: dict[SiteId, int] = {}
    """How many messages have left for each site."""
    received: dict[SiteId, int] = {}
    """How many messages of each site have been handed up."""
    early: dict[SiteId, dict[int, Payload]] = {}
    """By sender: what overtook something that is still missing."""

    def handle(self, event: Event, now: Now, out: Out) -> None:
        match event:
            case FromBelow(sender=sender, message=message):
                self.on_receive(sender, message, out)
            case FromAbove(message=message, to=None):
                out.deliver(self.me, message)
                for site in self.members:
                    if site != self.me:
                        self.send(site, message, out)
            case FromAbove(message=message, to=int() as site):
                self.send(site, message, out)
            case ViewInstalled(view=view):
                self.members = view.members
                out.install(view)
            case ViewClosed() | Started() | Flush():
                pass
            case FromAbove() | TimerFired():
                raise AssertionError(f"not for a FIFO link: {event}")
            case _:
                assert_never(event)

    def send(self, to: SiteId, message: Payload, out: Out) -> None:
        seq = self.sent.get(to, 0)
        self.sent[to] = seq + 1
        out.send(to, Numbered(seq, message))

    def on_receive(self, sender: SiteId, message: Numbered[Payload], out: Out) -> None:
        expected = self.received.get(sender, 0)
        early = self.early.setdefault(sender, {})
        if message.seq >= expected:
            early[message.seq] = message.payload
        while expected in early:
            out.deliver(sender, early.pop(expected))
            expected += 1
        self.received[sender] = expected

    def waiting_for(self) -> Waiting | None:
        for sender, early in sorted(self.early.items()):
            if early:
                return Waiting(f"frame {self.received[sender]}, lost on the way from", sender)
        return None
