"""What every detector must do, whatever its method, on sources that hardly vary and on those that vary a lot."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import msgpack

from ordercast.core.canonical import encode
from ordercast.core.ids import SiteId
from ordercast.planning.detectors.catalogue import DEFAULT, DETECTORS, AnyDetector
from ordercast.planning.detectors.detector import RUN_LENGTH, tells_a_shift
from ordercast.planning.detectors.kalman import Kalman
from ordercast.planning.detectors.mean_shift import MeanShift
from ordercast.planning.estimators import OnlineEstimates

A = SiteId(0)

Draw = Callable[[random.Random, float], float]


def regular(rng: random.Random, mean: float) -> float:
    return rng.gauss(mean, 0.02 * mean)


def exponential(rng: random.Random, mean: float) -> float:
    return rng.expovariate(1 / mean)


every_detector = pytest.mark.parametrize("name", DETECTORS)
every_source = pytest.mark.parametrize("draw", [regular, exponential], ids=["regular", "exponential"])
every_seed = pytest.mark.parametrize("seed", range(5))
careful = pytest.mark.parametrize("name", ["cusum", "kalman"])


def fed(name: str, samples: list[float]) -> AnyDetector:
    detector = DETECTORS[name]()
    for sample in samples:
        detector.add(sample)
    return detector


def drawn(draw: Draw, seed: int, mean: float, count: int) -> list[float]:
    rng = random.Random(seed)
    return [draw(rng, mean) for _ in range(count)]


def error(name: str, draw: Draw, seed: int) -> float:
    """Root mean square of the relative error, over 5000 samples after 500."""
    detector = fed(name, drawn(draw, seed, 100.0, 500))
    squares = []
    for sample in drawn(draw, seed + 1000, 100.0, 5000):
        detector.add(sample)
        squares.append((detector.mean / 100 - 1) ** 2)
    return math.sqrt(sum(squares) / len(squares))


@pytest.mark.parametrize("name", ["ewma", "cusum", "kalman"])
def test_a_mean_is_doubted_less_the_more_samples_support_it(name: str) -> None:
    doubts = [fed(name, drawn(exponential, 1, 100.0, count)).doubt for count in (RUN_LENGTH, 30, 300)]
    assert doubts[0] == pytest.approx(1 / math.sqrt(RUN_LENGTH), rel=0.4)
    assert doubts[0] > doubts[1] > doubts[2]


def test_the_papers_mean_is_doubted_anew_after_every_shift_that_it_sees() -> None:
    detector = fed("mean-shift", drawn(regular, 1, 100.0, RUN_LENGTH))
    before = detector.doubt
    for sample in [1000.0] * RUN_LENGTH:
        detector.add(sample)
    assert detector.mean == 1000
    assert detector.doubt == before == 1 / math.sqrt(RUN_LENGTH)


@careful
def test_a_regular_source_leaves_little_doubt(name: str) -> None:
    assert fed(name, drawn(regular, 1, 100.0, 100)).doubt < 0.05


@careful
def test_a_shift_renews_the_doubt(name: str) -> None:
    samples = drawn(exponential, 1, 1000.0, 300)
    before = fed(name, samples).doubt
    shifted = [fed(name, [*samples, *drawn(exponential, 2, 10.0, count)]) for count in range(5, 60)]
    first = next(detector for detector in shifted if detector.mean < 100)
    assert first.doubt > 2 * before


def test_the_default_is_the_papers() -> None:
    assert isinstance(DETECTORS[DEFAULT](), MeanShift)


@every_detector
def test_a_detector_starts_with_nothing_and_settles_after_seven(name: str) -> None:
    detector = DETECTORS[name]()
    assert (detector.mean, detector.count) == (0.0, 0)
    for count in range(1, 20):
        detector.add(50.0)
        assert detector.mean == pytest.approx(50.0, rel=0.8 if name == "kalman" and count < RUN_LENGTH else 0.3)
        assert (detector.count >= RUN_LENGTH) == (count >= RUN_LENGTH)


@every_detector
@every_seed
def test_a_regular_source_is_known_within_a_percent(name: str, seed: int) -> None:
    assert error(name, regular, seed) < 0.01


@careful
@every_seed
def test_exponential_noise_fools_the_careful_ones_rarely(name: str, seed: int) -> None:
    """The papers' detector has 22 % of error, and a moving average 18 %."""
    assert error(name, exponential, seed) < 0.12
    assert error("mean-shift", exponential, seed) > 0.15
    assert error("ewma", exponential, seed) > 0.15


SAMPLES_TO_FOLLOW = {"mean-shift": (14, 16), "ewma": (40, 85), "cusum": (25, 50), "kalman": (25, 40)}
"""For each detector how many samples at most until the mean is within a factor of 2: when gaps grow, and shrink."""


@every_detector
@every_source
@every_seed
def test_a_shift_by_a_hundred_is_followed(name: str, draw: Draw, seed: int) -> None:
    for to, most in zip((1_000_000.0, 100.0), SAMPLES_TO_FOLLOW[name], strict=True):
        detector = fed(name, drawn(draw, seed, 10_000.0, 500))
        means = []
        for sample in drawn(draw, seed + 1000, to, most):
            detector.add(sample)
            means.append(detector.mean)
        assert any(to / 2 < mean < to * 2 for mean in means)


@careful
@pytest.mark.parametrize("to", [10_000.0, 1.0, 200.0, 50.0])
def test_one_sample_or_two_tell_that_a_regular_source_has_changed(name: str, to: float) -> None:
    detector = fed(name, [*drawn(regular, 1, 100.0, 500), to, to])
    assert detector.mean == pytest.approx(to, rel=0.15)


@careful
def test_a_slow_drift_is_followed(name: str) -> None:
    rng = random.Random(1)
    detector = fed(name, [regular(rng, 100.0 * 1.0002**step) for step in range(6000)])
    assert detector.mean == pytest.approx(100.0 * 1.0002**6000, rel=0.15)


# --- a gap that is still open ---


@every_detector
@every_source
def test_a_short_open_gap_says_nothing(name: str, draw: Draw) -> None:
    detector = fed(name, drawn(draw, 1, 100.0, 500))
    for open_us in (0.0, detector.mean / 2, detector.mean):
        assert detector.mean_with_open(open_us) == detector.mean


@every_detector
@every_source
def test_silence_is_noticed_long_before_seven_gaps(name: str, draw: Draw) -> None:
    """From 100 messages per second to 1: a second into the silence the mean has at least doubled."""
    detector = fed(name, drawn(draw, 1, 10_000.0, 30))
    before = detector.mean
    assert detector.mean_with_open(1_000_000.0) > 2 * before
    assert detector.mean == before, "asking must not have counted the open gap for good"


@careful
def test_how_much_silence_tells_depends_on_the_source(name: str) -> None:
    poisson = fed(name, drawn(exponential, 1, 100.0, 500))
    assert poisson.mean_with_open(8 * poisson.mean) == poisson.mean
    assert poisson.mean_with_open(25 * poisson.mean) == 25 * poisson.mean
    steady = fed(name, drawn(regular, 1, 100.0, 500))
    assert steady.mean_with_open(140.0) == steady.mean
    assert steady.mean_with_open(160.0) == 160.0


def test_a_bound_is_a_bound() -> None:
    """Where an open sample tells a shift, exponential ones get so long with a probability of e^-12 at most."""
    told = [ratio / 10 for ratio in range(10, 300) if tells_a_shift(ratio / 10, 1.0)]
    assert 15 < min(told) < 17
    assert all(math.exp(-ratio) < math.exp(-12) for ratio in told)
    assert not tells_a_shift(0.01, 0.0)


# --- any samples at all ---


@every_detector
@given(samples=st.lists(st.integers(0, 10**7).map(float), max_size=60), open_us=st.integers(0, 10**8))
def test_any_samples_give_a_mean_among_them(name: str, samples: list[float], open_us: int) -> None:
    detector = fed(name, samples)
    least, most = min(samples, default=0.0), max(samples, default=0.0)
    if name != "kalman":
        assert least * (1 - 1e-9) <= detector.mean <= most * (1 + 1e-9)
    assert math.isfinite(detector.mean)
    assert detector.mean <= detector.mean_with_open(open_us) <= max(detector.mean, open_us)


@every_detector
@given(samples=st.lists(st.integers(0, 10**7).map(float), max_size=30))
def test_a_state_can_be_written_down_and_read_back(name: str, samples: list[float]) -> None:
    estimates = OnlineEstimates(detector=name)
    sent_us = 0
    for gap_us in samples:
        sent_us += int(gap_us)
        estimates.heard(A, sent_us, sent_us)
    again = msgpack.decode(encode(estimates), type=OnlineEstimates)
    assert again == estimates
    assert encode(again) == encode(estimates)


def test_estimates_use_the_detector_that_they_are_told_to() -> None:
    for name, new in DETECTORS.items():
        estimates = OnlineEstimates(detector=name)
        estimates.heard(A, 0, 0)
        assert type(estimates.gaps[A].detector) is type(new())


@pytest.mark.parametrize("shape", [1, 2, 4, 16, 100])
def test_the_logarithmic_filter_finds_the_mean_of_samples_of_any_shape(shape: int) -> None:
    rng = random.Random(1)
    means = []
    detector = Kalman()
    for _ in range(6000):
        detector.add(rng.gammavariate(shape, 100.0 / shape))
        means.append(detector.mean)
    settled = means[1000:]
    assert sum(settled) / len(settled) == pytest.approx(100.0, rel=0.04)
