"""The exponentially weighted moving average."""

from __future__ import annotations

import math

from msgspec import Struct

from ordercast.planning.detectors.detector import as_if_ended

GAIN = 1 / 16
"""Weight of the newest sample. With an eighth, Poisson sources leave 26 % of error; a 32nd adapts in 22 samples."""


class Ewma(Struct, tag="ewma"):
    """Exponentially weighted moving average (Roberts 1959): old samples fade. A running mean at first.

    It knows no shifts: always a little noisy, and always on its way.
    """

    mean: float = 0.0
    count: int = 0

    @property
    def doubt(self) -> float:
        """It measures no spread; old samples fade."""
        return math.sqrt(max(GAIN / 2, 1 / max(1, self.count)))

    def add(self, sample: float) -> None:
        """Take one more sample into account."""
        self.count += 1
        self.mean += (sample - self.mean) * max(GAIN, 1 / self.count)

    def mean_with_open(self, open_us: float) -> float:
        """As if the open gap ended now, once it is longer than the mean."""
        return as_if_ended(self.mean, open_us, max(GAIN, 1 / (self.count + 1)))
