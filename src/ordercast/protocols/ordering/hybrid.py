"""Static hybrid ordering (hybrid report, section 5; short paper, section 4).

Every site multicasts its messages to all. *Active* sites issue tickets (issuer, ticket, message): for their own
messages, and for those of the *passive* sites whose *sequencer* they are. The tickets of different actives are
merged as in the symmetric protocol, with rate-synchronised clocks. With one active site this is a token site;
with all sites active it is symmetric.

Assumes: a reliable multicast, FIFO between each pair of sites; roles that do not change.
Cost: none beyond the message itself while the actives keep sending, since tickets ride on their messages.

What the papers leave open: a passive site's messages carry its ticket clock, as every other message does. Else a
sequencer that has not yet heard of a message could order a reply to it first.
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
from ordercast.core.ids import SiteId, Ticket
from ordercast.core.layer import Waiting
from ordercast.core.messages import Bundle
from ordercast.core.views import View
from ordercast.planning.roles import assign_roles, with_actives
from ordercast.protocols.ordering.issuer import Issuer
from ordercast.protocols.ordering.merge import Merge
from ordercast.protocols.ordering.messages import Data, Echo, Issued, Tickets
from ordercast.protocols.ordering.setup import Setup


class Hybrid(Struct):
    """Active sites order; each passive site has one of them do it."""

    WIRE: ClassVar = Data | Tickets | Echo

    me: SiteId
    sequencers: dict[SiteId, SiteId]
    """For each site who issues tickets for its messages; an active site is its own sequencer."""
    actives: tuple[SiteId, ...]
    """The active sites, as long as they are members."""
    delays_us: tuple[tuple[float, ...], ...]
    issuer: Issuer
    merge: Merge[Bundle]
    flush: bool

    @property
    def active(self) -> bool:
        return self.sequencers[self.me] == self.me

    def handle(self, event: Event, now: Now, out: Out) -> None:
        match event:
            case FromBelow(sender=sender, message=message):
                self.on_receive(sender, message, now, out)
            case FromAbove(message=Bundle() as bundle):
                self.on_multicast(bundle, now, out)
            case Flush():
                self.flush = True
                if self.active:
                    self.answer(self.issuer.clock.value, out)
            case ViewClosed(survivors=survivors):
                self.merge.seal(survivors)
                self.release(out)
                for bundle in self.merge.close():
                    out.deliver(bundle.origin, bundle)
            case ViewInstalled(view=view):
                self.begin_view(view)
                out.install(view)
            case FromAbove() | TimerFired() | Started():
                raise AssertionError(f"not for the hybrid protocol: {event}")
            case _:
                assert_never(event)

    def begin_view(self, view: View) -> None:
        """The given roles, as far as their sites are members; if no active site is, the highest member becomes it."""
        actives = tuple(site for site in self.actives if site in view.members) or (view.members[-1],)
        self.sequencers = with_actives(actives, self.delays_us)
        self.merge = Merge.of(self.me, actives)
        self.issuer.begin_view(actives)

    def on_multicast(self, bundle: Bundle, now: Now, out: Out) -> None:
        probe = self.issuer.clock.wants_probe(now.monotonic_us)
        if self.active:
            ticket = self.issuer.clock.next_for_own()
            out.record(Note("ticket", bundle.id, ticket))
            issued = self.take_unsent()
        else:
            ticket, issued = self.issuer.clock.value, ()
        out.multicast(Data(bundle, ticket, issued, now.monotonic_us, probe))

    def on_receive(self, sender: SiteId, message: Data | Tickets | Echo, now: Now, out: Out) -> None:
        match message:
            case Data():
                self.issuer.clock.heard(sender, message.ticket, message.sent_us, now.monotonic_us)
                self.on_data(sender, message, out)
                if message.probe and sender != self.me:
                    out.send(sender, Echo(message.sent_us))
            case Tickets():
                self.issuer.clock.observe(message.ticket)
                self.on_tickets(sender, message, out)
            case Echo():
                self.issuer.clock.echoed(sender, now.monotonic_us - message.sent_us)
            case _:
                assert_never(message)

    def on_data(self, sender: SiteId, data: Data, out: Out) -> None:
        bundle, sequencer = data.bundle, self.sequencers[sender]
        if sequencer == sender:
            self.merge.put(data.ticket, sender, bundle.id, bundle)
            self.on_tickets(sender, data, out)
            return
        self.merge.hold(bundle.id, bundle, data.ticket)
        if sequencer == self.me:
            ticket = self.issuer.issue_for(bundle.id)
            out.record(Note("ticket", bundle.id, ticket))
            self.merge.barrier = self.issuer.barrier()
            if self.flush:
                self.send_tickets(out)
        else:
            self.release(out)

    def on_tickets(self, sender: SiteId, carrier: Data | Tickets, out: Out) -> None:
        for ticket, message in carrier.issued:
            self.merge.add(ticket, sender, message)
        self.merge.raise_horizon(sender, carrier.ticket)
        if sender == self.me:
            self.issuer.came_back()
            self.merge.barrier = self.issuer.barrier()
        elif self.flush and self.active and (carrier.issued or isinstance(carrier, Data)):
            self.answer(carrier.ticket, out)
        self.release(out)

    def release(self, out: Out) -> None:
        while (bundle := self.merge.release()) is not None:
            out.deliver(bundle.origin, bundle)

    def answer(self, ticket: Ticket, out: Out) -> None:
        """`flush`: keep nobody waiting who holds a message with this ticket, or waits for one of ours."""
        if self.issuer.unsent or ticket > self.issuer.announced:
            self.send_tickets(out)

    def send_tickets(self, out: Out) -> None:
        issued = self.take_unsent()
        out.multicast(Tickets(self.issuer.clock.value, issued))

    def take_unsent(self) -> tuple[Issued, ...]:
        issued = self.issuer.take_unsent()
        self.merge.barrier = self.issuer.barrier()
        return issued

    def waiting_for(self) -> Waiting | None:
        return self.merge.waiting_for()


def build(setup: Setup) -> Hybrid:
    """Option `active`: the active sites; without it the papers' heuristic assigns the roles."""
    delays_us = setup.network.delays_us
    if (actives := setup.options.get("active")) is not None:
        sequencers = with_actives(actives, delays_us)
    else:
        sequencers = assign_roles(setup.network.mean_gaps_us, delays_us)
    actives = tuple(site for site in setup.members if sequencers[site] == site)
    issuer = Issuer(setup.me, setup.rate_synchronised_clock(actives))
    return Hybrid(setup.me, sequencers, actives, delays_us, issuer, Merge.of(setup.me, actives), setup.flush)
