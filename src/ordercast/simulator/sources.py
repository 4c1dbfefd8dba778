"""Traffic: when each site multicasts."""

from __future__ import annotations

import math

from ordercast.simulator.chooser import Chooser
from ordercast.simulator.distributions import RESOLUTION, normal_quantiles
from ordercast.simulator.scenario import Traffic

QUASI_PERIODIC_SPREAD = 0.02
"""Standard deviation of a quasi-periodic gap, as a part of its mean: "a very narrow normal distribution"."""

FRACTIONS = 1 << 30
"""Fractions of a gap are picked in so many steps."""


class OpenLoop:
    """One site multicasts at a rate of its own, whatever happens to its messages."""

    def __init__(self, traffic: Traffic, rate: float, end_us: int, chooser: Chooser) -> None:
        self.body = bytes(traffic.size_bytes)
        self._kind = traffic.source
        self._aligned = traffic.phase == "aligned"
        self._mean_us = 1e6 / rate
        self._pick = chooser.pick
        self._until_us = _until_us(traffic, end_us)
        self._exact_us = traffic.from_s * 1e6

    def first_us(self) -> int | None:
        """When the first message is due, if any is."""
        if self._kind == "poisson":
            self._exact_us += self._gap_us()
        elif not self._aligned:
            self._exact_us += self._mean_us * self._pick(FRACTIONS) / FRACTIONS
        return self._due()

    def next_us(self) -> int | None:
        """When the next message is due, if any is."""
        self._exact_us += self._gap_us()
        return self._due()

    def _due(self) -> int | None:
        return int(self._exact_us) if self._exact_us < self._until_us else None

    def _gap_us(self) -> float:
        match self._kind:
            case "periodic":
                return self._mean_us
            case "quasi-periodic":
                return self._mean_us * (1 + QUASI_PERIODIC_SPREAD * normal_quantiles()[self._pick(RESOLUTION)])
            case "poisson":
                return -self._mean_us * math.log(1 - self._pick(FRACTIONS) / FRACTIONS)


class ClosedLoop:
    """One site keeps a number of messages outstanding: each delivery of its own makes it multicast the next."""

    def __init__(self, traffic: Traffic, outstanding: int, end_us: int) -> None:
        self.body = bytes(traffic.size_bytes)
        self.outstanding = outstanding
        self.from_us = round(traffic.from_s * 1e6)
        self._until_us = _until_us(traffic, end_us)

    def goes_on(self, now_us: int) -> bool:
        """Whether a delivery now is answered by another message."""
        return self.from_us <= now_us < self._until_us


def _until_us(traffic: Traffic, end_us: int) -> int:
    return end_us if traffic.until_s is None else min(end_us, round(traffic.until_s * 1e6))
