"""What a layer asks for: the verbs of `Out`, and the same as data."""

from __future__ import annotations

from typing import Any, Protocol

from msgspec import Struct

from ordercast.core.events import TimerKey
from ordercast.core.ids import MessageId, SiteId, Ticket
from ordercast.core.views import View


class Note(Struct, frozen=True, gc=False):
    """Something a protocol did that belongs in the trace and that no host can see from outside.

    Becomes a trace record of this `kind` (`core.trace`); unused fields stay empty there too.
    """

    kind: str
    message: MessageId | None = None
    ticket: Ticket | None = None
    position: int | None = None
    detail: str | None = None
    """What was measured and why it was done, for people."""


class Out(Protocol):
    """Where a layer puts its effects. They are performed in the order they were put."""

    def multicast(self, message: Any) -> None:
        """Give a message to the layer below for every member of the view, this site included."""

    def send(self, to: SiteId, message: Any) -> None:
        """Give a message to the layer below for one site."""

    def deliver(self, sender: SiteId, message: Any) -> None:
        """Hand a message up to the layer above, at the top to the participants."""

    def install(self, view: View) -> None:
        """Tell the layer above that a view begins."""

    def set_timer(self, key: TimerKey, after_us: int) -> None:
        """Fire once, so much later; setting a key again replaces it."""

    def cancel(self, key: TimerKey) -> None:
        """Make sure that the timer does not fire."""

    def save(self, key: str, value: bytes, *, binding: bool = True) -> None:
        """Store a value durably before any send that follows.

        Nothing waits for one that is not `binding`: it has its place among what is logged, and may be lost with that.
        """

    def record(self, note: Note) -> None:
        """Leave a trace record."""


class Multicast(Struct, frozen=True, gc=False):
    message: Any


class Send(Struct, frozen=True, gc=False):
    to: SiteId
    message: Any


class Deliver(Struct, frozen=True, gc=False):
    sender: SiteId
    message: Any


class Install(Struct, frozen=True, gc=False):
    view: View


class SetTimer(Struct, frozen=True, gc=False):
    key: TimerKey
    after_us: int


class Cancel(Struct, frozen=True, gc=False):
    key: TimerKey


class Save(Struct, frozen=True, gc=False):
    key: str
    value: bytes
    binding: bool = True


class Record(Struct, frozen=True, gc=False):
    note: Note


Effect = Multicast | Send | Deliver | Install | SetTimer | Cancel | Save | Record


class Effects:
    """An `Out` that keeps the effects as data, in order: for the explorer, the live site and tests."""

    __slots__ = ("list",)

    def __init__(self) -> None:
        self.list: list[Effect] = []

    def multicast(self, message: Any) -> None:
        self.list.append(Multicast(message))

    def send(self, to: SiteId, message: Any) -> None:
        self.list.append(Send(to, message))

    def deliver(self, sender: SiteId, message: Any) -> None:
        self.list.append(Deliver(sender, message))

    def install(self, view: View) -> None:
        self.list.append(Install(view))

    def set_timer(self, key: TimerKey, after_us: int) -> None:
        self.list.append(SetTimer(key, after_us))

    def cancel(self, key: TimerKey) -> None:
        self.list.append(Cancel(key))

    def save(self, key: str, value: bytes, *, binding: bool = True) -> None:
        self.list.append(Save(key, value, binding))

    def record(self, note: Note) -> None:
        self.list.append(Record(note))
