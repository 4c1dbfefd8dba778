"""Token-site ordering: Amoeba's, without its fault tolerance (hybrid report, sections 2 and 5, citing [12]).

Every site multicasts its messages to all. One site, which holds the token for ever, numbers them in the order in
which it receives them, and multicasts each number at once. Its own messages carry theirs.

Assumes: a reliable multicast, FIFO between each pair of sites.
Cost: one more multicast per message of the other sites; latency 2·D for them, D for the token site's own.
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
from ordercast.protocols.ordering.merge import Merge
from ordercast.protocols.ordering.messages import Data, Tickets
from ordercast.protocols.ordering.setup import Setup


class TokenSite(Struct):
    """One site orders the messages of all."""

    WIRE: ClassVar = Data | Tickets

    me: SiteId
    site: SiteId
    """Who holds the token."""
    first: SiteId
    """Who is to hold it whenever it is a member; else the lowest member does."""
    merge: Merge[Bundle]
    newest: Ticket = Ticket(0)
    """The last number issued or, elsewhere, received: the ticket clock that every message carries."""

    def handle(self, event: Event, now: Now, out: Out) -> None:
        match event:
            case FromBelow(sender=sender, message=message):
                self.on_receive(sender, message, out)
            case FromAbove(message=Bundle() as bundle):
                out.multicast(Data(bundle, self.number(bundle.id, out) if self.me == self.site else self.newest))
            case ViewClosed(survivors=survivors):
                self.merge.seal(survivors)
                self.release(out)
                for bundle in self.merge.close():
                    out.deliver(bundle.origin, bundle)
            case ViewInstalled(view=view):
                self.site = self.first if self.first in view.members else view.members[0]
                self.merge = Merge.of(self.me, (self.site,))
                self.newest = Ticket(0)
                out.install(view)
            case Flush():
                pass  # its tickets never wait
            case FromAbove() | TimerFired() | Started():
                raise AssertionError(f"not for the token-site protocol: {event}")
            case _:
                assert_never(event)

    def number(self, message: MessageId, out: Out) -> Ticket:
        self.newest = Ticket(self.newest + 1)
        out.record(Note("ticket", message, self.newest))
        return self.newest

    def on_receive(self, sender: SiteId, message: Data | Tickets, out: Out) -> None:
        match message:
            case Data(bundle=bundle, ticket=ticket):
                self.merge.hold(bundle.id, bundle, ticket)
                if sender == self.site:
                    self.on_ticket(ticket, bundle.id)
                elif self.me == self.site:
                    number = self.number(bundle.id, out)
                    out.multicast(Tickets(number, ((number, bundle.id),)))
            case Tickets():
                for ticket, numbered in message.issued:
                    self.on_ticket(ticket, numbered)
            case _:
                assert_never(message)
        self.release(out)

    def on_ticket(self, ticket: Ticket, message: MessageId) -> None:
        self.newest = max(self.newest, ticket)
        self.merge.add(ticket, self.site, message)
        self.merge.raise_horizon(self.site, ticket)

    def release(self, out: Out) -> None:
        while (bundle := self.merge.release()) is not None:
            out.deliver(bundle.origin, bundle)

    def waiting_for(self) -> Waiting | None:
        return self.merge.waiting_for()


def build(setup: Setup) -> TokenSite:
    """Option `site`: who orders; without it the member with the lowest id."""
    site = setup.options.get("site", setup.members[0])
    return TokenSite(setup.me, site, site, Merge.of(setup.me, (site,)))
