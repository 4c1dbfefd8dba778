"""The rate-synchronised ticket clock (hybrid report, section 4.2).

Tickets must increase, but need not be consecutive. So slow sites let theirs advance at the pace of the fastest
site, f: on each message from f with ticket t_m a site i estimates how far f has come by now and sets
t_i = max(t_i, t_m + D_(f,i) / X_f), where D is the delay from f and X_f the mean gap between f's messages. From
any other site it is Lamport's rule, t_i = max(t_i, t_m). The latency of symmetric ordering falls from 2·D to
about D plus the slowest site's gap.

Here a ticket counts in steps finer than a message: one message of f is worth `STEPS_PER_GAP`. All other tickets,
those of the other issuers and those that f issues for passive sites, are only one step above the clock. If each
were worth as much as a message of f, then an issuer that also orders for passive sites would run ahead of f's pace,
and its messages would wait for the others to catch up (docs/findings.md).

Assumes: nothing. Estimates that are wrong cost latency, never order.
Cost: with on-line estimates one null message per receiver and probe interval.
"""

from __future__ import annotations

from msgspec import Struct

from ordercast.core.ids import SiteId, Ticket
from ordercast.planning.estimators import Estimates

PROBE_INTERVAL_US = 2_000_000
"""Time between two measurements of the round trip: "in the order of seconds"."""

ESTIMATE_INTERVAL_US = 50_000
"""f and D / X are found anew so often; the samples are taken at every message."""

CLEARLY_FASTER = 0.9
"""A site that is not f becomes it when its mean gap is at most this part of f's."""

AS_FAST = 0.95
"""Sites whose mean gap is up to the smallest over this are as fast: of these f is the one with the lowest id."""

STEPS_PER_GAP = 64
"""What one message of f is worth in tickets."""


class RateSynchronisedClock(Struct, tag="rate-synchronised"):
    """Advances at the pace of the fastest issuer."""

    me: SiteId
    issuers: tuple[SiteId, ...]
    estimates: Estimates
    online: bool
    value: Ticket = Ticket(0)
    fastest: SiteId | None = None
    lead: int = 0
    """D / X of f: what its tickets have gained by the time they arrive here."""
    estimate_due_us: int = 0
    probe_due_us: int = 0

    def next_for_own(self) -> Ticket:
        """A ticket for a message of this site, above all issued or received so far."""
        makes_the_pace = self.fastest is None or self.fastest == self.me
        self.value = Ticket(self.value + (STEPS_PER_GAP if makes_the_pace else 1))
        return self.value

    def next_for_other(self) -> Ticket:
        """A ticket for another site's message, above all issued or received so far."""
        self.value = Ticket(self.value + 1)
        return self.value

    def heard(self, sender: SiteId, ticket: Ticket, sent_us: int, now_us: int) -> None:
        """A message of `sender` with its ticket has arrived: the papers' rule."""
        self.estimates.heard(sender, sent_us, now_us)
        if now_us >= self.estimate_due_us:
            self._estimate(now_us)
        if sender == self.fastest:
            ticket = Ticket(ticket + self.lead)
        if ticket > self.value:
            self.value = ticket

    def _estimate(self, now_us: int) -> None:
        """Find f and its lead anew from the estimates as they are now."""
        self._elect(now_us)
        if self.fastest is not None:
            self.lead = 0 if self.fastest == self.me else self._issued_in_flight(self.fastest, now_us)
            self.estimate_due_us = now_us + ESTIMATE_INTERVAL_US

    def _elect(self, now_us: int) -> None:
        """f is the issuer with the smallest gap, ties by id; it changes for a clearly faster one, or to settle a tie.

        Without the latter, sites that began with different f would follow different ones for good.
        """
        gaps = [(gap, site) for site in self.issuers if (gap := self.estimates.gap_us(site, now_us)) is not None]
        if not gaps:
            return
        least, _ = min(gaps)
        preferred = min(site for gap, site in gaps if AS_FAST * gap <= least)
        current = None if self.fastest is None else self.estimates.gap_us(self.fastest, now_us)
        if self.fastest is None or current is None or least < CLEARLY_FASTER * current or preferred < self.fastest:
            self.fastest = preferred

    def _issued_in_flight(self, fastest: SiteId, now_us: int) -> int:
        """D / X, in steps: how far f's tickets have come while a message of f travelled."""
        gap_us = self.estimates.gap_us(fastest, now_us)
        delay_us = self.estimates.delay_from_us(fastest)
        if gap_us is None or delay_us is None or gap_us <= 0:
            return 0
        return int(STEPS_PER_GAP * delay_us / gap_us)

    def set_issuers(self, issuers: tuple[SiteId, ...]) -> None:
        """From now on f is one of these."""
        self.issuers = issuers
        if self.fastest not in issuers:
            self.fastest, self.lead, self.estimate_due_us = None, 0, 0

    def observe(self, ticket: Ticket) -> None:
        """A ticket has arrived by itself, without a message that tells when it left."""
        if ticket > self.value:
            self.value = ticket

    def wants_probe(self, now_us: int) -> bool:
        """Whether the message about to leave should ask for echoes."""
        if not self.online or now_us < self.probe_due_us:
            return False
        self.probe_due_us = now_us + PROBE_INTERVAL_US
        return True

    def echoed(self, sender: SiteId, round_trip_us: int) -> None:
        """The null message of `sender` came back so long after our probe left."""
        self.estimates.echoed(sender, round_trip_us)
