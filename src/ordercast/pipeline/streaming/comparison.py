"""The order at several sites, compared position by position as it comes: no Spark here, and bounded memory.

Of each position a site gives a *mark*, a hash of all that must be the same at every site. The first that comes to a
position sets it, all others are compared with it. What every site has passed is forgotten; of a site that stays far
behind, what it says later is compared by reading again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from ordercast.core.ids import SEQ_BITS, incarnation_of, origin_of, seq_of

HELD_MAX = 4_000_000
"""Marks that are kept for those who are behind, at eight bytes each."""

NO_MESSAGE = -1


class Violation(Struct, frozen=True):
    """What is wrong, where, and at which sites."""

    property: str
    """order, gap or duplicate."""
    position: int
    sites: tuple[str, ...]
    said: str

    def __str__(self) -> str:
        return f"{self.property} at position {self.position}, {' and '.join(self.sites)}: {self.said}"


class Violated(Exception):
    """The first that is found."""

    def __init__(self, violation: Violation) -> None:
        super().__init__(str(violation))
        self.violation = violation


Compare = Callable[[int, int, int, int], Violation | None]
"""Two sites, by their place, and a range: the first difference, by reading both."""


class Comparison:
    """Of the sites named, from a position on."""

    def __init__(self, names: Sequence[str], start: int, compare: Compare, held_max: int = HELD_MAX) -> None:
        import numpy as np

        self.names = tuple(names)
        self.next = [start] * len(names)
        """How far each site is."""
        self._compare = compare
        self._held_max = held_max
        self._base = start
        self._marks = np.empty(0, np.int64)
        """From `_base` on."""
        self._setters: list[tuple[int, int]] = [(start, 0)]
        """From which position on which site has set the marks."""
        self._last: dict[int, tuple[int, int]] = {}
        """By origin and incarnation: its newest message in the order, and its position."""

    @property
    def compared(self) -> int:
        """All sites agree below this position."""
        return min(self.next)

    @property
    def held(self) -> int:
        """So many marks are kept."""
        return len(self._marks)

    def take(self, site: int, positions: Any, messages: Any, marks: Any) -> None:
        """What comes next from a site, by position: arrays of 64-bit integers, `NO_MESSAGE` for what is none.

        Raises `Violated`.
        """
        start = self.next[site]
        self._check_whole(site, positions, start)
        stop = start + len(positions)
        self._recheck(site, start, min(stop, self._base))
        known = min(stop, self._top)
        self._check_same(site, max(start, self._base), known, marks[max(start, self._base) - start : known - start])
        self.next[site] = stop
        if stop > self._top:
            fresh = self._top - start
            self._extend(site, positions[fresh:], messages[fresh:], marks[fresh:])
        self._forget()

    @property
    def _top(self) -> int:
        return self._base + len(self._marks)

    def _check_whole(self, site: int, positions: Any, start: int) -> None:
        import numpy as np

        expected = np.arange(start, start + len(positions))
        wrong = np.flatnonzero(positions != expected)
        if len(wrong):
            found, at = int(positions[wrong[0]]), int(expected[wrong[0]])
            kind, said = ("gap", f"{found} comes next") if found > at else ("duplicate", f"{found} comes once more")
            raise Violated(Violation(kind, at, (self.names[site],), said))

    def _check_same(self, site: int, start: int, stop: int, marks: Any) -> None:
        if stop <= start:
            return
        import numpy as np

        wrong = np.flatnonzero(self._marks[start - self._base : stop - self._base] != marks[: stop - start])
        if len(wrong):
            position = start + int(wrong[0])
            setter = self._setter_of(position)
            names = (self.names[setter], self.names[site])
            found = self._compare(setter, site, position, position + 1)
            raise Violated(found or Violation("order", position, names, "what they hold differs"))

    def _recheck(self, site: int, start: int, stop: int) -> None:
        """The marks are gone: the site was too far behind."""
        if start < stop:
            ahead = max(range(len(self.next)), key=lambda each: self.next[each])
            found = self._compare(ahead, site, start, stop)
            if found is not None:
                raise Violated(found)

    def _extend(self, site: int, positions: Any, messages: Any, marks: Any) -> None:
        import numpy as np

        self._check_repeats(site, positions, messages)
        if self._setters[-1][1] != site:
            self._setters.append((self._top, site))
        self._marks = np.concatenate([self._marks, marks])

    def _check_repeats(self, site: int, positions: Any, messages: Any) -> None:
        """The messages of each life of a site come in the order in which it multicast them, each of them once."""
        import numpy as np

        given = messages != NO_MESSAGE
        positions, messages = positions[given], messages[given]
        if not len(messages):
            return
        lives = messages >> SEQ_BITS
        for life in np.unique(lives):
            own = np.flatnonzero(lives == life)
            newest, at = self._last.get(int(life), (NO_MESSAGE, 0))
            before = np.concatenate([[newest], messages[own][:-1]])
            wrong = np.flatnonzero(messages[own] <= before)
            if len(wrong):
                index = int(wrong[0])
                where = at if index == 0 else int(positions[own[index - 1]])
                message, position = int(messages[own[index]]), int(positions[own[index]])
                said = f"{_named(message)} comes after {_named(int(before[index]))} at position {where}"
                raise Violated(Violation("duplicate", position, (self.names[site],), said))
            self._last[int(life)] = (int(messages[own[-1]]), int(positions[own[-1]]))

    def _setter_of(self, position: int) -> int:
        return next(site for start, site in reversed(self._setters) if start <= position)

    def _forget(self) -> None:
        base = max(self.compared, self._top - self._held_max)
        if base > self._base:
            self._marks = self._marks[base - self._base :].copy()
            self._base = base
            setter = self._setter_of(base)
            self._setters = [(base, setter), *(each for each in self._setters if each[0] > base)]


def _named(message: int) -> str:
    return f"message {seq_of(message)} of site {origin_of(message)} in its life {incarnation_of(message)}"  # type: ignore[arg-type]
