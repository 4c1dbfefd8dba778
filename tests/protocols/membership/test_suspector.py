"""Whom to suspect, and when."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ordercast.protocols.links.round_trip import FIRST_TIMEOUT_US, TIMEOUT_MIN_US
from ordercast.protocols.membership.suspector import HEARTBEAT_US, MISSED_HEARTBEATS, Suspector
from tests.layers import sites

A, B, C = sites(3)
BEFORE_ANY_ROUND_TRIP_US = MISSED_HEARTBEATS * HEARTBEAT_US + FIRST_TIMEOUT_US


def hearing(*, round_trip_us: int = 10_000, heartbeats: int = 50) -> Suspector:
    """Of B a heartbeat has come every `HEARTBEAT_US`, the last at time 0, each with an echo; of C nothing ever."""
    began_us = -HEARTBEAT_US * heartbeats
    suspector = Suspector.of((B, C), began_us)
    for number in range(1, heartbeats + 1):
        now_us = began_us + number * HEARTBEAT_US
        suspector.on_heartbeat(B, number, 1_000, 500, 1_500 + round_trip_us)
        suspector.on_heard(B, now_us)
    return suspector


def test_who_was_never_heard_is_not_suspected_at_once_nor_taken_for_present() -> None:
    suspector = Suspector.of((B, C), 5)
    assert suspector.suspects(5 + BEFORE_ANY_ROUND_TRIP_US - 1) == ()
    assert suspector.hears(5) == ()
    assert suspector.suspects(5 + BEFORE_ANY_ROUND_TRIP_US) == (B, C)


def test_silence_makes_suspicion_grow_until_it_is_one() -> None:
    suspector = hearing()
    timeout_us = suspector.peers[B].timeout_us()
    assert [suspector.level(B, timeout_us * tenths // 10) for tenths in (0, 5, 10)] == [0, 0.5, 1]
    assert suspector.suspects(timeout_us - 1) == (C,)
    assert suspector.suspects(timeout_us) == (B, C)


def test_any_sign_of_life_ends_it() -> None:
    suspector = hearing()
    late_us = 10 * suspector.peers[B].timeout_us()
    assert suspector.hears(late_us) == ()
    suspector.on_heard(B, late_us)
    assert (suspector.hears(late_us), suspector.suspects(late_us)) == ((B,), (C,))


def test_a_few_missed_heartbeats_are_no_silence() -> None:
    assert B not in hearing().suspects((MISSED_HEARTBEATS - 1) * HEARTBEAT_US)


def timeout_after(*round_trips_us: int) -> int:
    """The time-out for a site whose heartbeats gave these round trips."""
    peer = Suspector.of((B,)).peers[B]
    for round_trip_us in round_trips_us:
        peer.round_trip.add(round_trip_us)
    return peer.timeout_us()


@given(st.integers(1_000, 1_000_000))
def test_a_long_way_makes_no_difference_as_long_as_it_is_always_as_long(round_trip_us: int) -> None:
    assert timeout_after(*[round_trip_us] * 60) == MISSED_HEARTBEATS * HEARTBEAT_US + TIMEOUT_MIN_US


def test_whose_way_varies_is_given_more_time() -> None:
    assert timeout_after(*[100_000, 300_000] * 30) > timeout_after(*[200_000] * 60) + 200_000


def test_the_echo_of_our_heartbeat_gives_the_round_trip_less_the_time_it_lay_there() -> None:
    suspector = Suspector.of((B,), 0)
    suspector.on_heartbeat(B, stamp_us=77, echo_us=1_000, echo_age_us=30_000, now_us=51_000)
    assert suspector.peers[B].round_trip.mean_us == 20_000


def test_without_an_echo_nothing_is_measured_and_an_impossible_one_counts_as_nothing() -> None:
    suspector = Suspector.of((B,), 0)
    suspector.on_heartbeat(B, 77, -1, 0, 51_000)
    assert suspector.peers[B].round_trip.mean_us is None
    suspector.on_heartbeat(B, 78, 50_000, 99_000, 51_000)
    assert suspector.peers[B].round_trip.mean_us == 0


def test_the_newest_stamp_is_kept_until_another_life_begins() -> None:
    suspector = Suspector.of((B,), 0)
    suspector.on_heartbeat(B, 77, -1, 0, 100)
    suspector.on_heartbeat(B, 55, -1, 0, 200)
    assert (suspector.peers[B].stamp_us, suspector.peers[B].stamp_at_us) == (77, 100)
    suspector.forget(B)
    suspector.on_heartbeat(B, 5, -1, 0, 300)
    assert (suspector.peers[B].stamp_us, suspector.peers[B].stamp_at_us) == (5, 300)
