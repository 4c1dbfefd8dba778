"""The newest part of the order in memory: where readers of the log come to what is live, without a gap or a double."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import pairwise

from msgspec import Struct

from ordercast.core.messages import Bundle
from ordercast.core.stream import Batch, Participant, ViewChange, weight_of

RECENT_BYTES = 4 << 20
"""So much is kept although it is final and in the log."""


class Item(Struct, frozen=True, gc=False):
    """Something that readers of a group get to see."""

    position: int
    end: int
    """The position after it. A change of members that follows from a retraction takes none."""
    group: str
    event: Batch | ViewChange


class Recent:
    """Everything with a position from `start` on, up to `end`; all that is not final is in it."""

    def __init__(self, end: int, final: int, bound_bytes: int = RECENT_BYTES) -> None:
        self.start = end
        self.end = end
        self.final = final
        self._bound_bytes = bound_bytes
        self._bytes = 0
        self._items: deque[Item] = deque()
        self._tentative: deque[Item] = deque()

    def add(self, item: Item, final: bool) -> None:
        """The next of the order."""
        self._items.append(item)
        self._bytes += weight_of(item.event)
        if not final:
            self._tentative.append(item)

    def reach(self, end: int) -> None:
        """The order goes up to here."""
        self.end = max(self.end, end)
        if self._bytes > self._bound_bytes:
            self._trim()

    def finalize(self, below: int) -> list[Item]:
        """Positions below this one are final; returns what has become so."""
        self.final = max(self.final, below)
        became: list[Item] = []
        tentative = self._tentative
        while tentative and tentative[0].end <= below:
            became.append(tentative.popleft())
        return became

    def retract(self, start: int) -> None:
        """What is here from this position on is void."""
        while self._items and self._items[-1].position >= start:
            self._bytes -= weight_of(self._items.pop().event)
        while self._tentative and self._tentative[-1].position >= start:
            self._tentative.pop()
        self.end = min(self.end, start)

    def restart_at(self, position: int) -> None:
        """The order goes on here, with a hole before it."""
        self._items.clear()
        self._tentative.clear()
        self._bytes = 0
        self.start = self.end = self.final = position

    def of(self, group: str, start: int) -> Iterator[Item]:
        """What a group's readers get to see from a position on."""
        for item in self._items:
            if (item.end > start or item.position >= start) and item.group == group:
                yield from_position(item, start)

    def final_of(self, group: str, start: int) -> list[Item]:
        """The same of what is final."""
        return [item for item in self.of(group, start) if item.end <= self.final and item.end > start]

    def _trim(self) -> None:
        items = self._items
        while self._bytes > self._bound_bytes and items and items[0].end <= self.final:
            item = items.popleft()
            self._bytes -= weight_of(item.event)
            self.start = max(self.start, item.end)


def items_of(bundle: Bundle, position: int, site: str) -> list[Item]:
    """What readers see of a bundle at a position: its messages, but for those that had come up before."""
    whole = batch_of(bundle, position, site, False)
    assert bundle.author is not None
    group = bundle.author.group
    if not bundle.void:
        return [Item(position, position + len(bundle.bodies), group, whole)]
    items = []
    borders = [-1, *bundle.void, len(bundle.bodies)]
    for before, after in pairwise(borders):
        if after - before > 1:
            items.append(Item(position + before + 1, position + after, group, whole.part(before + 1, after)))
    return items


def batch_of(bundle: Bundle, position: int | None, site: str, final: bool) -> Batch:
    """A bundle as readers see it."""
    author = bundle.author
    assert author is not None
    sender = Participant(author.name, site, author.session)
    return Batch(position, sender, bundle.bodies, final, bundle.level, bundle.id)


def as_final(event: Batch | ViewChange, final: bool) -> Batch | ViewChange:
    """The same, with what is known of its positions now."""
    if not isinstance(event, Batch) or event.final == final:
        return event
    return Batch(event.position, event.sender, event.payloads, final, event.level, event.message)


def from_position(item: Item, start: int) -> Item:
    """What is left of an item if reading begins at a position."""
    if item.position >= start or not isinstance(item.event, Batch):
        return item
    batch = item.event.part(start - item.position, len(item.event.payloads))
    return Item(start, item.end, item.group, batch)
