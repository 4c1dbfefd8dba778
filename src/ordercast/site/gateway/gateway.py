"""The gateway of one site: takes what the stack delivers, and hands it to those who wait for it or read it."""

from __future__ import annotations

from typing import Any, Protocol

from ordercast.core.administration import SiteView
from ordercast.core.deliveries import (
    Delivered,
    Entered,
    Finalized,
    GroupBlocked,
    GroupViewChanged,
    OrderingChanged,
    Retracted,
    RoleChanged,
    Snapshot,
    ViewChanged,
)
from ordercast.core.events import Event
from ordercast.core.ids import SiteId, incarnation_of
from ordercast.core.messages import Act, Author, Bundle
from ordercast.core.participants import Member
from ordercast.core.service import History
from ordercast.core.stream import Blocked, Participant, Unblocked, ViewChange
from ordercast.core.views import View
from ordercast.protocols.links.frames import Congestion
from ordercast.site.gateway.catch_up import CatchUp, Log
from ordercast.site.gateway.feed import Feed
from ordercast.site.gateway.port import Parcel
from ordercast.site.gateway.pressure import OUTSTANDING_BYTES, Pressure
from ordercast.site.gateway.questions import Administration, Questions
from ordercast.site.gateway.receipts import Receipts
from ordercast.site.gateway.recent import Item, Recent, batch_of, items_of
from ordercast.site.gateway.subscription import Subscription


class Site(Protocol):
    """What the gateway needs of its site."""

    me: SiteId
    cluster: str

    @property
    def names(self) -> tuple[str, ...]:
        """Of all sites, by id."""

    @property
    def incarnation(self) -> int:
        """The number of its life."""

    def handle(self, event: Event) -> None:
        """Let the stack handle an event."""

    def has_room(self, author: Author) -> bool:
        """Whether a session has not left out too many numbers to multicast this."""


class Connected(Protocol):
    """A participant, as the gateway sees it."""

    def hold(self, hold: bool) -> None:
        """It shall multicast nothing more for now, or go on."""

    def on_members(self, group: str, members: tuple[Member, ...]) -> None:
        """A group has these members now."""

    def close(self, reason: str) -> None:
        """Say why, and hang up."""


class Gateway:
    """All participants of a site."""

    def __init__(
        self,
        site: Site,
        log: Log | None,
        administration: Administration,
        *,
        final: int = 0,
        outstanding_bytes: int = OUTSTANDING_BYTES,
    ) -> None:
        """`final` is where the order stands as the site begins: what is tentative is delivered anew."""
        self.site = site
        self.recent = Recent(final, final)
        self.pressure = Pressure(self._on_pressure, outstanding_bytes)
        self.receipts = Receipts(self.pressure)
        self.catch_up = CatchUp(log, self.recent, self.name_of, self.go_live)
        self.connections: dict[int, Connected] = {}
        """By session."""
        self.blocked = False
        self._view: View | None = None
        self.retractions = 0
        self.closed: str | None = None
        """Why nobody is let in any more."""
        self.refused = 0
        """Connections closed for bad bytes."""
        self.questions = Questions(administration)
        self._feeds: dict[str, Feed] = {}

    @property
    def history(self) -> History:
        """What readers here have seen."""
        return History(self.site.incarnation, self.retractions)

    def name_of(self, site: SiteId) -> str:
        """As people know it."""
        names = self.site.names
        return names[site] if site < len(names) else f"site {site}"

    def feed(self, group: str) -> Feed:
        """The readers of a group."""
        feed = self._feeds.get(group)
        if feed is None:
            feed = self._feeds[group] = Feed(group)
        return feed

    def go_live(self, subscription: Subscription) -> None:
        """Its reader has come to what is in memory."""
        self.feed(subscription.group).go_live(subscription, self.recent)
        if self.blocked:
            subscription.send(Parcel(subscription.group, Blocked(), self.recent.final))

    def tidy(self, feed: Feed) -> None:
        """Forget a group that nobody uses any more."""
        if feed.is_idle:
            self._feeds.pop(feed.group, None)

    @property
    def groups(self) -> dict[str, ViewChange]:
        """Who is in which group."""
        return {feed.group: feed.view for feed in self._feeds.values() if feed.view is not None and feed.view.members}

    # --- what the stack delivers ---

    def delivered(self, sender: SiteId, message: Any) -> None:
        """Anything that the stack hands up, in order."""
        match message:
            case Delivered():
                self._on_delivered(message)
            case Finalized(below=below):
                self._on_final(below)
            case Congestion(full=full):
                self.pressure.on_congestion(sender, full)
            case GroupViewChanged():
                self._on_members(message)
            case ViewChanged(view=view, position=position):
                self.recent.reach(position + 1)
                self._tell_view(view, position)
            case RoleChanged(position=position):
                self.recent.reach(position + 1)
            case OrderingChanged(change=change, position=position):
                self.recent.reach(position + 1)
                self.questions.on_ordering(change.protocol)
            case Retracted(from_position=start):
                self._on_retracted(start)
            case GroupBlocked():
                self._on_blocked(True)
            case Entered(view=view):
                self.pressure.on_view(view)
                self._on_blocked(False)
            case Snapshot(position=position):
                self._on_hole(position)

    def _on_delivered(self, delivered: Delivered) -> None:
        bundle, position, final = delivered.bundle, delivered.position, delivered.final
        recent = self.recent
        author = bundle.author
        if position is not None:
            recent.reach(position + len(bundle.bodies))
        if author is None or author.act is not Act.SPEAKS:
            return
        if self._is_mine(bundle):
            self.receipts.on_delivered(bundle, position, final)
        name = self.name_of(bundle.origin)
        if position is None:
            feed = self._feeds.get(author.group)
            if feed is not None:
                feed.on_happening(batch_of(bundle, None, name, True), recent.final)
            return
        for item in items_of(bundle, position, name):
            self._on_item(item, final)

    def _on_item(self, item: Item, final: bool) -> None:
        """Something that readers of a group get to see comes up."""
        self.recent.add(item, final)
        feed = self._feeds.get(item.group)
        if feed is not None:
            feed.on_ordered(item, final, self.recent.final)

    def _is_mine(self, bundle: Bundle) -> bool:
        return bundle.origin == self.site.me and incarnation_of(bundle.id) == self.site.incarnation

    def _on_final(self, below: int) -> None:
        touched: dict[str, Feed] = {}
        for item in self.recent.finalize(below):
            feed = self._feeds.get(item.group)
            if feed is not None:
                feed.on_became_final(item, below)
                touched[item.group] = feed
        self.receipts.on_final(below)
        for feed in touched.values():
            feed.on_final(below)

    def _on_members(self, change: GroupViewChanged) -> None:
        feed = self.feed(change.group)
        view = ViewChange(
            change.position,
            self._participants(change.members),
            self._participants(change.joined),
            self._participants(change.left),
        )
        feed.view = ViewChange(view.view, view.members)
        if change.joined or change.left:
            end = change.position + (1 if self.recent.end > change.position else 0)
            self._on_item(Item(change.position, end, change.group, view), end <= self.recent.final)
        for connection in tuple(self.connections.values()):
            connection.on_members(change.group, change.members)
        self.tidy(feed)

    def _participants(self, members: tuple[Member, ...]) -> tuple[Participant, ...]:
        return tuple(Participant(member.name, self.name_of(member.site), member.session) for member in members)

    def _on_retracted(self, start: int) -> None:
        self.retractions += 1
        self.recent.retract(start)
        self.receipts.on_retracted(start)
        for feed in self._feeds.values():
            feed.on_retracted(start, self.recent.final)

    def _on_blocked(self, blocked: bool) -> None:
        if blocked == self.blocked:
            return
        self.blocked = blocked
        if self._view is not None:
            self._tell_view(self._view, None)
        happening = Blocked() if blocked else Unblocked()
        for feed in self._feeds.values():
            feed.on_happening(happening, self.recent.final)

    def _tell_view(self, view: View, position: int | None) -> None:
        self._view = view
        members = tuple(map(self.name_of, view.members))
        self.questions.on_view(SiteView(view.id, members, position, self.blocked))

    def _on_hole(self, position: int) -> None:
        self.recent.restart_at(position)
        self.receipts.on_hole()
        for feed in self._feeds.values():
            feed.on_hole(position)

    # --- participants ---

    def _on_pressure(self, high: bool) -> None:
        for connection in tuple(self.connections.values()):
            connection.hold(high)

    def on_log(self, accepting: bool) -> None:
        """The ordered log takes entries, or does not."""
        self.pressure.on_log(not accepting)

    def close(self, reason: str) -> None:
        """Hang up on everybody, and let nobody in any more."""
        self.closed = reason
        for connection in tuple(self.connections.values()):
            connection.close(reason)
