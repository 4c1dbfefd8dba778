"""Make a failing case small: leave out and lower picks as long as it fails in the same way."""

from __future__ import annotations

from collections.abc import Callable

RUNS_MAX = 1500
"""So many shorter or lower lists are tried at the most."""

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
    before: list[int] | None = None
    while search.picks != before:
        before = search.picks
        for size in (32, 8, 4, 2, 1):
            _leave_out(search, size)
        _lower(search)
    return search.picks


def _cut_tail(search: _Search) -> None:
    """Most picks are delays; often none of them matters."""
    keep = 0
    while keep < len(search.picks) and not search.accepts(search.picks[:keep]):
        keep = max(1, keep * 2)


def _leave_out(search: _Search, size: int) -> None:
    at = 0
    while at < len(search.picks):
        picks = search.picks
        if search.accepts(picks[:at] + picks[at + size :]):
            continue
        search.accepts(picks[:at] + [0] * size + picks[at + size :])
        at += size


def _lower(search: _Search) -> None:
    for at in range(len(search.picks)):
        while _lower_one(search, at, halve=True) or _lower_one(search, at, halve=False):
            pass


def _lower_one(search: _Search, at: int, halve: bool) -> bool:
    picks = search.picks
    if at >= len(picks) or picks[at] == 0:
        return False
    value = picks[at] // 2 if halve else picks[at] - 1
    return search.accepts([*picks[:at], value, *picks[at + 1 :]])
