"""The merge that all ticket protocols share.

Tickets come from *issuers*. Each site's tickets come in increasing order, so of every issuer a site knows a
*horizon*: the ticket up to which it will issue no more. Entries are released in the order of (ticket, issuer), and
one may go as soon as no issuer can still issue a smaller ticket (hybrid report, section 5: "ordered by increasing
order of their ticket numbers, and tickets with the same ticket number are ordered according to the total order of
ticket issuers").

Token site, symmetric and hybrid differ only in who the issuers are, with which numbers they issue, and what
raises a horizon.
"""

from __future__ import annotations

from bisect import insort
from typing import Generic, TypeVar

from msgspec import Struct

from ordercast.core.ids import MessageId, SiteId, Ticket
from ordercast.core.layer import Waiting
from ordercast.protocols.ordering.configuration import described, place_among_senders, sender_of

Entry = TypeVar("Entry")
"""What is ordered: bundles, and for some protocols control entries."""


NOBODY = (Ticket(1 << 62), SiteId(0))
"""The frontier when there is no other issuer."""


NO_CLOCK = Ticket(0)
"""Of an entry that comes with its ticket."""


class Merge(Struct, Generic[Entry]):
    """Entries and tickets received and not yet released."""

    me: SiteId
    horizons: dict[SiteId, Ticket]
    """For each other issuer: it will issue no more tickets up to this one."""
    frontier: tuple[Ticket, SiteId]
    """The smallest (ticket, issuer) that another issuer can still issue."""
    barrier: Ticket | None = None
    """This site's own tickets from here on have not come back to it: nothing may be released past them."""
    tickets: list[tuple[Ticket, SiteId, MessageId]] = []
    """In their order; the list is kept sorted."""
    held: dict[MessageId, Entry] = {}
    """Received, not yet released."""
    clocks: dict[MessageId, Ticket] = {}
    """For entries that came without a ticket: their senders' ticket clocks."""
    ahead: dict[SiteId, Ticket] = {}
    """Horizons of sites that are no issuers yet at this point of the total order."""
    own: Ticket = Ticket(0)
    """This site's own horizon, as all others know it."""
    issuing: bool = False
    """Whether this site is one of the issuers."""
    survivors: tuple[SiteId, ...] | None = None
    """Once the view is closed: the members that go on from it."""

    @classmethod
    def of(cls, me: SiteId, issuers: tuple[SiteId, ...]) -> Merge[Entry]:
        """An empty merge of the tickets of these issuers."""
        merge = cls(me, {}, NOBODY)
        merge.set_issuers(issuers)
        return merge

    def set_issuers(self, issuers: tuple[SiteId, ...]) -> None:
        """From this point of the total order these sites issue the tickets.

        This site's own horizon is left out: it issues nothing at or below a ticket that it has received.
        """
        self.issuing = self.me in issuers
        known = self.ahead | self.horizons
        self.horizons = {site: known.get(site, Ticket(0)) for site in issuers if site != self.me}
        self.ahead = {site: ticket for site, ticket in known.items() if site not in self.horizons}
        self._find_frontier()

    def hold(self, id: MessageId, entry: Entry, clock: Ticket = NO_CLOCK) -> None:
        """An entry has been received without a ticket; `clock` is its sender's ticket clock."""
        self.held[id] = entry
        if clock:
            self.clocks[id] = clock

    def add(self, ticket: Ticket, issuer: SiteId, id: MessageId) -> None:
        """A ticket has been received; its entry may come before or after it."""
        insort(self.tickets, (ticket, issuer, id))

    def put(self, ticket: Ticket, issuer: SiteId, id: MessageId, entry: Entry) -> None:
        """An entry has been received together with its ticket."""
        self.held[id] = entry
        insort(self.tickets, (ticket, issuer, id))

    def raise_horizon(self, issuer: SiteId, ticket: Ticket) -> None:
        """The issuer will issue no more tickets up to this one."""
        if issuer == self.me:
            self.own = ticket
            return
        horizons = self.horizons
        known = horizons.get(issuer)
        if known is None:
            self.ahead[issuer] = max(ticket, self.ahead.get(issuer, ticket))
        elif ticket > known:
            horizons[issuer] = ticket
            if issuer == self.frontier[1]:
                self._find_frontier()

    def _find_frontier(self) -> None:
        horizons = self.horizons if self.survivors is None else self._horizons_of_survivors(self.survivors)
        if horizons:
            ticket, issuer = min(zip(horizons.values(), horizons, strict=True))
            self.frontier = (Ticket(ticket + 1), issuer)
        else:
            self.frontier = NOBODY

    def _horizons_of_survivors(self, survivors: tuple[SiteId, ...]) -> dict[SiteId, Ticket]:
        """What the survivor that has been able to release most was waiting for: an issuer does not wait for itself."""
        horizons = self.horizons | ({self.me: self.own} if self.issuing else {})
        lowest = min(horizons, key=lambda issuer: (horizons[issuer], issuer), default=None)
        return {issuer: ticket for issuer, ticket in horizons.items() if issuer != lowest or lowest not in survivors}

    def release(self) -> Entry | None:
        """The next entry in the total order, if it is certain which one that is."""
        tickets = self.tickets
        if not tickets or tickets[0] > self.frontier:
            return None
        ticket, _, id = tickets[0]
        if self.barrier is not None and ticket >= self.barrier:
            return None
        entry = self.held.pop(id, None)
        if entry is not None:
            del tickets[0]
            if self.clocks:
                self.clocks.pop(id, None)
        return entry

    def seal(self, survivors: tuple[SiteId, ...]) -> None:
        """The view is closed: from here on `release` gives out what any survivor may have released already.

        Tickets of this site that have not come back are void; its horizon is what the others know of it.
        """
        self.survivors = survivors
        self.barrier = None
        self._find_frontier()

    def close(self) -> list[Entry]:
        """After `seal` and the releases that follow: all that is left, in the order that every member comes to.

        No survivor has released any of it. A message may have been ordered by a ticket that is lost with its issuer,
        and then answered. So what has no ticket goes where its ticket cannot have been beyond: to its sender's clock,
        after what it follows from that sender. Tickets whose entry is not here are void.
        """
        keys: dict[MessageId, tuple[int, int, int, int, int]]
        keys = {id: (ticket, 0, issuer, 0, 0) for ticket, issuer, id in self.tickets if id in self.held}
        newest: dict[int, int] = {}
        for id in sorted(self.held, key=place_among_senders):
            sender = sender_of(id)
            if id not in keys:
                clock = max(self.clocks.get(id, NO_CLOCK), newest.get(sender, 0))
                keys[id] = (clock, 1, *place_among_senders(id))
            newest[sender] = keys[id][0]
        left = [self.held[id] for id in sorted(self.held, key=keys.__getitem__)]
        self.tickets.clear()
        self.held.clear()
        self.clocks.clear()
        return left

    def without_ticket(self) -> list[MessageId]:
        """What is held and has no ticket yet, in the order of the ids."""
        ticketed = [id for _, _, id in self.tickets]
        return [id for id in sorted(self.held) if id not in ticketed]

    def waiting_for(self) -> Waiting | None:
        """What must come before the next entry can be released; None when nothing is held back."""
        if self.tickets:
            ticket, _, id = self.tickets[0]
            if self.tickets[0] > self.frontier:
                return Waiting(f"a ticket above {ticket - 1} from", self.frontier[1])
            return Waiting(f"{described(id)} (its ticket is here) of", sender_of(id))
        if self.held:
            id = min(self.held)
            return Waiting(f"a ticket for {described(id)} of", sender_of(id))
        return None
