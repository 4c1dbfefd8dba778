"""The messages of one view at one site: numbering, what is kept for others, and how a cut is completed."""

from __future__ import annotations

from typing import Generic, TypeVar

from msgspec import Struct

from ordercast.core.ids import SiteId
from ordercast.core.views import View
from ordercast.protocols.membership.messages import Cut

Payload = TypeVar("Payload")


class Sender(Struct, Generic[Payload]):
    """The messages of one member in this view."""

    held: int = 0
    """Received without a gap so far."""
    handed: int = 0
    """Handed up so far; less than held while the view is being closed."""
    stable: int = 0
    """Known to be held by every member, and not kept any more."""
    kept: dict[int, Payload] = {}

    def take(self, number: int, payload: Payload) -> None:
        """A message has come; those that come twice, or too early, do not count."""
        if number == self.held + 1:
            self.held = number
            self.kept[number] = payload

    def release(self, stable: int) -> None:
        """Every member holds the messages up to this number."""
        for number in range(self.stable + 1, stable + 1):
            del self.kept[number]
        self.stable = max(self.stable, stable)


class Traffic(Struct, Generic[Payload]):
    """All messages of a view."""

    senders: dict[SiteId, Sender[Payload]]
    reported: dict[SiteId, tuple[int, ...]] = {}
    """What each other member says it has handed up, in the order of the view."""

    @classmethod
    def of(cls, view: View) -> Traffic[Payload]:
        """Nothing has been multicast yet."""
        return cls({member: Sender() for member in view.members})

    def held(self) -> tuple[int, ...]:
        """How many messages of each member are held, in the order of the view."""
        return tuple(sender.held for sender in self.senders.values())

    def handed(self) -> tuple[int, ...]:
        """How many messages of each member have been handed up, in the order of the view."""
        return tuple(sender.handed for sender in self.senders.values())

    def report(self, member: SiteId, handed: tuple[int, ...]) -> None:
        """A member says what it has handed up: what all have is not kept any longer."""
        self.reported[member] = handed
        if not self.all_report():
            return
        for sender, *others in zip(self.senders.values(), *self.reported.values(), strict=True):
            stable = min(sender.handed, *others)
            if stable > sender.stable:
                sender.release(stable)

    def all_report(self) -> bool:
        """Whether every other member has been heard in this view."""
        return len(self.reported) == len(self.senders) - 1

    def missing(self, cuts: tuple[Cut, ...]) -> list[Cut]:
        """What of the cut is not held here yet."""
        return [cut for cut in cuts if self.senders[cut.sender].held < cut.count]

    def kept_count(self) -> int:
        """How many messages are kept for others."""
        return sum(len(sender.kept) for sender in self.senders.values())
