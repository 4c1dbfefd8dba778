"""Protocols with a bug planted, to see that each property finds what it is there for.

Each class is a shipped protocol with a few lines replaced; nothing else is faked.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from msgspec import Struct

from ordercast.core.effects import Out
from ordercast.core.events import Event, Flush, FromBelow, Now, ViewInstalled
from ordercast.core.ids import MessageId, SiteId, Ticket, pack_message_id, seq_of
from ordercast.core.layer import Layer
from ordercast.core.messages import Bundle
from ordercast.protocols.ordering.catalogue import PROTOCOLS
from ordercast.protocols.ordering.hybrid import Hybrid
from ordercast.protocols.ordering.issuer import Issuer
from ordercast.protocols.ordering.merge import Entry, Merge
from ordercast.protocols.ordering.messages import Data, Issued, Tickets
from ordercast.protocols.ordering.migrating_token import HandedOver, Handover, MigratingToken
from ordercast.protocols.ordering.setup import Setup
from ordercast.protocols.ordering.symmetric import Symmetric
from ordercast.protocols.ordering.token_site import TokenSite

Kind = TypeVar("Kind", bound=Struct)

Build = Callable[[Setup], Layer]


def planted(kind: type[Any], protocol: str) -> Build:
    """Builds the protocol and puts its state into the class with the bug."""

    def build(setup: Setup) -> Layer:
        built: Any = PROTOCOLS[protocol].build(setup)
        layer: Layer = _become(kind, built)
        return layer

    return build


def _become(kind: type[Kind], other: Struct) -> Kind:
    return kind(**{name: getattr(other, name) for name in other.__struct_fields__})


# --- the merge ---


class WithMerge:
    """Puts another merge into a protocol whenever a view begins."""

    merge: Any
    MERGE: type[Any]

    def handle(self, event: Event, now: Now, out: Out) -> None:
        super().handle(event, now, out)  # type: ignore[misc]
        if isinstance(event, ViewInstalled):
            self.merge = _become(self.MERGE, self.merge)


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


# --- tickets ---


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
    layer.issuer = _become(BackwardIssuer, layer.issuer)
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


# --- the token ---


class Overtakes(TokenSite):
    """The token site lets every second message overtake the one before it."""

    kept: Data | None = None
    kept_from: SiteId = SiteId(0)

    def on_receive(self, sender: SiteId, message: Data | Tickets, out: Out) -> None:
        if not isinstance(message, Data) or self.me != self.site or sender == self.site:
            super().on_receive(sender, message, out)
        elif self.kept is None:
            self.kept, self.kept_from = message, sender
        else:
            super().on_receive(sender, message, out)
            self.let_go(out)

    def let_go(self, out: Out) -> None:
        kept, self.kept = self.kept, None
        if kept is not None:
            super().on_receive(self.kept_from, kept, out)

    def handle(self, event: Event, now: Now, out: Out) -> None:
        super().handle(event, now, out)
        if isinstance(event, Flush):
            self.let_go(out)


class NumbersBackwards(MigratingToken):
    """A new holder numbers what has no number yet, the newest first."""

    def send_numbers(self, messages: tuple[MessageId, ...], out: Out) -> None:
        super().send_numbers(messages[::-1], out)


class LeavesUnnumbered(MigratingToken):
    """A new holder numbers only what it receives from then on."""

    def on_handover(self, handover: Handover, now: Now, out: Out) -> None:
        held, self.merge.held = self.merge.held, {}
        super().on_handover(handover, now, out)
        self.merge.held = held


class KeepsNumbering(MigratingToken):
    """The old holder goes on numbering after it has handed the token over."""

    def on_handover(self, handover: Handover, now: Now, out: Out) -> None:
        was_holder = self.holding or self.newest == handover.ticket
        super().on_handover(handover, now, out)
        self.holding = self.holding or was_holder


class StartsOver(MigratingToken):
    """A new holder counts from the last number that it has issued itself."""

    def on_handover(self, handover: Handover, now: Now, out: Out) -> None:
        mine = handover.to == self.me
        super().on_handover(Handover(self.newest, handover.to) if mine else handover, now, out)


class TakesTheTokenOnReceipt(MigratingToken):
    """Numbers on as soon as the handover arrives, not when its turn in the total order has come."""

    taken: Ticket = Ticket(0)

    def on_receive(self, sender: SiteId, message: Any, now: Now, out: Out) -> None:
        if isinstance(message, HandedOver) and message.handover.to == self.me:
            self.taken = message.handover.ticket
            self.holding, self.newest = True, self.taken
            self.send_numbers(tuple(self.merge.without_ticket()), out)
        super().on_receive(sender, message, now, out)

    def on_handover(self, handover: Handover, now: Now, out: Out) -> None:
        if handover.ticket != self.taken:
            super().on_handover(handover, now, out)
        else:
            self.merge.raise_horizon(self.me, handover.ticket)
            self.merge.set_issuers((self.me,))


# --- deliveries ---


class Altered:
    """An `Out` that hands up something else than it was given."""

    def __init__(self, out: Out, change: Callable[[Bundle], Bundle]) -> None:
        self._out = out
        self._change = change

    def __getattr__(self, name: str) -> Any:
        return getattr(self._out, name)

    def deliver(self, sender: SiteId, message: Bundle) -> None:
        self._out.deliver(sender, self._change(message))


def _next_number(bundle: Bundle) -> Bundle:
    return Bundle(MessageId(bundle.id + 1), bundle.bodies)


def _next_life(bundle: Bundle) -> Bundle:
    return Bundle(pack_message_id(bundle.origin, 1, seq_of(bundle.id)), bundle.bodies)


class CountsFromOne(TokenSite):
    """Delivers every message under the number of the next."""

    def handle(self, event: Event, now: Now, out: Out) -> None:
        super().handle(event, now, Altered(out, _next_number))


class WrongIncarnation(Hybrid):
    """Delivers the messages of passive sites as if they came from a later life."""

    def handle(self, event: Event, now: Now, out: Out) -> None:
        super().handle(event, now, Altered(out, self.change))

    def change(self, bundle: Bundle) -> Bundle:
        return bundle if self.sequencers[bundle.origin] == bundle.origin else _next_life(bundle)


class DeliversHandovers(MigratingToken):
    """Hands up the protocol's own entries, too."""

    def on_handover(self, handover: Handover, now: Now, out: Out) -> None:
        super().on_handover(handover, now, out)
        out.deliver(handover.to, Bundle(pack_message_id(handover.to, 1, handover.ticket), (b"",)))


class DeliversOnReceipt(Symmetric):
    """Hands up every message as it comes."""

    def on_ticket(self, sender: SiteId, ticket: Ticket, out: Out) -> None:
        if sender == self.me:
            self.issuer.came_back()
        for _, _, message in self.merge.tickets:
            bundle = self.merge.held.pop(message)
            out.deliver(bundle.origin, bundle)
        self.merge.tickets.clear()


class DeliversItsOwnTwice(Symmetric):
    """Hands up a site's own messages at once, and again when their turn comes."""

    def on_receive(self, sender: SiteId, message: Any, now: Now, out: Out) -> None:
        if sender == self.me and isinstance(message, Data):
            out.deliver(sender, message.bundle)
        super().on_receive(sender, message, now, out)


class HearsAgain(Symmetric):
    """A link hands up every message once more, before the next of the same sender."""

    last: dict[SiteId, Data] = {}

    def handle(self, event: Event, now: Now, out: Out) -> None:
        if isinstance(event, FromBelow) and isinstance(event.message, Data) and event.sender != self.me:
            if event.sender in self.last:
                super().handle(FromBelow(event.sender, self.last[event.sender]), now, out)
            self.last[event.sender] = event.message
        super().handle(event, now, out)
