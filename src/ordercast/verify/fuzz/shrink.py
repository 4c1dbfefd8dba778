"""Make a failing case small: leave out and lower picks as long as it fails in the same way.

A case is first made small by whole things, a change or a fault, which takes few runs and leaves little; then pick by
pick.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from msgspec.structs import replace

from ordercast.verify.fuzz.draw import drawn_from
from ordercast.verify.fuzz.drawn import without_trailing_zeros

RUNS_MAX = 1500
"""So many shorter or lower lists are tried at the most."""

SIZES = (32, 16, 8, 7, 6, 5, 4, 3, 2, 1)
"""So many neighbours are left out together: a fault or a change of settings takes up to seven picks."""

Fails = Callable[[list[int]], bool]
Tidy = Callable[[list[int]], list[int]]
"""Another way to say the same decisions, as short as they can be said."""


class _Search:
    """The smallest failing list found so far."""

    def __init__(self, picks: list[int], fails: Fails, tidy: Tidy, enough: int) -> None:
        self.picks = tidy(picks)
        self._fails = fails
        self._tidy = tidy
        self._enough = enough
        self._tried = {tuple(self.picks)}

    def accepts(self, candidate: list[int]) -> bool:
        """Keep a candidate if it fails, too."""
        candidate = self._tidy(candidate)
        known = tuple(candidate) in self._tried
        if known or len(self._tried) > RUNS_MAX or len(self.picks) <= self._enough:
            return False
        self._tried.add(tuple(candidate))
        if not self._fails(candidate):
            return False
        self.picks = candidate
        return True


def shrink(picks: list[int], fails: Fails) -> list[int]:
    """A list that still fails and is much shorter, as a rule."""
    search = _Search(picks, fails, without_trailing_zeros, enough=0)
    _shrink_picks(search)
    return search.picks


def shrink_case(picks: list[int], fails: Fails, enough: int = 0) -> list[int]:
    """The same for what a `Draw` takes. So many picks are few enough: it ends as soon as no more are left."""
    search = _Search(picks, fails, _as_drawn, enough)
    _leave_out_things(search, "changes")
    _leave_out_things(search, "faults")
    _lower(search, 0)
    _shrink_picks(search)
    return search.picks


def _as_drawn(picks: list[int]) -> list[int]:
    """No pick larger than its question allows, and none that nobody asks for."""
    return drawn_from(picks).picks()


def _leave_out_things(search: _Search, kind: Literal["changes", "faults"]) -> None:
    """All of them at once; then half as many, and so on."""
    size = len(getattr(drawn_from(search.picks), kind))
    while size:
        at = 0
        while at < len(getattr(drawn := drawn_from(search.picks), kind)):
            things = getattr(drawn, kind)
            if not search.accepts(replace(drawn, **{kind: things[:at] + things[at + size :]}).picks()):
                at += size
        size //= 2


def _shrink_picks(search: _Search) -> None:
    _cut_tail(search)
    _lower(search, 0)  # as a rule it says how large everything is, and small cases run faster
    before: list[int] | None = None
    while search.picks != before:
        before = search.picks
        for size in SIZES:
            _leave_out(search, size)
        for at in range(len(search.picks)):
            _lower(search, at)


def _cut_tail(search: _Search) -> None:
    """What comes late often does not matter."""
    keep = 0
    while keep < len(search.picks) and not search.accepts(search.picks[:keep]):
        keep = max(1, keep * 2)


def _leave_out(search: _Search, size: int) -> None:
    at = 0
    while at < len(search.picks):
        picks = search.picks
        if not search.accepts(picks[:at] + picks[at + size :]):
            at += max(1, size // 8)


def _lower(search: _Search, at: int) -> None:
    """Take off as much as can be taken off, and then ever less."""
    step = _value(search, at)
    while step:
        picks = search.picks
        if not search.accepts([*picks[:at], picks[at] - step, *picks[at + 1 :]]):
            step //= 2
        step = min(step, _value(search, at))


def _value(search: _Search, at: int) -> int:
    return search.picks[at] if at < len(search.picks) else 0
