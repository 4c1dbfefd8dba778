"""Make a failing case small: leave out and lower picks as long as it fails in the same way."""

from __future__ import annotations

from collections.abc import Callable

RUNS_MAX = 1500
"""So many shorter or lower lists are tried at the most."""

SIZES = (32, 16, 8, 7, 6, 5, 4, 3, 2, 1)
"""So many neighbours are left out together: a fault or a change of settings takes up to seven picks."""

Fails = Callable[[list[int]], bool]


class _Search:
    """The smallest failing list found so far."""

    def __init__(self, picks: list[int], fails: Fails) -> None:
        self.picks = picks
        self._fails = fails
        self._runs = 0

    def accepts(self, candidate: list[int]) -> bool:
        """Keep a candidate if it fails, too."""
        candidate = without_trailing_zeros(candidate)
        if candidate == self.picks or self._runs >= RUNS_MAX:
            return False
        self._runs += 1
        if not self._fails(candidate):
            return False
        self.picks = candidate
        return True


def without_trailing_zeros(picks: list[int]) -> list[int]:
    """Past its end a list counts as zeros, so zeros there say nothing."""
    end = len(picks)
    while end and picks[end - 1] == 0:
        end -= 1
    return picks[:end]


def shrink(picks: list[int], fails: Fails) -> list[int]:
    """A list that still fails and is much shorter, as a rule."""
    search = _Search(without_trailing_zeros(picks), fails)
    _cut_tail(search)
    _lower(search, 0)  # as a rule it says how large everything is, and small cases run faster
    before: list[int] | None = None
    while search.picks != before:
        before = search.picks
        for size in SIZES:
            _leave_out(search, size)
        for at in range(len(search.picks)):
            _lower(search, at)
    return search.picks


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
