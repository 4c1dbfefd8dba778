"""Every random decision of a simulation is one `pick`. A run is a pure function of the list of its picks.

So a seed replays a run; so does the recorded list, and shortening that list or lowering its numbers shrinks it.
By convention 0 is the tamest choice: the shortest delay, the fault that does not strike.
"""

from __future__ import annotations

import random
from typing import Protocol


class Chooser(Protocol):
    """Makes decisions."""

    def pick(self, options: int) -> int:
        """A number from 0 to `options` - 1."""


class SeededChooser:
    """Decides pseudo-randomly from a seed."""

    def __init__(self, seed: int | str) -> None:
        self._random = random.Random(seed).random

    def pick(self, options: int) -> int:
        return int(self._random() * options)


class RecordingChooser:
    """Lets another chooser decide and writes its decisions down."""

    def __init__(self, inner: Chooser) -> None:
        self._inner = inner
        self.picks: list[int] = []

    def pick(self, options: int) -> int:
        choice = self._inner.pick(options)
        self.picks.append(choice)
        return choice


class ReplayingChooser:
    """Repeats a list of decisions. Past its end it always takes the tamest choice, 0.

    A number too large for its question counts as the largest that fits, so that an edited list stays valid.
    """

    def __init__(self, picks: list[int]) -> None:
        self._picks = picks
        self.used = 0

    def pick(self, options: int) -> int:
        self.used += 1
        if self.used > len(self._picks):
            return 0
        return min(self._picks[self.used - 1], options - 1)
