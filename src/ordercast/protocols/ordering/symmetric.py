"""Symmetric ordering (hybrid report, section 4.1), plain or rate-synchronised (section 4.2).

Every site stamps its own messages with its ticket clock. A message is delivered once a higher ticket has been
received from every other site; equal tickets go in the order of the site ids.

Assumes: a reliable multicast, FIFO between each pair of sites.
Cost: none beyond the message itself while every site keeps sending; latency 2·D with Lamport clocks when rates
differ, about D + the slowest site's gap when the clocks are rate-synchronised.

The ticket policies differ only for sites that have nothing to send. `piggyback`: they hold up the others until
they do. `flush`: whoever receives a ticket above what it has announced promises at once to issue none below.
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
from ordercast.protocols.ordering.issuer import Issuer
from ordercast.protocols.ordering.lamport import LamportClock
from ordercast.protocols.ordering.merge import Merge
from ordercast.protocols.ordering.messages import Data, Echo, Tickets
from ordercast.protocols.ordering.setup import Setup


class Symmetric(Struct):
    """Decentralised ordering by timestamps."""

    WIRE: ClassVar = Data | Tickets | Echo

    me: SiteId
    issuer: Issuer
    merge: Merge[Bundle]
    flush: bool

    def handle(self, event: Event, now: Now, out: Out) -> None:
        match event:
            case FromBelow(sender=sender, message=message):
                self.on_receive(sender, message, now, out)
            case FromAbove(message=Bundle() as bundle):
                self.on_multicast(bundle, now, out)
            case Flush():
                self.flush = True
                self.answer(self.issuer.clock.value, out)
            case ViewClosed(survivors=survivors):
                self.merge.seal(survivors)
                self.release(out)
                for bundle in self.merge.close():
                    out.deliver(bundle.origin, bundle)
            case ViewInstalled(view=view):
                self.merge = Merge.of(self.me, view.members)
                self.issuer.begin_view(view.members)
                out.install(view)
            case FromAbove() | TimerFired() | Started():
                raise AssertionError(f"not for the symmetric protocol: {event}")
            case _:
                assert_never(event)

    def on_multicast(self, bundle: Bundle, now: Now, out: Out) -> None:
        ticket = self.issuer.clock.next_for_own()
        out.record(Note("ticket", bundle.id, ticket))
        self.issuer.take_unsent()
        self.merge.barrier = self.issuer.barrier()
        probe = self.issuer.clock.wants_probe(now.monotonic_us)
        out.multicast(Data(bundle, ticket, (), now.monotonic_us, probe))

    def on_receive(self, sender: SiteId, message: Data | Tickets | Echo, now: Now, out: Out) -> None:
        match message:
            case Data(bundle=bundle, ticket=ticket):
                self.issuer.clock.heard(sender, ticket, message.sent_us, now.monotonic_us)
                self.merge.put(ticket, sender, bundle.id, bundle)
                self.on_ticket(sender, ticket, out)
                if sender != self.me:
                    if message.probe:
                        out.send(sender, Echo(message.sent_us))
                    if self.flush:
                        self.answer(ticket, out)
            case Tickets(ticket=ticket):
                self.issuer.clock.observe(ticket)
                self.on_ticket(sender, ticket, out)
            case Echo():
                self.issuer.clock.echoed(sender, now.monotonic_us - message.sent_us)
            case _:
                assert_never(message)

    def on_ticket(self, sender: SiteId, ticket: Ticket, out: Out) -> None:
        self.merge.raise_horizon(sender, ticket)
        if sender == self.me:
            self.issuer.came_back()
            self.merge.barrier = self.issuer.barrier()
        self.release(out)

    def release(self, out: Out) -> None:
        while (bundle := self.merge.release()) is not None:
            out.deliver(bundle.origin, bundle)

    def answer(self, ticket: Ticket, out: Out) -> None:
        """`flush`: keep nobody waiting who holds a message with this ticket."""
        if ticket > self.issuer.announced:
            self.issuer.take_unsent()
            self.merge.barrier = self.issuer.barrier()
            out.multicast(Tickets(self.issuer.clock.value))

    def waiting_for(self) -> Waiting | None:
        return self.merge.waiting_for()


def plain(setup: Setup) -> Symmetric:
    """Lamport clocks: latency near 2·D when rates differ."""
    return Symmetric(setup.me, Issuer(setup.me, LamportClock()), Merge.of(setup.me, setup.members), setup.flush)


def rate_synchronised(setup: Setup) -> Symmetric:
    """Clocks at the pace of the fastest site: latency near D + the slowest site's gap."""
    clock = setup.rate_synchronised_clock(setup.members)
    return Symmetric(setup.me, Issuer(setup.me, clock), Merge.of(setup.me, setup.members), setup.flush)
