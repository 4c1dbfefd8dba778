"""The picks of a case, thing by thing: what a case is shrunk by."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, pairwise

from msgspec import Struct


class Drawn(Struct, frozen=True):
    """What has been picked, and for what: one list of picks for each change and for each fault."""

    who: tuple[int, ...]
    """The number of sites, the protocol, the luck."""
    changes: tuple[tuple[int, ...], ...]
    faults: tuple[tuple[int, ...], ...]

    @classmethod
    def split(cls, picks: list[int], changes: list[int], faults: list[int]) -> Drawn:
        """From all picks, and from where each change and each fault begins, the place behind the last included."""
        return cls(tuple(picks[: changes[0]]), _parts(picks, changes), _parts(picks, faults))

    def picks(self) -> list[int]:
        """A list that draws just this. Zeros at its end say nothing: past its end a list counts as zeros."""
        return without_trailing_zeros([*self.who, *chain(*self.changes), 0, *chain(*self.faults)])


def _parts(picks: list[int], starts: list[int]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(picks[start:end]) for start, end in pairwise(starts))


def without_trailing_zeros(picks: Iterable[int]) -> list[int]:
    """The same decisions, as short as they can be said."""
    kept = list(picks)
    while kept and kept[-1] == 0:
        kept.pop()
    return kept
