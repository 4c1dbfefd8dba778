"""Bugs in what is handed up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ordercast.core.effects import Out
from ordercast.core.events import Event, FromBelow, Now
from ordercast.core.ids import MessageId, SiteId, Ticket, pack_message_id, seq_of
from ordercast.core.messages import Bundle
from ordercast.protocols.ordering.hybrid import Hybrid
from ordercast.protocols.ordering.messages import Data
from ordercast.protocols.ordering.migrating_token import Handover, MigratingToken
from ordercast.protocols.ordering.symmetric import Symmetric
from ordercast.protocols.ordering.token_site import TokenSite


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
