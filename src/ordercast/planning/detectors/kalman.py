"""A Kalman filter that notices jumps."""

from __future__ import annotations

import math

from msgspec import Struct

from ordercast.planning.detectors.detector import RUN_LENGTH, as_if_ended, tells_a_shift

EXPONENTIAL_LOG_VARIANCE = math.pi**2 / 6
"""Variance of the logarithm of an exponential sample."""

EULER_GAMMA = 0.5772156649
"""By so much the mean of that logarithm is below the logarithm of the mean."""

GAIN = 1 / 256
"""Weight of the newest sample in the long run; sets how far the level is taken to wander between two samples."""

NOISE_MEMORY = 256
"""The variance of the samples is a running mean of so many squared innovations, then fades."""

TREND_GAIN = 0.2
"""Weight of the newest in the moving average of innovations, which tells a shift."""

GATE = 5.0
"""A shift is an average innovation of more than so many of its standard deviations; 4 is too few for skewed noise."""

CLIP = 16.0
"""No squared innovation counts for more than so many times the variance."""

NOISE_MIN, NOISE_MAX = 0.02**2, 4.0


class Kalman(Struct, tag="kalman"):
    """A Kalman filter (1960) on the logarithm of the samples, whose level wanders and at times jumps.

    The noise is measured from the innovations, the differences between samples and level. When their moving average
    says that the level has jumped (Trigg's tracking signal, 1964), the level counts as uncertain by that much, and
    the next samples set it anew. A logarithm makes ten times as much and a tenth equally far; but many samples of
    nearly 0, the bursts of a closed loop, mislead it.
    """

    count: int = 0
    """All samples so far."""
    level: float = 0.0
    uncertainty: float = 0.0
    """Variance of the level."""
    noise: float = EXPONENTIAL_LOG_VARIANCE
    """Variance of a sample around it."""
    trend: float = 0.0
    """Moving average of the innovations."""

    @property
    def mean(self) -> float:
        """The mean of the samples, which is above the exponential of the level by what their variance makes of it.

        Exact for exponential samples and for nearly constant ones, and within 4 % for gamma-distributed ones between.
        """
        if self.count == 0:
            return 0.0
        curvature = 1 / EULER_GAMMA - 2 / EXPONENTIAL_LOG_VARIANCE
        return math.exp(self.level + self.noise / (2 + curvature * self.noise))

    @property
    def doubt(self) -> float:
        """The deviation of a logarithm is relative already."""
        return math.sqrt(self.uncertainty)

    def add(self, sample: float) -> None:
        """Take one more sample into account."""
        self.count += 1
        logarithm = math.log(max(sample, 1.0))
        if self.count == 1:
            self.level, self.uncertainty = logarithm, self.noise
            return
        innovation = logarithm - self.level
        self.uncertainty += self.noise * GAIN**2
        self.trend += TREND_GAIN * (innovation - self.trend)
        if self._has_jumped():
            self.uncertainty = innovation * innovation
            self.trend = 0.0
        else:
            self._learn_noise(innovation)
        gain = self.uncertainty / (self.uncertainty + self.noise)
        self.level += gain * innovation
        self.uncertainty *= 1 - gain

    def _has_jumped(self) -> bool:
        if self.count <= RUN_LENGTH:
            return False
        variance = self.noise * TREND_GAIN / (2 - TREND_GAIN) + self.uncertainty
        return self.trend * self.trend > GATE**2 * variance

    def _learn_noise(self, innovation: float) -> None:
        squared = min(innovation * innovation, CLIP * self.noise)
        self.noise += (squared - self.uncertainty - self.noise) / min(self.count + 1, NOISE_MEMORY)
        self.noise = min(max(self.noise, NOISE_MIN), NOISE_MAX)

    def mean_with_open(self, open_us: float) -> float:
        """An open gap counts once it tells a shift: then the mean is at least as long."""
        mean = self.mean
        if self.count < RUN_LENGTH:
            return as_if_ended(mean, open_us, 1 / (self.count + 1))
        variance = self.noise / (1 + (1 - 1 / EXPONENTIAL_LOG_VARIANCE) * self.noise)
        return open_us if tells_a_shift(open_us / mean, variance) else mean
