"""What a detector answers, and when something still open counts."""

from __future__ import annotations

import math
from typing import Protocol

RUN_LENGTH = 7
"""k of the papers: so many samples support a first mean, and so many in a row on one side of it are a shift."""

EVIDENCE = 12.0
"""How much more likely a shift must make what is seen, as a natural logarithm: chance does it once in e^12 tries."""

NEVER_STEADIER = 0.01
"""Relative variance down to which a source is trusted to be regular: gaps within 10 % of their mean."""


class Detector(Protocol):
    """What all of them answer."""

    @property
    def mean(self) -> float:
        """The present mean; 0 before the first sample."""

    @property
    def count(self) -> int:
        """How many samples support it; from `RUN_LENGTH` on it is settled."""

    @property
    def doubt(self) -> float:
        """The standard error of the mean, relative to it. Where no spread is measured, samples count as exponential."""

    def add(self, sample: float) -> None:
        """Take one more sample into account."""

    def mean_with_open(self, open_us: float) -> float:
        """The mean, given that the next sample will be at least this: a gap that has not ended yet."""


def as_if_ended(mean: float, open_us: float, gain: float) -> float:
    """A sample still open counts once it is longer than the mean, as if it ended now."""
    return mean if open_us <= mean else mean + gain * (open_us - mean)


def tells_a_shift(ratio: float, variance: float) -> bool:
    """Whether a sample of at least `ratio` times the mean is out of the question without a shift.

    Chernoff's bound for gamma-distributed samples of this relative variance, from exponential (1) to constant (0):
    with 1, a gap of 16 means tells; with a hundredth, one of 1.6 means.
    """
    return ratio > 1 and ratio - 1 - math.log(ratio) > EVIDENCE * max(variance, NEVER_STEADIER)
