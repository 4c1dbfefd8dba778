"""Which messages of which sessions have come up: what a participant multicasts again is recognised.

A session numbers its messages 0, 1, 2, ... A participant that does not know what became of one multicasts it again
with the same number, through the same site or another. Whatever is decided here follows from the order alone, so it
is the same at every site.
"""

from __future__ import annotations

import sys
from bisect import bisect_left, bisect_right

from msgspec import Struct

from ordercast.core.messages import UNNUMBERED, Act, Author, Bundle

FORGOTTEN_AFTER = 1_000_000
"""A session whose newest message lies more positions back than this is unknown again."""

SWEEP_EVERY = 1 << 16
"""So often, in positions, those that are unknown again are taken out of memory."""

GAPS_MAX = 1 << 14
"""So many gaps are remembered of a session. What lies in an older one counts as having come up."""

GAPS_LEFT_MAX = GAPS_MAX // 2
"""A session with so many has no room for new messages before it has multicast again some of those that are missing: as
many gaps as that again may come of what is under way by then. That is more than a participant makes that multicasts all
that was under way again, one by one and by way of several sites at once."""

Gap = tuple[int, int]
"""Numbers, from the first up to but not including the second, that have not come up although a higher one has."""


class Known(Struct, frozen=True, array_like=True, gc=False):
    """What has come up of one session."""

    next: int
    """One above the highest number."""
    position: int
    """Of its newest message."""
    gaps: tuple[Gap, ...] = ()
    """Fifo and causal messages leave them, and whatever was multicast again too late."""

    def has(self, number: int) -> bool:
        """Whether the message of this number has come up."""
        return number < self.next and not any(start <= number < stop for start, stop in self.gaps[self._around(number)])

    def without(self, first: int, stop: int) -> tuple[Gap, ...]:
        """The gaps that are left once numbers from `first` up to `stop` have come up."""
        touched = slice(self._around(first).start, bisect_left(self.gaps, (stop,)))
        left = [each for gap in self.gaps[touched] for each in _without(gap, first, stop)]
        return (*self.gaps[: touched.start], *left, *self.gaps[touched.stop :])

    def _around(self, number: int) -> slice:
        """The one gap in which the number can lie."""
        after = bisect_right(self.gaps, (number, sys.maxsize))
        return slice(max(0, after - 1), after)


class Authors(Struct, array_like=True):
    """All sessions, as they are at some place of the order."""

    known: dict[int, Known] = {}
    swept: int = 0
    """The position at which those that are unknown again were last taken out of memory."""

    def admit(self, bundle: Bundle, position: int) -> Bundle:
        """The bundle as it comes up at a position: what has come up before is void."""
        author = bundle.author
        assert author is not None
        known = self._of(author, position)
        if known is None or author.number >= known.next or author.number == UNNUMBERED:
            void: tuple[int, ...] = ()
        elif author.act is not Act.SPEAKS:
            void = tuple(range(len(bundle.bodies)))  # who says so has said something later
        else:
            void = tuple(index for index in range(len(bundle.bodies)) if known.has(author.number + index))
        return bundle if void == bundle.void else with_void(bundle, void)

    def has_room(self, author: Author) -> bool:
        """Whether its session may multicast this: what it left out before, or something new after few gaps."""
        known = self.known.get(author.session)
        return known is None or author.number < known.next or len(known.gaps) < GAPS_LEFT_MAX

    def take(self, author: Author, count: int, position: int) -> None:
        """So many messages of an author have come up, the first at this position."""
        first, stop = author.number, author.number + count
        if first == UNNUMBERED:
            return
        known = self._of(author, position)
        top, gaps = (0, ()) if known is None else (known.next, known.gaps)
        if known is not None and first < top:
            gaps = known.without(first, stop)
        elif first > top:
            gaps = (*gaps, (top, first))[-GAPS_MAX:]
        self.known[author.session] = Known(max(top, stop), position, gaps)
        if position - self.swept >= SWEEP_EVERY:
            self._sweep(position)

    def copy(self) -> Authors:
        """The same, to keep."""
        return Authors(dict(self.known), self.swept)

    def _of(self, author: Author, position: int) -> Known | None:
        known = self.known.get(author.session)
        return None if known is None or position - known.position > FORGOTTEN_AFTER else known

    def _sweep(self, position: int) -> None:
        old = [session for session, known in self.known.items() if position - known.position > FORGOTTEN_AFTER]
        for session in old:
            del self.known[session]
        self.swept = position


def with_void(bundle: Bundle, void: tuple[int, ...]) -> Bundle:
    """The same bundle with these bodies void."""
    return Bundle(bundle.id, bundle.bodies, bundle.level, bundle.past, bundle.ordered_past, bundle.author, void)


def _without(gap: Gap, first: int, stop: int) -> list[Gap]:
    """What is left of a gap once numbers from `first` up to `stop` have come up."""
    start, end = gap
    return [each for each in ((start, min(end, first)), (max(start, stop), end)) if each[0] < each[1]]
