"""Page's cumulative sum test."""

from __future__ import annotations

import math

from msgspec import Struct

from ordercast.planning.detectors.detector import EVIDENCE, NEVER_STEADIER, RUN_LENGTH, as_if_ended, tells_a_shift

MEMORY = 512
"""The mean is a running mean of so many samples, then fades: slow drifts, too small for a shift, are followed."""

SPREAD_MEMORY = 64
"""The same for the relative variance."""

SHIFT = 3.0
"""The shift to look for is by so many standard deviations: for exponential samples to 4 times the mean or a quarter."""


class Cusum(Struct, tag="cusum"):
    """Page's cumulative sum test (1954) of whether the mean has shifted up, and of whether it has shifted down.

    Each is the logarithm of how much likelier a shift by a factor makes the samples since it may have happened, never
    below 0. When that passes `EVIDENCE`, the samples since it was 0 begin a new mean. Samples count as
    gamma-distributed in proportion to their mean, with a variance that is measured: exponential ones give so little
    evidence that ten must agree (or one be sixteen times the mean); nearly constant ones give enough at once.
    """

    mean: float = 0.0
    count: int = 0
    """All samples so far: once settled, it stays so, for a shift is believed only on evidence."""
    weight: int = 0
    """How many samples the running mean counts for."""
    variance: float = 1.0
    """Relative to the square of the mean; at first that of an exponential sample, the most careful guess."""
    up: float = 0.0
    up_sum: float = 0.0
    up_run: int = 0
    down: float = 0.0
    down_sum: float = 0.0
    down_run: int = 0

    @property
    def doubt(self) -> float:
        """By the spread that is measured, of the samples that make up the mean."""
        return math.sqrt(self.variance / max(1, self.weight))

    def add(self, sample: float) -> None:
        """Take one more sample into account."""
        self.count += 1
        if self.count > RUN_LENGTH and self.mean > 0:
            ratio = sample / self.mean
            self._gather_evidence(sample, ratio)
            if self.up > EVIDENCE:
                return self._shift(self.up_sum, self.up_run)
            if self.down > EVIDENCE:
                return self._shift(self.down_sum, self.down_run)
            spread = min((ratio - 1) ** 2, EVIDENCE) - self.variance
            self.variance = max(NEVER_STEADIER, self.variance + spread / min(self.count, SPREAD_MEMORY))
        self.weight = min(self.weight + 1, MEMORY)
        self.mean += (sample - self.mean) / self.weight
        return None

    def _gather_evidence(self, sample: float, ratio: float) -> None:
        """Likelihood ratios of gamma-distributed samples, for a mean `factor` times as large, and as small."""
        factor = 1 + SHIFT * math.sqrt(self.variance)
        logarithm = math.log(factor)
        self.up += (ratio * (1 - 1 / factor) - logarithm) / self.variance
        self.down += (logarithm - ratio * (factor - 1)) / self.variance
        if self.up > 0:
            self.up_sum += sample
            self.up_run += 1
        else:
            self.up, self.up_sum, self.up_run = 0.0, 0.0, 0
        if self.down > 0:
            self.down_sum += sample
            self.down_run += 1
        else:
            self.down, self.down_sum, self.down_run = 0.0, 0.0, 0

    def _shift(self, total: float, run: int) -> None:
        self.mean, self.weight = total / run, run
        self.up, self.up_sum, self.up_run = 0.0, 0.0, 0
        self.down, self.down_sum, self.down_run = 0.0, 0.0, 0

    def mean_with_open(self, open_us: float) -> float:
        """An open gap counts once it tells a shift: then the mean is at least as long."""
        if self.count < RUN_LENGTH or self.mean <= 0:
            return as_if_ended(self.mean, open_us, 1 / (self.count + 1))
        return open_us if tells_a_shift(open_us / self.mean, self.variance) else self.mean
