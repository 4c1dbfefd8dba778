"""The plain ticket clock: Lamport's rules (hybrid report, section 4.1)."""

from __future__ import annotations

from msgspec import Struct

from ordercast.core.ids import SiteId, Ticket


class LamportClock(Struct, tag="lamport"):
    """Counts up with every ticket issued and never falls behind one received."""

    value: Ticket = Ticket(0)

    def next_for_own(self) -> Ticket:
        """A ticket for a message of this site, above all issued or received so far."""
        self.value = Ticket(self.value + 1)
        return self.value

    def next_for_other(self) -> Ticket:
        """A ticket for another site's message: no different."""
        return self.next_for_own()

    def heard(self, sender: SiteId, ticket: Ticket, sent_us: int, now_us: int) -> None:
        """A message of `sender` with its ticket has arrived."""
        if ticket > self.value:
            self.value = ticket

    def set_issuers(self, issuers: tuple[SiteId, ...]) -> None:
        """Who issues tickets makes no difference."""

    def observe(self, ticket: Ticket) -> None:
        """A ticket has arrived by itself, without a message that tells when it left."""
        if ticket > self.value:
            self.value = ticket

    def wants_probe(self, now_us: int) -> bool:
        """Nothing needs to be measured."""
        return False

    def echoed(self, sender: SiteId, round_trip_us: int) -> None:
        """Nothing is measured."""
