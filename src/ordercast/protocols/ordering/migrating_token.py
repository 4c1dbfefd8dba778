"""Ordering by a token that moves to the member with the higher rate, as in ISIS (hybrid report, section 2).

As with a token site, the holder numbers all messages in the order in which it receives them, and multicasts each
number at once. Here it also watches the rates of all members. When another sends clearly faster than the holder
itself, the holder numbers a *handover* like a message, and issues no more. A site takes the token when the
handover to it comes up in its own total order: it then knows of every number issued before, and numbers on, first
whatever it holds without a number.

Assumes: a reliable multicast, FIFO between each pair of sites.
Cost: one more multicast per message of a site that does not hold the token, and one per handover, during which
nothing is numbered for the delay between the old holder and the new.
"""

from __future__ import annotations

from typing import ClassVar, assert_never

from msgspec import Struct

from ordercast.core.effects import Note, Out
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
from ordercast.core.ids import MessageId, SiteId, Ticket
from ordercast.core.layer import Waiting
from ordercast.core.messages import Bundle
from ordercast.core.views import View
from ordercast.planning.estimators import Estimates
from ordercast.protocols.ordering.merge import Merge
from ordercast.protocols.ordering.messages import Data, Issued, Tickets
from ordercast.protocols.ordering.setup import Setup

CLEARLY_FASTER = 0.8
"""The token moves only to a site whose mean gap is at most this part of the holder's."""

TENURE_MIN_US = 1_000_000
"""A site keeps the token at least so long, or noise in the rates would have it move all the time."""


class Handover(Struct, frozen=True, array_like=True, tag=1, gc=False):
    """The last number of one holder: from here on `to` numbers."""

    ticket: Ticket
    to: SiteId

    @property
    def id(self) -> MessageId:
        """Negative, unlike any message's."""
        return MessageId(-self.ticket)


class HandedOver(Struct, frozen=True, array_like=True, tag="handed-over", gc=False):
    """A handover on its way to all members."""

    handover: Handover


class MigratingToken(Struct):
    """The fastest site orders the messages of all."""

    WIRE: ClassVar = Data | Tickets | HandedOver

    me: SiteId
    estimates: Estimates
    merge: Merge[Bundle | Handover]
    holding: bool
    first: SiteId
    """Who holds the token when a view begins, if it is a member."""
    newest: Ticket = Ticket(0)
    """The last number issued or, elsewhere, received: the ticket clock that every message carries."""
    tenure_ends_us: int = TENURE_MIN_US

    def handle(self, event: Event, now: Now, out: Out) -> None:
        match event:
            case FromBelow(sender=sender, message=message):
                self.on_receive(sender, message, now, out)
            case FromAbove(message=Bundle() as bundle):
                issued = ((self.number(bundle.id, out), bundle.id),) if self.holding else ()
                out.multicast(Data(bundle, self.newest, issued, now.monotonic_us))
            case ViewClosed(survivors=survivors):
                self.merge.seal(survivors)
                self.release(now, out)
                for entry in self.merge.close():
                    if isinstance(entry, Bundle):
                        out.deliver(entry.origin, entry)
            case ViewInstalled(view=view):
                self.begin_view(view, now)
                out.install(view)
            case Flush():
                pass  # its tickets never wait
            case FromAbove() | TimerFired() | Started():
                raise AssertionError(f"not for the migrating-token protocol: {event}")
            case _:
                assert_never(event)

    def begin_view(self, view: View, now: Now) -> None:
        """Every view begins with the same holder for all: a member that has just joined knows of no handovers."""
        holder = self.first if self.first in view.members else view.members[0]
        self.merge = Merge.of(self.me, (holder,))
        self.holding = self.me == holder
        self.newest = Ticket(0)
        self.tenure_ends_us = now.monotonic_us + TENURE_MIN_US

    def number(self, message: MessageId, out: Out) -> Ticket:
        self.newest = Ticket(self.newest + 1)
        out.record(Note("ticket", message, self.newest))
        return self.newest

    def on_receive(self, sender: SiteId, message: Data | Tickets | HandedOver, now: Now, out: Out) -> None:
        match message:
            case Data():
                self.on_data(sender, message, now, out)
            case Tickets():
                for ticket, numbered in message.issued:
                    self.on_ticket(sender, ticket, numbered)
            case HandedOver(handover=handover):
                self.merge.hold(handover.id, handover)
                self.on_ticket(sender, handover.ticket, handover.id)
            case _:
                assert_never(message)
        self.release(now, out)

    def on_data(self, sender: SiteId, data: Data, now: Now, out: Out) -> None:
        self.estimates.heard(sender, data.sent_us, now.monotonic_us)
        self.merge.hold(data.bundle.id, data.bundle, data.ticket)
        if data.issued:
            self.on_ticket(sender, *data.issued[0])
        elif self.holding:
            self.send_numbers((data.bundle.id,), out)
            self.consider_handover(sender, now, out)

    def on_ticket(self, holder: SiteId, ticket: Ticket, message: MessageId) -> None:
        self.newest = max(self.newest, ticket)
        self.merge.add(ticket, holder, message)
        self.merge.raise_horizon(holder, ticket)

    def release(self, now: Now, out: Out) -> None:
        while (entry := self.merge.release()) is not None:
            if isinstance(entry, Handover):
                self.on_handover(entry, now, out)
            else:
                out.deliver(entry.origin, entry)

    def on_handover(self, handover: Handover, now: Now, out: Out) -> None:
        """The token has moved: everything numbered before has been delivered here."""
        self.merge.raise_horizon(handover.to, handover.ticket)
        self.merge.set_issuers((handover.to,))
        if handover.to == self.me:
            self.holding = True
            self.newest = handover.ticket
            self.tenure_ends_us = now.monotonic_us + TENURE_MIN_US
            self.send_numbers(tuple(self.merge.without_ticket()), out)

    def send_numbers(self, messages: tuple[MessageId, ...], out: Out) -> None:
        if messages:
            issued: tuple[Issued, ...] = tuple((self.number(message, out), message) for message in messages)
            out.multicast(Tickets(self.newest, issued))

    def consider_handover(self, sender: SiteId, now: Now, out: Out) -> None:
        """Let go of the token if the sender is clearly faster than we are."""
        if now.monotonic_us < self.tenure_ends_us:
            return
        gap_us = self.estimates.settled_gap_us(sender, now.monotonic_us)
        own_gap_us = self.estimates.gap_us(self.me, now.monotonic_us)
        if gap_us is not None and (own_gap_us is None or gap_us < CLEARLY_FASTER * own_gap_us):
            self.holding = False
            self.newest = Ticket(self.newest + 1)
            out.multicast(HandedOver(Handover(self.newest, sender)))

    def waiting_for(self) -> Waiting | None:
        return self.merge.waiting_for()


def build(setup: Setup) -> MigratingToken:
    """Option `site`: who orders first; without it the member with the lowest id."""
    first = setup.options.get("site", setup.members[0])
    return MigratingToken(setup.me, setup.estimates(), Merge.of(setup.me, (first,)), setup.me == first, first)
