"""All readers of one group at this site."""

from __future__ import annotations

from ordercast.core.service import Gone
from ordercast.core.stream import Finalized, Happening, Retracted, ViewChange
from ordercast.site.gateway.port import Parcel
from ordercast.site.gateway.recent import Item, Recent, as_final, from_position
from ordercast.site.gateway.subscription import Subscription


class Feed:
    """Forwards what comes up in the group to those of its readers who are live."""

    def __init__(self, group: str) -> None:
        self.group = group
        self.view: ViewChange | None = None
        """Who is in; None before anybody has joined."""
        self.subscriptions: list[Subscription] = []
        self._tentative: list[Subscription] = []
        """The live ones, by whether they want what is tentative ..."""
        self._final: list[Subscription] = []
        """... or only what is final."""

    @property
    def is_idle(self) -> bool:
        """Whether nobody reads it, and nobody is in."""
        return not self.subscriptions and (self.view is None or not self.view.members)

    def add(self, subscription: Subscription) -> None:
        """A reader, not live yet."""
        self.subscriptions.append(subscription)

    def remove(self, subscription: Subscription) -> None:
        """It reads no more."""
        for readers in (self.subscriptions, self._tentative, self._final):
            if subscription in readers:
                readers.remove(subscription)

    def go_live(self, subscription: Subscription, recent: Recent) -> None:
        """Give a reader everything from its position on that is in memory; from here on it is told what comes up."""
        for item in recent.of(self.group, subscription.position):
            final = item.end <= recent.final
            if subscription.final_only and not final:
                continue
            subscription.supply(Parcel(self.group, as_final(item.event, final), recent.final), item.end)
        reached = min(recent.final, recent.end) if subscription.final_only else recent.end
        subscription.position = max(subscription.position, reached)
        view = self.view
        known = view is not None and (view.view <= recent.final or not subscription.final_only)
        if view is not None and known and view.view != subscription.view:
            subscription.supply(Parcel(self.group, view, recent.final))
        (self._final if subscription.final_only else self._tentative).append(subscription)

    # --- what comes up ---

    def on_ordered(self, item: Item, final: bool, final_below: int) -> None:
        """The next of the order."""
        if self._tentative:
            _send_item(self._tentative, item, Parcel(self.group, as_final(item.event, final), final_below))
        if final and self._final:
            self.on_became_final(item, final_below)

    def on_became_final(self, item: Item, final_below: int) -> None:
        """An item's position is final now."""
        if self._final:
            _send_item(self._final, item, Parcel(self.group, as_final(item.event, True), final_below))

    def on_final(self, below: int) -> None:
        """Tell those who want to know."""
        wanting = [reader for reader in self._tentative if reader.finality]
        if wanting:
            _send(wanting, Parcel(self.group, Finalized(below), below))

    def on_happening(self, happening: Happening, final_below: int) -> None:
        """Something without a position, for all who are live."""
        parcel = Parcel(self.group, happening, final_below)
        _send(self._tentative, parcel)
        _send(self._final, parcel)

    def on_retracted(self, start: int, final_below: int) -> None:
        """What was tentative from this position on is void."""
        parcel = Parcel(self.group, Retracted(start), final_below)
        for reader in tuple(self._tentative):
            reader.retract(start, parcel)

    def on_hole(self, position: int) -> None:
        """The site goes on at this position without what was before."""
        for reader in self.subscriptions:
            if reader.position < position:
                reader.end(Gone(self.group, reader.position, position))


def _send(readers: list[Subscription], parcel: Parcel) -> None:
    for reader in readers:
        reader.send(parcel)


def _send_item(readers: list[Subscription], item: Item, parcel: Parcel) -> None:
    """To each what it has not had: a reader may have come from a site that is ahead of this one."""
    for reader in readers:
        if reader.position <= item.position:
            reader.send(parcel, item.end)
        elif reader.position < item.end:
            rest = from_position(item, reader.position)
            reader.send(Parcel(item.group, as_final(rest.event, parcel.is_final), parcel.final_below), item.end)
        elif isinstance(item.event, ViewChange):
            reader.send(parcel)
