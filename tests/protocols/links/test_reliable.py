"""Reliable FIFO links over a channel that loses, doubles and reorders."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordercast.core.events import FromBelow
from ordercast.core.ids import SiteId
from ordercast.protocols.links.frames import Ack, Frame, Reconnected, Reset, Unreliable
from ordercast.protocols.links.outgoing import WINDOW_FRAMES
from ordercast.protocols.links.reliable import ACK_DELAY_US, ACK_EVERY, BURST_FRAMES, PACE_US
from ordercast.protocols.links.round_trip import FIRST_TIMEOUT_US, TIMEOUT_MAX_US
from tests.protocols.links.two_links import ARRIVES, DELAY_US, LOST, A, B, Fate, TwoLinks

MESSAGES = [b"%d" % number for number in range(100)]


def loses(*numbers: int, sender: SiteId = A) -> Any:
    """The fate of a sender's frames counted from 0, acknowledgements by themselves left out."""
    count = -1

    def fate(site: SiteId, message: Any) -> Fate:
        nonlocal count
        if site != sender or not isinstance(message, Frame) or message.seq < 0:
            return ARRIVES
        count += 1
        return LOST if count in numbers else ARRIVES

    return fate


# --- the promise ---

FATES = st.lists(st.sampled_from([ARRIVES, LOST, (DELAY_US, DELAY_US), (DELAY_US, 90_000), (300_000,), (0,)]))


@settings(max_examples=60, deadline=None)
@given(FATES, st.lists(st.integers(0, 60), max_size=25), st.lists(st.integers(0, 60), max_size=25))
def test_over_any_channel_each_side_gets_exactly_what_the_other_sent(
    fates: list[Fate], to_b: list[int], to_a: list[int]
) -> None:
    left = iter(fates)
    links = TwoLinks(lambda sender, message: next(left, ARRIVES), frame_bytes_max=25)
    from_a = [b"%02d" % number + bytes(size) for number, size in enumerate(to_b)]
    from_b = [b"%02d" % number + bytes(size) for number, size in enumerate(to_a)]
    for number in range(25):
        links.later(number * 2_000, lambda number=number: links.a.put_down(*from_a[number : number + 1]))  # type: ignore[misc]
        links.later(number * 3_000, lambda number=number: links.b.put_down(*from_b[number : number + 1]))  # type: ignore[misc]
    links.run()
    assert links.b.handed_up == from_a
    assert links.a.handed_up == from_b
    assert not links.a.link.channel(B).outgoing.unacknowledged
    assert not links.b.link.channel(A).outgoing.unacknowledged


def test_what_need_not_be_reliable_goes_past_the_stream() -> None:
    links = TwoLinks(loses(0))
    links.a.put_down(b"first", Unreliable(b"quick"))
    links.run(DELAY_US)
    assert links.b.handed_up == [b"quick"]


# --- frames ---


def test_a_lone_message_leaves_at_once() -> None:
    links = TwoLinks()
    links.a.put_down(b"x")
    assert [(at_us, frame.parts) for at_us, frame in links.a.frames()] == [(0, (b"x",))]


def test_in_a_flood_messages_share_frames() -> None:
    links = TwoLinks()
    links.a.put_down(*MESSAGES)
    assert len(links.a.frames()) == BURST_FRAMES
    links.run(PACE_US)
    assert len(links.a.frames()) == BURST_FRAMES + 1
    links.run()
    assert links.b.handed_up == MESSAGES


def test_the_pace_is_kept_in_each_period() -> None:
    links = TwoLinks(frame_bytes_max=10)
    links.a.put_down(*[bytes(10)] * 5 * BURST_FRAMES)
    links.run()
    times = [at_us for at_us, _ in links.a.frames()]
    assert [times.count(period * PACE_US) for period in range(5)] == [BURST_FRAMES] * 5


def test_a_large_message_travels_in_fragments() -> None:
    links = TwoLinks(frame_bytes_max=100)
    links.a.put_down(bytes(99), b"x" * 1001, b"y")
    links.run()
    assert links.b.handed_up == [bytes(99), b"x" * 1001, b"y"]
    sizes = [
        sum(len(part) if isinstance(part, bytes) else len(part[1]) for part in frame.parts)
        for _, frame in links.a.frames()
    ]
    assert max(sizes) == 100


# --- acknowledgement ---


def test_an_acknowledgement_waits_for_something_to_travel_with() -> None:
    links = TwoLinks()
    links.a.put_down(b"question")
    links.run(DELAY_US)
    links.b.put_down(b"answer")
    links.run(ACK_DELAY_US)
    (_, answer) = links.b.frames()[0]
    assert answer.ack is not None
    assert answer.ack.below == 1
    assert links.b.acks() == []


def test_but_not_for_long() -> None:
    links = TwoLinks()
    links.a.put_down(b"question")
    links.run()
    assert [at_us for at_us, _ in links.b.acks()] == [DELAY_US + ACK_DELAY_US]


def test_nor_for_many_frames() -> None:
    links = TwoLinks(frame_bytes_max=10)
    links.a.put_down(*[bytes(10)] * ACK_EVERY)
    links.run(DELAY_US + ACK_EVERY // BURST_FRAMES * PACE_US)
    assert [frame.ack.below for _, frame in links.b.acks() if frame.ack] == [ACK_EVERY]


# --- repair ---


def test_before_anything_is_measured_a_lost_frame_goes_again_after_the_first_timeout_and_then_ever_later() -> None:
    links = TwoLinks(lambda sender, message: LOST)
    links.a.put_down(b"x")
    links.run(8_000_000)
    times = [at_us for at_us, _ in links.a.frames()]
    waits = [later - sooner for sooner, later in pairwise(times)]
    assert waits[0] == FIRST_TIMEOUT_US
    assert waits[1:] == [TIMEOUT_MAX_US] * len(waits[1:])
    assert len(waits) == 4


def test_a_lost_frame_goes_again_once_its_answer_is_overdue() -> None:
    links = TwoLinks(loses(20))
    for _ in range(20):
        links.a.put_down(b"before")
        links.run(100_000)
    links.a.put_down(b"lost")
    began_us = links.now_us
    links.run()
    again_us = links.a.frames()[-1][0] - began_us
    round_trip_us = 2 * DELAY_US + ACK_DELAY_US
    assert round_trip_us < again_us < 3 * round_trip_us
    assert links.b.handed_up[-1] == b"lost"


def test_what_a_later_frame_has_overtaken_goes_again_without_a_timeout() -> None:
    links = TwoLinks(loses(1))
    for number in range(4):
        links.a.put_down(b"%d" % number)
        links.run(4_000)
    links.run(5_000 + 2 * DELAY_US)
    assert links.now_us < FIRST_TIMEOUT_US
    assert links.a.seqs() == [0, 1, 2, 3, 1]
    assert links.b.handed_up == [b"0", b"1", b"2", b"3"]


def test_nothing_is_sent_again_without_need() -> None:
    links = TwoLinks()
    for message in MESSAGES:
        links.a.put_down(message)
        links.run(3_000)
    links.run()
    assert links.a.seqs() == list(range(len(MESSAGES)))


# --- window ---


def test_a_full_window_is_told_and_so_is_that_it_is_open_again() -> None:
    answers: list[bool] = [False]
    links = TwoLinks(lambda sender, message: ARRIVES if sender == A or answers[-1] else LOST, frame_bytes_max=4)
    messages = [b"%04d" % (number % 10_000) for number in range(WINDOW_FRAMES + 100)]
    links.a.put_down(*messages)
    links.run(900_000)
    assert links.a.congestion == [True]
    assert len(links.a.link.channel(B).outgoing.unacknowledged) == WINDOW_FRAMES
    answers.append(True)
    links.run()
    assert links.a.congestion == [True, False]
    assert links.b.handed_up == messages


# --- over a transport that is a reliable stream itself ---


def test_without_repairs_nothing_goes_again_until_the_connection_is_new() -> None:
    links = TwoLinks(loses(1, 2), repairs=False)
    for message in (b"a", b"b", b"c", b"d"):
        links.a.put_down(message)
        links.run(50_000)
    links.run()
    assert links.b.handed_up == [b"a"]
    assert links.a.seqs() == [0, 1, 2, 3]
    links.a.handle(FromBelow(B, Reconnected()))
    links.run()
    assert links.b.handed_up == [b"a", b"b", b"c", b"d"]
    assert links.a.seqs() == [0, 1, 2, 3, 0, 1, 2, 3]


# --- lives and streams ---


def test_what_was_meant_for_an_earlier_life_does_not_reach_the_next() -> None:
    links = TwoLinks()
    links.a.put_down(b"hello")
    links.b.put_down(b"here")
    links.run()
    links.restart_b(1)
    links.a.put_down(b"for the earlier life")
    links.run(DELAY_US)
    assert links.b.handed_up == []
    links.run()
    links.a.put_down(b"welcome back")
    links.run()
    assert links.b.handed_up == [b"welcome back"]


def test_a_restarted_site_is_heard_from_its_first_message() -> None:
    links = TwoLinks()
    links.b.put_down(b"1", b"2", b"3")
    links.run()
    links.restart_b(1)
    links.b.put_down(b"again 1")
    links.run()
    assert links.a.handed_up == [b"1", b"2", b"3", b"again 1"]


def test_a_late_frame_of_an_earlier_life_is_dropped() -> None:
    links = TwoLinks()
    links.restart_b(1)
    links.b.put_down(b"new")
    links.run()
    links.a.handle(FromBelow(B, Frame(0, -1, 0, 0, (b"old",))))
    assert links.a.handed_up == [b"new"]


def test_an_acknowledgement_meant_for_an_earlier_life_says_nothing() -> None:
    """Finding 7."""
    links = TwoLinks(lambda sender, message: LOST)
    links.restart_b(1)
    links.b.put_down(b"x")
    (_, frame) = links.b.frames()[0]
    stale = Frame(0, -1, 0, -1, ack=Ack(incarnation=0, stream=frame.stream, below=5))
    links.b.handle(FromBelow(A, stale))
    assert list(links.b.link.channel(A).outgoing.unacknowledged) == [0]


@pytest.mark.parametrize("size", [1, 500])
def test_a_reset_begins_anew_with_nothing_under_way(size: int) -> None:
    links = TwoLinks(loses(1), frame_bytes_max=100)
    links.a.put_down(b"before")
    links.run()
    links.a.put_down(b"void" * size)
    links.a.put_down(Reset())
    links.a.put_down(b"after")
    links.run()
    assert [message[:6] for message in links.b.handed_up if message[:4] != b"void"] == [b"before", b"after"]
    assert links.a.frames()[-1][1].stream == 1
