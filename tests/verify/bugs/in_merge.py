"""Bugs in the merge that all ticket protocols share."""

from __future__ import annotations

from bisect import insort
from typing import Generic

from ordercast.core.effects import Out
from ordercast.core.ids import MessageId, SiteId, Ticket
from ordercast.core.messages import Bundle
from ordercast.protocols.ordering.hybrid import Hybrid
from ordercast.protocols.ordering.merge import Entry, Merge
from ordercast.protocols.ordering.messages import Data, Tickets
from ordercast.protocols.ordering.migrating_token import Handover, MigratingToken
from ordercast.protocols.ordering.symmetric import Symmetric
from ordercast.protocols.ordering.token_site import TokenSite
from tests.verify.bugs.making import WithMerge


class SkippingMerge(Merge[Entry], Generic[Entry]):
    """Releases the smallest ticket at hand, whatever may still come."""

    def release(self) -> Entry | None:
        if not self.tickets or self.tickets[0][2] not in self.held:
            return None
        return self.held.pop(self.tickets.pop(0)[2])


class SkipsHorizons(WithMerge, Symmetric):
    MERGE = SkippingMerge[Bundle]
    merge: SkippingMerge[Bundle]


class SkipsHorizonsAsHybrid(WithMerge, Hybrid):
    MERGE = SkippingMerge[Bundle]
    merge: SkippingMerge[Bundle]


class SelfishMerge(Merge[Entry], Generic[Entry]):
    """Among equal tickets it takes its own site's first."""

    def put(self, ticket: Ticket, issuer: SiteId, id: MessageId, entry: Entry) -> None:
        self.held[id] = entry
        insort(self.tickets, (ticket, SiteId(-1) if issuer == self.me else issuer, id))


class BreaksTiesForItself(WithMerge, Symmetric):
    MERGE = SelfishMerge[Bundle]
    merge: SelfishMerge[Bundle]


class KeepingMerge(Merge[Entry], Generic[Entry]):
    """Does not forget a body when it releases it."""

    def release(self) -> Entry | None:
        body = self.held.get(self.tickets[0][2]) if self.tickets else None
        released = super().release()
        if released is not None and body is not None:
            self.held[body.id] = body  # type: ignore[attr-defined]
        return released


class NumbersTwice(WithMerge, TokenSite):
    """The token site numbers each message again when it hears of the next, and no site has forgotten the body."""

    MERGE = KeepingMerge[Bundle]
    merge: KeepingMerge[Bundle]
    last: MessageId | None = None

    def on_receive(self, sender: SiteId, message: Data | Tickets, out: Out) -> None:
        super().on_receive(sender, message, out)
        if isinstance(message, Data) and self.me == self.site != sender:
            if self.last is not None:
                number = self.number(self.last, out)
                out.multicast(Tickets(number, ((number, self.last),)))
            self.last = message.bundle.id


class NumbersWhatWasDelivered(WithMerge, MigratingToken):
    """A new holder numbers all that it has ever received."""

    MERGE = KeepingMerge[Bundle | Handover]
    merge: KeepingMerge[Bundle | Handover]

    def send_numbers(self, messages: tuple[MessageId, ...], out: Out) -> None:
        super().send_numbers(tuple(message for message in messages if message > 0), out)


class ForgetfulMerge(Merge[Entry], Generic[Entry]):
    """A horizon of a site that is no issuer yet falls when a smaller one is heard of."""

    def raise_horizon(self, issuer: SiteId, ticket: Ticket) -> None:
        if issuer in self.horizons:
            super().raise_horizon(issuer, ticket)
        else:
            self.ahead[issuer] = ticket


class LowersHorizons(WithMerge, MigratingToken):
    MERGE = ForgetfulMerge[Bundle | Handover]
    merge: ForgetfulMerge[Bundle | Handover]


class OpenMerge(Merge[Entry], Generic[Entry]):
    """Does not wait for its own site's tickets under way."""

    def release(self) -> Entry | None:
        self.barrier = None
        return super().release()


class IgnoresItsOwnTickets(WithMerge, Hybrid):
    MERGE = OpenMerge[Bundle]
    merge: OpenMerge[Bundle]
