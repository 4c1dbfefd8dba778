"""Bugs in ordering by one site, for ever or in turn."""

from __future__ import annotations

from typing import Any

from ordercast.core.effects import Out
from ordercast.core.events import Event, Flush, Now
from ordercast.core.ids import MessageId, SiteId, Ticket
from ordercast.protocols.ordering.messages import Data, Tickets
from ordercast.protocols.ordering.migrating_token import HandedOver, Handover, MigratingToken
from ordercast.protocols.ordering.token_site import TokenSite


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
    """A new holder numbers from the beginning again."""

    def on_handover(self, handover: Handover, now: Now, out: Out) -> None:
        mine = handover.to == self.me
        super().on_handover(Handover(Ticket(0), handover.to) if mine else handover, now, out)


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
