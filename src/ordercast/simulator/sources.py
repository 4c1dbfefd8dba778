"""Traffic: when each site multicasts."""

from __future__ import annotations

import math

from ordercast.core.ids import MessageId
from ordercast.core.messages import Level
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
        self.level = Level.AGREED
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


TURNAROUND_US = 100
"""A participant of a closed loop multicasts no sooner after its last message, even if that came back at once."""


class ClosedLoop:
    """One site keeps a number of messages outstanding: each delivery of one of them makes it multicast the next."""

    def __init__(self, traffic: Traffic, outstanding: int, end_us: int) -> None:
        self.body = bytes(traffic.size_bytes)
        self.level = Level.AGREED
        self.outstanding = outstanding
        self.from_us = round(traffic.from_s * 1e6)
        self._until_us = _until_us(traffic, end_us)
        self._sent_us: dict[MessageId, int] = {}

    def multicasts(self, message: MessageId, now_us: int) -> None:
        """The next message of the site is one of this loop."""
        self._sent_us[message] = now_us

    def answers_us(self, message: MessageId, now_us: int) -> int | None:
        """When a message that is delivered now is answered by another; None if it is not, or not one of this loop."""
        sent_us = self._sent_us.pop(message, None)
        if sent_us is None:
            return None
        due_us = max(now_us, sent_us + TURNAROUND_US)
        return due_us if due_us < self._until_us else None


def _until_us(traffic: Traffic, end_us: int) -> int:
    return end_us if traffic.until_s is None else min(end_us, round(traffic.until_s * 1e6))
