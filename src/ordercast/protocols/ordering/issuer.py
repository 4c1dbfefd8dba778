"""What a site that issues tickets keeps, whichever protocol it runs.

A ticket counts for its own issuer, too, only once it has left: until then the issuer must not release anything
that might be ordered after it.
"""

from __future__ import annotations

from msgspec import Struct

from ordercast.core.ids import MessageId, SiteId, Ticket
from ordercast.protocols.ordering.lamport import LamportClock
from ordercast.protocols.ordering.messages import Issued
from ordercast.protocols.ordering.rate_synchronised import RateSynchronisedClock

TicketClock = LamportClock | RateSynchronisedClock


class Issuer(Struct):
    """A ticket clock and the tickets that have not left yet."""

    me: SiteId
    clock: TicketClock
    unsent: list[Issued] = []
    """Issued for messages of others and waiting for something to travel on."""
    announced: Ticket = Ticket(0)
    """The ticket up to which everybody will know that this site issues no more, once what has left arrives."""
    in_transit: int = 0
    """How many of this site's own multicasts have not come back to it yet."""

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
        self.in_transit += 1
        return unsent

    def came_back(self) -> None:
        """One of this site's own multicasts has come back to it."""
        self.in_transit -= 1

    @property
    def horizon(self) -> Ticket | None:
        """The ticket up to which this site itself knows that it issues no more; None while any is under way."""
        return None if self.unsent or self.in_transit else self.clock.value
