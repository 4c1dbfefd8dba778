"""The quantile tables against scipy's distributions."""

from __future__ import annotations

from itertools import pairwise
from math import sqrt

import numpy as np
import pytest
from scipy import stats

from ordercast.simulator.distributions import RESOLUTION, quantiles

PARTS = (np.arange(RESOLUTION) + 0.5) / RESOLUTION
EXPECTED = {"normal": stats.norm.ppf(PARTS), "chi2": (stats.chi2.ppf(PARTS, 4) - 4) / sqrt(8)}

every_distribution = pytest.mark.parametrize("name", sorted(EXPECTED))


@every_distribution
def test_mean_and_variance_are_exact(name: str) -> None:
    table = quantiles(name)
    assert len(table) == RESOLUTION
    assert np.mean(table) == pytest.approx(0, abs=1e-12)
    assert np.var(table) == pytest.approx(1, abs=1e-12)


@every_distribution
def test_quantiles_ascend(name: str) -> None:
    """So that the tamest choice is the shortest delay."""
    assert all(a < b for a, b in pairwise(quantiles(name)))


@every_distribution
def test_quantiles_are_those_of_the_distribution(name: str) -> None:
    """But for the little that it takes to make up for the tails cut off."""
    off = np.abs(np.array(quantiles(name)) - EXPECTED[name])
    assert off.max() < 0.01
    assert off[RESOLUTION // 10 : -RESOLUTION // 10].max() < 0.002


def test_chi_square_is_shifted_and_skewed() -> None:
    """No delay is shorter than the mean by much, a few are longer by far (hybrid report: shifted chi-square)."""
    table = quantiles("chi2")
    assert table[0] > -sqrt(2)
    assert table[-1] > 3
    assert stats.skew(table) == pytest.approx(sqrt(2), rel=0.05)


def test_a_table_is_made_once() -> None:
    assert quantiles("chi2") is quantiles("chi2")
