"""Participants above a site group: who of them is a member of which participants' group, by the order alone.

To join, and to leave, are bundles of the order, so all sites see the members of a group change at the same positions.
Members by way of a site that leaves the view are gone where the view comes up. A site that is back says again who is
connected to it.

Deliveries pass through. What they change is told behind them, as `GroupViewChanged`; what is retracted is told, too.
The members at the last final position are this layer's part of a snapshot, and what it saves.

Whatever is multicast at a site passes here, so this is where its messages get their numbers.
"""

from __future__ import annotations

from typing import Any, ClassVar, assert_never

import msgspec
from msgspec import Struct, field

from ordercast.core import canonical
from ordercast.core.deliveries import (
    Delivered,
    Finalized,
    GroupViewChanged,
    Logged,
    Retracted,
    Snapshot,
    SnapshotWanted,
    Taken,
    Truncated,
    ViewChanged,
)
from ordercast.core.effects import Out
from ordercast.core.entries import Content, Entry
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
from ordercast.core.ids import MessageId, SiteId, pack_message_id, seq_of
from ordercast.core.layer import Waiting
from ordercast.core.messages import UNNUMBERED, Act, Author, Bundle, Level
from ordercast.core.participants import Attach, Detach, JoinGroup, LeaveGroup, Speak
from ordercast.core.plans import ChangeOrdering
from ordercast.core.views import View
from ordercast.protocols.groups.members import Change, Members, concerns_members

PLANNER = Author("", "", 0, UNNUMBERED, Act.PLANS)

SAVE_EVERY = 10_000
"""So many positions may become final before the members are saved again: a restarted site reads no more than that."""


class SavedMembers(Struct, array_like=True):
    """What a restarted site needs beside the entries in its log."""

    position: int
    members: Members
    """After everything below the position, which is final."""


class Participants(Struct):
    """The part of one life of a site."""

    WIRE: ClassVar[Any] = None

    me: SiteId
    incarnation: int
    next_seq: int = 0
    """Of the messages that this life multicasts."""
    final: int = 0
    """Positions below are final ..."""
    members: Members = field(default_factory=Members)
    """... and these are the members there."""
    told: Members = field(default_factory=Members)
    """As the host has been told, ..."""
    told_below: int = 0
    """... of all entries below this position."""
    tail: list[tuple[int, Content]] = []
    """What is logged, concerns members and is not final, or has not been delivered yet."""
    saved_at: int = 0
    attached: dict[int, str] = {}
    """The participants that are connected, by session, with their names ..."""
    wanted: dict[int, list[str]] = {}
    """... and the groups that they want to be members of."""
    lost: list[tuple[int, str]] = []
    """Memberships that ended because this site left the view."""

    @classmethod
    def start(
        cls, me: SiteId, incarnation: int, saved: bytes | None, entries: tuple[Entry, ...], final: int
    ) -> Participants:
        """A site that comes up, with what an earlier life has saved and logged."""
        known = SavedMembers(0, Members()) if saved is None else msgspec.msgpack.decode(saved, type=SavedMembers)
        layer = cls(me, incarnation, 0, max(final, known.position), known.members, saved_at=known.position)
        for entry in entries:
            if entry.position >= known.position and concerns_members(entry.content):
                layer.tail.append((entry.position, entry.content))
        layer._fold(known.position, layer.final)
        layer.told, layer.told_below = layer.members.copy(), layer.final
        layer._prune()
        return layer

    def handle(self, event: Event, now: Now, out: Out) -> None:
        match event:
            case FromBelow(sender=sender, message=message):
                self.on_told(sender, message, out)
            case FromAbove(message=Bundle() as bundle):
                assert seq_of(bundle.id) >= self.next_seq, f"message {bundle.id} has been multicast before"
                self.next_seq = seq_of(bundle.id) + len(bundle.bodies)
                out.multicast(bundle)
            case FromAbove(message=Speak(bodies=bodies, level=level, author=author)):
                self.speak(bodies, level, author, out)
            case FromAbove(message=ChangeOrdering() as change):
                self.speak((msgspec.msgpack.encode(change),), Level.AGREED, PLANNER, out)
            case FromAbove(message=Attach(session=session, name=name)):
                self.attached[session] = name
            case FromAbove(message=JoinGroup() as join):
                self.join(join, out)
            case FromAbove(message=LeaveGroup() as leave):
                self.leave(leave, out)
            case FromAbove(message=Detach(session=session)):
                self.detach(session, out)
            case FromAbove(message=message):
                out.multicast(message)
            case Started():
                for group in sorted(self.told.groups):
                    self.tell(Change(group), self.final, out)
            case Flush():
                pass
            case TimerFired() | ViewInstalled() | ViewClosed():
                raise AssertionError(f"not for participants: {event}")
            case _:
                assert_never(event)

    # --- what the host asks for ---

    @property
    def next_message(self) -> MessageId:
        """The id of the message that is multicast next."""
        return pack_message_id(self.me, self.incarnation, self.next_seq)

    def speak(self, bodies: tuple[bytes, ...], level: Level, author: Author, out: Out) -> None:
        bundle = Bundle(self.next_message, bodies, level, author=author)
        self.next_seq += len(bodies)
        out.deliver(self.me, Taken(bundle))
        out.multicast(bundle)

    def join(self, join: JoinGroup, out: Out) -> None:
        groups = self.wanted.setdefault(join.session, [])
        if join.group not in groups:
            groups.append(join.group)
        self.say(Act.JOINS, join.session, join.group, join.number, out)

    def leave(self, leave: LeaveGroup, out: Out) -> None:
        groups = self.wanted.get(leave.session, [])
        if leave.group in groups:
            groups.remove(leave.group)
        self.say(Act.LEAVES, leave.session, leave.group, leave.number, out)

    def detach(self, session: int, out: Out) -> None:
        for group in self.wanted.pop(session, []):
            self.say(Act.LEAVES, session, group, UNNUMBERED, out)
        del self.attached[session]

    def say(self, act: Act, session: int, group: str, number: int, out: Out) -> None:
        """Multicast that a participant joins or leaves."""
        author = Author(group, self.attached[session], session, number, act)
        self.speak((b"",), Level.AGREED, author, out)

    def say_again(self, out: Out) -> None:
        """This site is back: its participants still want to be in."""
        lost, self.lost = self.lost, []
        for session, group in lost:
            if group in self.wanted.get(session, ()) and not self.told.has(group, session):
                self.say(Act.JOINS, session, group, UNNUMBERED, out)

    # --- what the group tells ---

    def on_told(self, sender: SiteId, message: Any, out: Out) -> None:
        match message:
            case Delivered(bundle=bundle, position=position):
                out.deliver(sender, message)
                if bundle.author is not None and position is not None and concerns_members(bundle):
                    self.on_shown(bundle, position, out)
            case Logged(entry=entry):
                if concerns_members(entry.content) and entry.position >= self.final:
                    self.on_logged(entry, out)
                out.deliver(sender, message)
            case Finalized(below=below):
                self.on_final(below, out)
                out.deliver(sender, message)
            case ViewChanged(view=view, position=position):
                out.deliver(sender, message)
                self.on_shown(view, position, out)
            case Truncated(from_position=start):
                self.tail = [each for each in self.tail if each[0] < start]
                out.deliver(sender, message)
            case Retracted(from_position=start):
                out.deliver(sender, message)
                self.on_retracted(start, out)
            case SnapshotWanted():
                out.multicast(Snapshot(self.final, canonical.encode(self.members)))
            case Snapshot():
                self.on_snapshot(sender, message, out)
            case _:
                out.deliver(sender, message)

    def on_logged(self, entry: Entry, out: Out) -> None:
        self.tail.append((entry.position, entry.content))
        if isinstance(entry.content, View):
            self.save(out)

    def on_final(self, below: int, out: Out) -> None:
        if below <= self.final:
            return  # a snapshot had been saved, and nothing that came after it
        if self.tail:
            self._fold(self.final, below)
        self.final = below
        if self.tail:
            self._prune()
        if below - self.saved_at >= SAVE_EVERY:
            self.save(out, binding=False)

    def on_shown(self, content: Bundle | View, position: int, out: Out) -> None:
        """The host has been given an entry that can change who is in."""
        if position < self.told_below:
            return
        changes = self.told.apply(content, position)
        self.told_below = position + 1
        self._prune()
        self.take_note(changes, position, out)
        if isinstance(content, View) and content.incarnation(self.me) == self.incarnation:
            self.say_again(out)

    def on_retracted(self, start: int, out: Out) -> None:
        """The host is back at what is final, and what is left behind it."""
        if start >= self.told_below:
            return
        before, self.told, self.told_below = self.told, self.members.copy(), start
        for position, content in self.tail:
            if position >= self.final:
                self.told.apply(content, position)
        for change in before.changes_to(self.told):
            self.tell(change, start, out)

    def on_snapshot(self, sender: SiteId, snapshot: Snapshot, out: Out) -> None:
        """Begin with what others hold; saved before the host forgets what was before it."""
        before, position = self.told, snapshot.position
        self.members = msgspec.msgpack.decode(snapshot.state, type=Members)
        self.told, self.told_below, self.final = self.members.copy(), position, position
        self.tail.clear()
        self.save(out)
        out.deliver(sender, snapshot)
        self.take_note(before.changes_to(self.told), position, out)
        self.say_again(out)

    def take_note(self, changes: tuple[Change, ...], position: int, out: Out) -> None:
        """Tell the host what has changed; and remember who is gone although it is connected here."""
        for change in changes:
            self.tell(change, position, out)
            for member in change.left:
                if change.group in self.wanted.get(member.session, ()):
                    self.lost.append((member.session, change.group))

    def tell(self, change: Change, position: int, out: Out) -> None:
        members = self.told.of(change.group)
        out.deliver(self.me, GroupViewChanged(change.group, position, members, change.joined, change.left))

    def save(self, out: Out, *, binding: bool = True) -> None:
        self.saved_at = self.final
        out.save("participants", canonical.encode(SavedMembers(self.final, self.members)), binding=binding)

    def _fold(self, start: int, below: int) -> None:
        """Positions from `start` up to `below` are final now."""
        for position, content in self.tail:
            if start <= position < below:
                self.members.apply(content, position)

    def _prune(self) -> None:
        """Forget what is both final and told."""
        needed_from = min(self.final, self.told_below)
        if self.tail and self.tail[0][0] < needed_from:
            self.tail = [each for each in self.tail if each[0] >= needed_from]

    def waiting_for(self) -> Waiting | None:
        return None
