"""Delay and gap distributions, each turned from one pick into one value through a table of quantiles."""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist

RESOLUTION = 4096
"""Number of quantiles in a table."""


def _standardised(values: list[float]) -> tuple[float, ...]:
    """Shifted and scaled to mean 0 and variance 1 exactly."""
    mean = math.fsum(values) / len(values)
    spread = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
    return tuple((value - mean) / spread for value in values)


@cache
def normal_quantiles() -> tuple[float, ...]:
    """Of the normal distribution with mean 0 and variance 1, in ascending order."""
    normal = NormalDist()
    return _standardised([normal.inv_cdf((index + 0.5) / RESOLUTION) for index in range(RESOLUTION)])


@cache
def chi_square_quantiles() -> tuple[float, ...]:
    """Of the chi-square distribution with 4 degrees, shifted and scaled to mean 0 and variance 1."""
    values, x = [], 0.01
    for index in range(RESOLUTION):
        x = _chi_square_quantile((index + 0.5) / RESOLUTION, x)
        values.append(x)
    return _standardised(values)


def _chi_square_quantile(probability: float, start: float) -> float:
    """Where F(x) = 1 - exp(-x/2)·(1 + x/2) takes this value, by Newton's method from a start below it."""
    x = start
    for _ in range(100):
        tail = math.exp(-x / 2)
        step = (1 - tail * (1 + x / 2) - probability) / (x * tail / 4)
        x = max(x - step, x / 2)
        if abs(step) < 1e-9:
            break
    return x


def quantiles(distribution: str) -> tuple[float, ...]:
    """The table of a distribution by its name in a scenario file."""
    return {"chi2": chi_square_quantiles, "normal": normal_quantiles}[distribution]()
