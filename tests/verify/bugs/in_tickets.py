"""Bugs in who issues which tickets and promises."""

from __future__ import annotations

from typing import Any

from ordercast.core.effects import Out
from ordercast.core.events import Event, Flush, Now
from ordercast.core.ids import SiteId, Ticket, seq_of
from ordercast.core.layer import Layer
from ordercast.core.messages import Bundle
from ordercast.protocols.ordering.hybrid import Hybrid
from ordercast.protocols.ordering.issuer import Issuer
from ordercast.protocols.ordering.messages import Data, Issued
from ordercast.protocols.ordering.setup import Setup
from ordercast.protocols.ordering.symmetric import Symmetric
from tests.verify.bugs.making import become, planted


class ReusesTickets(Symmetric):
    """Takes for its own message the ticket that its clock shows, used or not."""

    def on_multicast(self, bundle: Bundle, now: Now, out: Out) -> None:
        self.issuer.clock.value = Ticket(max(0, self.issuer.clock.value - 1))
        super().on_multicast(bundle, now, out)


class BackwardIssuer(Issuer):
    """Puts the tickets that wait on the messages that wait, the last one first."""

    def take_unsent(self) -> tuple[Issued, ...]:
        tickets = [ticket for ticket, _ in self.unsent]
        messages = [message for _, message in self.unsent]
        self.unsent = list(zip(tickets, reversed(messages), strict=True))
        return super().take_unsent()


class TicketsBackwards(Hybrid):
    issuer: BackwardIssuer


def tickets_backwards(setup: Setup) -> Layer:
    layer = planted(TicketsBackwards, "hybrid")(setup)
    assert isinstance(layer, TicketsBackwards)
    layer.issuer = become(BackwardIssuer, layer.issuer)
    return layer


class LearnsNothing(Symmetric):
    """Its clock does not follow the tickets that it receives."""

    def on_receive(self, sender: SiteId, message: Any, now: Now, out: Out) -> None:
        before = self.issuer.clock.value
        super().on_receive(sender, message, now, out)
        self.issuer.clock.value = before


class LeavesOneOut(Hybrid):
    """A sequencer issues no ticket for the second message of a passive site."""

    def on_data(self, sender: SiteId, data: Data, out: Out) -> None:
        if self.sequencers[sender] == self.me != sender and seq_of(data.bundle.id) == 1:
            self.merge.hold(data.bundle.id, data.bundle)
        else:
            super().on_data(sender, data, out)


class LosesABody(Hybrid):
    """Forgets the second message of a passive site."""

    def on_data(self, sender: SiteId, data: Data, out: Out) -> None:
        super().on_data(sender, data, out)
        if self.sequencers[sender] not in (sender, self.me) and seq_of(data.bundle.id) == 1:
            self.merge.held.pop(data.bundle.id, None)


class NeverPromises(Symmetric):
    """Sites without messages of their own leave the others waiting."""

    def answer(self, ticket: Ticket, out: Out) -> None:
        pass


class PromisesOnlyWhileWaiting(Symmetric):
    """When the traffic ends, only sites that hold something themselves promise."""

    def handle(self, event: Event, now: Now, out: Out) -> None:
        if isinstance(event, Flush) and not self.merge.tickets:
            self.flush = True
        else:
            super().handle(event, now, out)
