"""The papers' detector."""

from __future__ import annotations

import math

from msgspec import Struct

from ordercast.planning.detectors.detector import RUN_LENGTH, as_if_ended


class MeanShift(Struct, tag="mean-shift"):
    """The papers' detector (hybrid report, section 4.2), with their k = 7.

    The first seven samples give a mean; whenever seven or more samples in a row fall on the same side of it, it is
    recomputed. They do not say from what: from that run alone it would be biased for skewed samples, from all
    history it would never adapt. Here a run begins a new mean, which goes on as a running mean until the next shift.
    """

    mean: float = 0.0
    count: int = 0
    above: bool = False
    run: int = 0
    run_sum: float = 0.0

    @property
    def doubt(self) -> float:
        """It measures no spread."""
        return 1 / math.sqrt(max(1, self.count))

    def add(self, sample: float) -> None:
        """Take one more sample into account."""
        count = self.count
        if count >= RUN_LENGTH and sample != self.mean:
            above = sample > self.mean
            if above is not self.above:
                self.above = above
                self.run = 0
                self.run_sum = 0.0
            self.run += 1
            self.run_sum += sample
            if self.run >= RUN_LENGTH:
                self._shift()
                return
        self.count = count + 1
        self.mean += (sample - self.mean) / (count + 1)

    def _shift(self) -> None:
        self.mean = self.run_sum / self.run
        self.count = self.run
        self.run = 0
        self.run_sum = 0.0

    def mean_with_open(self, open_us: float) -> float:
        """As if the open gap ended now, once it is longer than the mean."""
        return as_if_ended(self.mean, open_us, 1 / (self.count + 1))
