"""What participants of this site wait for: that what they have multicast is ordered, or final."""

from __future__ import annotations

from collections import deque

from msgspec import Struct

from ordercast.core.ids import MessageId
from ordercast.core.messages import Author, Bundle, Level
from ordercast.core.service import Done, NotDone, Wait
from ordercast.site.gateway.port import Port
from ordercast.site.gateway.pressure import Pressure

Key = tuple[int, int, bool]
"""By what a bundle is recognised when it comes back: session, number, and whether it is ordered."""


class Awaited(Struct, eq=False):
    """One request: a bundle under way, or consecutive messages of one."""

    request: int
    port: Port | None
    """None once nobody waits any more."""
    wait: Wait
    weight: int
    count: int
    """Of its messages."""


class _Ordered(Struct, frozen=True):
    """A bundle that has come back, and is not final."""

    position: int
    bundle: Bundle
    awaited: list[Awaited]

    @property
    def end(self) -> int:
        return self.position + len(self.bundle.bodies)


class Receipts:
    """All bundles of this site's participants from their multicast until they are final."""

    def __init__(self, pressure: Pressure) -> None:
        self._pressure = pressure
        self._under_way: dict[Key, deque[list[Awaited]]] = {}
        self._tentative: deque[_Ordered] = deque()

    def __len__(self) -> int:
        return sum(len(each) for each in self._under_way.values()) + len(self._tentative)

    def expect(self, author: Author, level: Level, awaited: list[Awaited]) -> None:
        """A bundle is being multicast: of these requests, in order."""
        self._pressure.add(_weight(awaited))
        self._under_way.setdefault(_key(author, level), deque()).append(awaited)
        for each in awaited:
            if each.wait is Wait.ACCEPTED:
                _answer(each, None, None)

    def forget(self, port: Port) -> None:
        """The participant is gone."""
        under_way = [awaited for waiting in self._under_way.values() for awaited in waiting]
        for awaited in under_way + [ordered.awaited for ordered in self._tentative]:
            for each in awaited:
                if each.port is port:
                    each.port = None

    def on_delivered(self, bundle: Bundle, position: int | None, final: bool) -> None:
        """One of this site's own bundles has come back."""
        assert bundle.author is not None
        key = _key(bundle.author, bundle.level)
        waiting = self._under_way.get(key)
        if waiting is None:
            return
        awaited = waiting.popleft()
        if not waiting:
            del self._under_way[key]
        self._pressure.release(_weight(awaited))
        _answer_all(awaited, bundle, position, only_ordered=position is not None and not final)
        if position is not None and not final:
            self._tentative.append(_Ordered(position, bundle, awaited))

    def on_final(self, below: int) -> None:
        """Positions below this one are final."""
        tentative = self._tentative
        while tentative and tentative[0].end <= below:
            ordered = tentative.popleft()
            _answer_all(ordered.awaited, ordered.bundle, ordered.position)

    def on_hole(self) -> None:
        """The order goes on behind a hole: what of this site has come up in it, nobody tells."""
        for key in [key for key in self._under_way if key[2]]:
            for awaited in self._under_way.pop(key):
                self._pressure.release(_weight(awaited))
                for each in awaited:
                    _give_up(each)

    def on_retracted(self, start: int) -> None:
        """What was ordered from this position on will be ordered anew: it is under way again."""
        tentative = self._tentative
        while tentative and tentative[-1].end > start:
            ordered = tentative.pop()
            assert ordered.bundle.author is not None
            key = _key(ordered.bundle.author, ordered.bundle.level)
            self._pressure.add(_weight(ordered.awaited))
            self._under_way.setdefault(key, deque()).appendleft(ordered.awaited)


def _key(author: Author, level: Level) -> Key:
    return author.session, author.number, level >= Level.AGREED


def _weight(awaited: list[Awaited]) -> int:
    return sum([each.weight for each in awaited])


def _give_up(awaited: Awaited) -> None:
    port, awaited.port = awaited.port, None
    if port is not None:
        reason = "this site has been away too long to know what has come up"
        port.tell(NotDone(awaited.request, reason, sent=True))


def _answer_all(awaited: list[Awaited], bundle: Bundle, position: int | None, *, only_ordered: bool = False) -> None:
    """Tell all who wait, or those who do not wait until it is final, of their part of the bundle."""
    index = 0
    for each in awaited:
        stop = index + each.count
        if each.port is not None and (not only_ordered or each.wait is Wait.ORDERED):
            repeated = bool(bundle.void) and any(index <= void < stop for void in bundle.void)
            place = None if position is None or repeated else position + index
            _answer(each, MessageId(bundle.id + index), place, repeated=repeated)
        index = stop


def _answer(awaited: Awaited, message: MessageId | None, position: int | None, *, repeated: bool = False) -> None:
    """Tell who waits, once."""
    port, awaited.port = awaited.port, None
    if port is not None:
        port.tell(Done(awaited.request, message, position, repeated))
