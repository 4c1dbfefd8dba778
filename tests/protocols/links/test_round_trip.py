"""Time-outs from measured round trips."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ordercast.protocols.links.round_trip import FIRST_TIMEOUT_US, TIMEOUT_MIN_US, RoundTrip


def after(*samples_us: int) -> RoundTrip:
    trip = RoundTrip()
    for sample_us in samples_us:
        trip.add(sample_us)
    return trip


def test_before_anything_is_measured_the_timeout_is_long() -> None:
    assert RoundTrip().timeout_us(10_000) == FIRST_TIMEOUT_US


def test_the_first_sample_counts_in_full() -> None:
    assert after(100_000) == RoundTrip(100_000, 50_000)
    assert after(100_000).timeout_us(7) == 300_007


def test_a_steady_round_trip_comes_to_a_timeout_just_above_it() -> None:
    trip = after(*[100_000] * 60)
    assert trip.mean_us == 100_000
    assert 100_000 <= trip.timeout_us(0) < 101_000


def test_a_short_round_trip_does_not_make_the_timeout_shorter_than_the_least() -> None:
    assert after(*[100] * 20).timeout_us(0) == TIMEOUT_MIN_US


@given(st.lists(st.integers(50_000, 150_000), min_size=1), st.integers(0, 10_000))
def test_the_mean_stays_among_the_samples_and_the_timeout_above_the_mean(samples_us: list[int], slack_us: int) -> None:
    trip = after(*samples_us)
    assert trip.mean_us is not None
    assert min(samples_us) - 8 <= trip.mean_us <= max(samples_us)
    assert trip.timeout_us(slack_us) >= trip.mean_us + slack_us
