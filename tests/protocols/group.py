"""A small group whose every step the test decides: nothing arrives before the test says so."""

from __future__ import annotations

from collections import deque
from typing import Any

from ordercast.core.effects import Note, Out
from ordercast.core.entries import RoleChange
from ordercast.core.events import Event, Flush, FromAbove, FromBelow, Now, TimerFired, TimerKey, ViewInstalled
from ordercast.core.ids import MessageId, SiteId, Ticket, ViewId, pack_message_id
from ordercast.core.layer import Layer
from ordercast.core.messages import Bundle
from ordercast.core.views import View
from ordercast.protocols.ordering.messages import Tickets
from tests.layers import layer_of, sites


def tickets(clock: int, *issued: tuple[int, MessageId]) -> Tickets:
    """Tickets by themselves; with none it is a promise."""
    return Tickets(Ticket(clock), tuple((Ticket(ticket), message) for ticket, message in issued))


class Member:
    """One site: keeps what its layer puts out."""

    def __init__(self, site: SiteId, layer: Any, group: Group) -> None:
        self.site = site
        self.layer = layer
        self.delivered: list[MessageId] = []
        self.notes: list[Note] = []
        self.roles: list[RoleChange] = []
        self.timers: dict[TimerKey, None] = {}
        self.multicasts = 0
        self._group = group
        self._came_back: deque[Event] = deque()

    def handle(self, event: Event) -> None:
        """As a host does: what the site multicasts comes back to it at once, after the event."""
        out: Out = self
        self.layer.handle(event, self._group.now, out)
        while self._came_back:
            self.layer.handle(self._came_back.popleft(), self._group.now, out)

    def multicast(self, message: Any) -> None:
        self._came_back.append(FromBelow(self.site, message))
        for to in self._group.sites:
            if to != self.site:
                self.send(to, message)

    def send(self, to: SiteId, message: Any) -> None:
        self._group.channels[self.site, to].append(message)

    def deliver(self, sender: SiteId, message: Bundle | RoleChange) -> None:
        if isinstance(message, RoleChange):
            self.roles.append(message)
            return
        assert sender == message.origin
        self.delivered.append(message.id)

    def install(self, view: View) -> None:
        pass

    def set_timer(self, key: TimerKey, after_us: int) -> None:
        self.timers[key] = None

    def cancel(self, key: TimerKey) -> None:
        self.timers.pop(key, None)

    def save(self, key: str, value: bytes, *, binding: bool = True) -> None:
        raise AssertionError("no ordering protocol saves anything")

    def record(self, note: Note) -> None:
        self.notes.append(note)


class Group:
    """Sites 0, 1, 2 ... under one protocol."""

    def __init__(self, protocol: str, count: int = 3, **options: Any) -> None:
        self.now = Now(0, 0, 0)
        self.sites = sites(count)
        self.channels: dict[tuple[int, int], deque[Any]] = {(a, b): deque() for a in self.sites for b in self.sites}
        self.members = [Member(site, layer_of(protocol, site, count, **options), self) for site in self.sites]
        for member in self.members:
            member.handle(ViewInstalled(View(ViewId(1), self.sites)))

    def layer(self, site: int) -> Any:
        """A site's state."""
        layer: Layer = self.members[site].layer
        return layer

    def at(self, now_us: int) -> None:
        """From now on it is so late."""
        self.now = Now(now_us, now_us, 0)

    def multicast(self, site: int) -> MessageId:
        """A participant of the site multicasts its next message."""
        member = self.members[site]
        id = pack_message_id(SiteId(site), 0, member.multicasts)
        member.multicasts += 1
        member.handle(FromAbove(Bundle(id, (b"",))))
        return id

    def wake(self, site: int) -> None:
        """All timers of the site run out."""
        member = self.members[site]
        keys = list(member.timers)
        member.timers.clear()
        for key in keys:
            member.handle(TimerFired(key))

    def arrive(self, sender: int, to: int) -> Any:
        """The oldest message on its way from one site to another arrives."""
        message = self.channels[sender, to].popleft()
        self.members[to].handle(FromBelow(SiteId(sender), message))
        return message

    def flush(self) -> None:
        """All sites are told that no more traffic is coming."""
        for member in self.members:
            member.handle(Flush())

    def settle(self) -> None:
        """Everything on its way arrives, and whatever that sets off."""
        while any(self.channels.values()):
            for sender, to in self.channels:
                while self.channels[sender, to]:
                    self.arrive(sender, to)

    def under_way(self, sender: int, to: int) -> list[Any]:
        """What is on its way from one site to another."""
        return list(self.channels[sender, to])

    def delivered(self) -> list[list[MessageId]]:
        """By site."""
        return [member.delivered for member in self.members]
