"""The mean-shift detector, and estimates built on it."""

from __future__ import annotations

from typing import Literal

import pytest

from ordercast.core.ids import SiteId
from ordercast.planning.detectors.detector import RUN_LENGTH
from ordercast.planning.detectors.mean_shift import MeanShift
from ordercast.planning.estimators import Gaps, KnownEstimates, OnlineEstimates
from ordercast.simulator.chooser import SeededChooser
from ordercast.simulator.scenario import Traffic
from ordercast.simulator.sources import OpenLoop

A, B = SiteId(0), SiteId(1)


def detector_after(samples: list[float]) -> MeanShift:
    detector = MeanShift()
    for sample in samples:
        detector.add(sample)
    return detector


def test_the_first_seven_samples_give_a_running_mean() -> None:
    samples = [4.0, 100.0, 1.0, 55.0, 2.0, 90.0, 3.0]
    for count in range(1, RUN_LENGTH + 1):
        assert detector_after(samples[:count]).mean == pytest.approx(sum(samples[:count]) / count)


@pytest.mark.parametrize("level", [300.0, 30.0])
def test_a_shift_is_seen_after_exactly_seven_samples(level: float) -> None:
    before = [100.0] * 50
    for count in range(1, RUN_LENGTH):
        mean = detector_after(before + [level] * count).mean
        assert mean == pytest.approx((50 * 100 + level * count) / (50 + count))
    assert detector_after(before + [level] * RUN_LENGTH).mean == level


def test_after_a_shift_the_mean_runs_on_from_the_seven() -> None:
    detector = detector_after([100.0] * 20 + [50.0] * RUN_LENGTH + [58.0])
    assert detector.mean == pytest.approx((50 * RUN_LENGTH + 58) / (RUN_LENGTH + 1))


def test_one_sample_on_the_other_side_ends_a_run() -> None:
    detector = detector_after([100.0] * 1000 + [130.0] * (RUN_LENGTH - 1) + [90.0] + [130.0] * (RUN_LENGTH - 1))
    assert detector.mean == pytest.approx(100, abs=0.5)
    detector.add(130.0)
    assert detector.mean == 130


Source = Literal["quasi-periodic", "poisson"]


def stamps(source: Source, seed: int, count: int, rate: float = 50.0) -> list[int]:
    """When a source of the simulator multicasts."""
    traffic = Traffic(sites=["A"], rate=rate, source=source)
    loop = OpenLoop(traffic, rate, 10**12, SeededChooser(seed))
    times = [loop.first_us()] + [loop.next_us() for _ in range(count)]
    return [time for time in times if time is not None]


def estimate_us(times: list[int]) -> float:
    gaps = Gaps(times[0], times[0])
    for time in times[1:]:
        gaps.add(time, time)
    mean = gaps.mean_us(times[-1])
    assert mean is not None
    return mean


@pytest.mark.parametrize("seed", range(20))
def test_a_quasi_periodic_rate_is_known_within_two_percent(seed: int) -> None:
    """Gaps spread by 2 %, so a mean of seven or more is off by 0.8 % or less at one standard deviation."""
    assert estimate_us(stamps("quasi-periodic", seed, 500)) == pytest.approx(20_000, rel=0.02)


def test_poisson_rates_are_right_on_the_average() -> None:
    """One estimate may rest on a run of seven samples and be far off; their mean must not be biased much."""
    estimates = [estimate_us(stamps("poisson", seed, 300)) for seed in range(200)]
    assert sum(estimates) / len(estimates) == pytest.approx(20_000, rel=0.15)
    within = [each for each in estimates if 0.5 < each / 20_000 < 2]
    assert len(within) >= 0.9 * len(estimates)


def test_a_change_of_rate_is_followed() -> None:
    slow = stamps("quasi-periodic", 1, 100, rate=10)
    fast = [slow[-1] + time for time in stamps("quasi-periodic", 2, 30, rate=100)]
    assert estimate_us(slow + fast) == pytest.approx(10_000, rel=0.05)


def test_an_open_gap_counts_once_it_is_longer_than_the_mean() -> None:
    gaps = Gaps(0, 1000)
    assert gaps.mean_us(5000) is None
    for number in range(1, 5):
        gaps.add(number * 100, 1000 + number * 100)
    newest = 1400
    assert gaps.mean_us(newest + 100) == 100
    assert gaps.mean_us(newest + 600) == pytest.approx((4 * 100 + 600) / 5)
    assert gaps.mean_us(newest + 50) == 100
    gaps.add(500, 2000)
    assert gaps.mean_us(2000) == 100, "asking must not have counted the open gap for good"


def test_gaps_are_those_of_the_sender_and_not_of_arrival() -> None:
    """A late message, with the ones behind it on its heels, does not look like a burst."""
    gaps = Gaps(0, 50)
    for sent, arrived in [(100, 900), (200, 901), (300, 902)]:
        gaps.add(sent, arrived)
    assert gaps.mean_us(902) == 100


def test_online_estimates_start_with_nothing() -> None:
    estimates = OnlineEstimates()
    assert estimates.gap_us(B, 10) is None
    assert estimates.settled_gap_us(B, 10) is None
    assert estimates.delay_from_us(B) is None
    estimates.heard(B, 100, 1000)
    assert estimates.gap_us(B, 1000) is None


def test_an_online_gap_is_settled_after_seven_gaps() -> None:
    estimates = OnlineEstimates()
    for number in range(RUN_LENGTH):
        estimates.heard(B, number * 100, number * 100)
        assert estimates.settled_gap_us(B, number * 100) is None
    now = RUN_LENGTH * 100
    assert estimates.gap_us(B, now - 100) == 100
    estimates.heard(B, now, now)
    assert estimates.settled_gap_us(B, now) == 100
    assert estimates.gap_us(A, now) is None


def test_a_delay_is_half_of_the_round_trip() -> None:
    estimates = OnlineEstimates()
    for round_trip in (30, 50):
        estimates.echoed(B, round_trip)
    assert estimates.delay_from_us(B) == 20
    assert estimates.delay_from_us(A) is None


def test_known_estimates_change_with_the_load() -> None:
    estimates = KnownEstimates({A: [(0, None), (100, 7.0), (200, 9.0), (300, None)]}, {B: 12.5})
    answers = [estimates.gap_us(A, now) for now in (0, 99, 100, 199, 200, 299, 300, 9999)]
    assert answers == [None, None, 7.0, 7.0, 9.0, 9.0, None, None]
    assert estimates.settled_gap_us(A, 150) == 7.0
    assert estimates.delay_from_us(B) == 12.5
