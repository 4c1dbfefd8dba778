"""What a site that issues tickets keeps, whichever protocol it runs.

A ticket counts for its own issuer, too, only once it has left and come back (to the issuer that is at once, unless
the layer below has stopped): until then the issuer must not release anything that is ordered after it.
"""

from __future__ import annotations

from msgspec import Struct

from ordercast.core.ids import MessageId, SiteId, Ticket
from ordercast.protocols.ordering.lamport import LamportClock
from ordercast.protocols.ordering.messages import Issued
from ordercast.protocols.ordering.rate_synchronised import RateSynchronisedClock

TicketClock = LamportClock | RateSynchronisedClock


class Issuer(Struct):
    """A ticket clock and the tickets that have not left, or not come back, yet."""

    me: SiteId
    clock: TicketClock
    unsent: list[Issued] = []
    """Issued for messages of others and waiting for something to travel on."""
    in_transit: list[Ticket] = []
    """For each of this site's own multicasts that have not come back to it yet, the first ticket it carries."""
    announced: Ticket = Ticket(0)
    """The ticket up to which everybody will know that this site issues no more, once what has left arrives."""

    def begin_view(self, issuers: tuple[SiteId, ...]) -> None:
        """Tickets that have not left are void, and never issued again: the clock goes on."""
        self.unsent.clear()
        self.in_transit.clear()
        self.announced = Ticket(0)
        self.clock.set_issuers(issuers)

    def issue_for(self, message: MessageId) -> Ticket:
        """Issue a ticket for another site's message, to leave with the next `take_unsent`."""
        ticket = self.clock.next_for_other()
        self.unsent.append((ticket, message))
        return ticket

    def take_unsent(self) -> tuple[Issued, ...]:
        """The tickets to put on a multicast that leaves now and announces the clock's value."""
        unsent = tuple(self.unsent)
        self.unsent.clear()
        self.announced = self.clock.value
        self.in_transit.append(unsent[0][0] if unsent else self.clock.value)
        return unsent

    def came_back(self) -> None:
        """The oldest of this site's own multicasts under way has come back to it."""
        del self.in_transit[0]

    def barrier(self) -> Ticket | None:
        """The first of this site's own tickets that have not come back to it."""
        if self.in_transit:
            return self.in_transit[0]
        return self.unsent[0][0] if self.unsent else None
