"""What participants of this site wait for: that what they have multicast is ordered, or final."""

from __future__ import annotations

from collections import deque

from msgspec import Struct

from ordercast.core.messages import Author, Bundle, Level
from ordercast.core.service import Done, NotDone, Wait
from ordercast.site.gateway.port import Port
from ordercast.site.gateway.pressure import Pressure

Key = tuple[int, int, bool]
"""By what a bundle is recognised when it comes back: session, number, and whether it is ordered."""


class Awaited(Struct, eq=False):
    """One bundle under way."""

    request: int
    port: Port | None
    """None once nobody waits any more."""
    wait: Wait
    weight: int


class _Ordered(Struct, frozen=True):
    """A bundle that has come back, and is not final."""

    position: int
    bundle: Bundle
    awaited: Awaited

    @property
    def end(self) -> int:
        return self.position + len(self.bundle.bodies)


class Receipts:
    """All bundles of this site's participants from their multicast until they are final."""

    def __init__(self, pressure: Pressure) -> None:
        self._pressure = pressure
        self._under_way: dict[Key, deque[Awaited]] = {}
        self._tentative: deque[_Ordered] = deque()

    def __len__(self) -> int:
        return sum(len(each) for each in self._under_way.values()) + len(self._tentative)

    def expect(self, author: Author, level: Level, awaited: Awaited) -> None:
        """The bundle is being multicast."""
        self._pressure.add(awaited.weight)
        self._under_way.setdefault(_key(author, level), deque()).append(awaited)
        if awaited.wait is Wait.ACCEPTED:
            _answer(awaited, None, None)

    def forget(self, port: Port) -> None:
        """The participant is gone."""
        for waiting in self._under_way.values():
            for awaited in waiting:
                if awaited.port is port:
                    awaited.port = None
        for ordered in self._tentative:
            if ordered.awaited.port is port:
                ordered.awaited.port = None

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
        self._pressure.release(awaited.weight)
        if position is None or final or awaited.wait is Wait.ORDERED:
            _answer(awaited, bundle, position)
        if position is not None and not final:
            self._tentative.append(_Ordered(position, bundle, awaited))

    def on_final(self, below: int) -> None:
        """Positions below this one are final."""
        tentative = self._tentative
        while tentative and tentative[0].end <= below:
            ordered = tentative.popleft()
            _answer(ordered.awaited, ordered.bundle, ordered.position)

    def on_hole(self) -> None:
        """The order goes on behind a hole: what of this site has come up in it, nobody tells."""
        for key in [key for key in self._under_way if key[2]]:
            for awaited in self._under_way.pop(key):
                self._pressure.release(awaited.weight)
                _give_up(awaited)

    def on_retracted(self, start: int) -> None:
        """What was ordered from this position on will be ordered anew: it is under way again."""
        tentative = self._tentative
        while tentative and tentative[-1].end > start:
            ordered = tentative.pop()
            assert ordered.bundle.author is not None
            key = _key(ordered.bundle.author, ordered.bundle.level)
            self._pressure.add(ordered.awaited.weight)
            self._under_way.setdefault(key, deque()).appendleft(ordered.awaited)


def _key(author: Author, level: Level) -> Key:
    return author.session, author.number, level >= Level.AGREED


def _give_up(awaited: Awaited) -> None:
    port, awaited.port = awaited.port, None
    if port is not None:
        reason = "this site has been away too long to know what has come up"
        port.tell(NotDone(awaited.request, reason, sent=True))


def _answer(awaited: Awaited, bundle: Bundle | None, position: int | None) -> None:
    """Tell who waits, once."""
    port, awaited.port = awaited.port, None
    if port is None:
        return
    message = None if bundle is None else bundle.id
    repeated = bundle is not None and bool(bundle.void)
    port.tell(Done(awaited.request, message, None if repeated else position, repeated))
