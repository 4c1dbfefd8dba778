"""Round-trip time and its variation, and the time-out that follows from them (the rules of RFC 6298)."""

from __future__ import annotations

from msgspec import Struct

FIRST_TIMEOUT_US = 1_000_000
"""Before anything has been measured."""

TIMEOUT_MIN_US = 20_000
TIMEOUT_MAX_US = 2_000_000
"""Backing off further than this would make a healed link look dead for long."""


class RoundTrip(Struct):
    """A smoothed mean and its mean deviation."""

    mean_us: int | None = None
    deviation_us: int = 0

    def add(self, sample_us: int) -> None:
        """A round trip has been measured."""
        if self.mean_us is None:
            self.mean_us = sample_us
            self.deviation_us = sample_us // 2
            return
        self.deviation_us += (abs(sample_us - self.mean_us) - self.deviation_us) // 4
        self.mean_us += (sample_us - self.mean_us) // 8

    def variation_us(self) -> int:
        """By so much a way may be longer than usual."""
        return FIRST_TIMEOUT_US if self.mean_us is None else max(TIMEOUT_MIN_US, 4 * self.deviation_us)

    def timeout_us(self, slack_us: int) -> int:
        """After so long without an answer that may itself be held back for `slack_us`, it is most likely lost."""
        if self.mean_us is None:
            return FIRST_TIMEOUT_US
        return max(TIMEOUT_MIN_US, self.mean_us + 4 * self.deviation_us + slack_us)
