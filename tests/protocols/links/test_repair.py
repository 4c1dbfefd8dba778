"""What is acknowledged, and what an acknowledgement shows to be lost."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordercast.protocols.links.frames import Ack
from ordercast.protocols.links.incoming import ACK_RUNS_MAX, Incoming
from ordercast.protocols.links.outgoing import Outgoing

PART = (b"x",)


def receiver(*seqs: int) -> Incoming:
    incoming = Incoming(0, 0)
    for seq in seqs:
        incoming.receive(seq, PART)
    return incoming


def acknowledged(incoming: Incoming) -> Ack:
    ack = incoming.ack()
    assert ack is not None
    return ack


def sender(frames: int, gap_us: int = 10_000) -> Outgoing:
    """Has sent so many frames at regular intervals, and knows that a round trip takes 100 ms."""
    outgoing = Outgoing(0)
    for _ in range(50):
        outgoing.round_trip.add(100_000)
    for number in range(frames):
        outgoing.add(b"x", 100)
        assert outgoing.take_frame(100, number * gap_us) is not None
    return outgoing


@pytest.mark.parametrize(
    ("seqs", "below", "beyond"),
    [
        ((0, 1, 2), 3, ()),
        ((0, 2, 3, 5), 1, ((2, 3), (5, 5))),
        ((0, 5, 3, 4), 1, ((3, 5),)),
        ((0, 2, 2, 2), 1, ((2, 2),)),
        ((0, 2, 3, 5, 1), 4, ((5, 5),)),
        ((1, 3, 0), 2, ((3, 3),)),
    ],
)
def test_runs_of_early_frames_are_named(seqs: tuple[int, ...], below: int, beyond: tuple[tuple[int, int], ...]) -> None:
    assert acknowledged(receiver(*seqs)) == Ack(0, 0, below, beyond)


@given(st.lists(st.integers(0, 40), max_size=60))
def test_runs_tell_exactly_what_is_early(seqs: list[int]) -> None:
    incoming = receiver(*seqs)
    runs = incoming.early_runs
    assert [seq for first, last in runs for seq in range(first, last + 1)] == sorted(incoming.early)
    assert all(last + 1 < first for (_, last), (first, _) in pairwise(runs))
    assert all(first > incoming.expected for first, _ in runs)


def test_every_loss_of_a_long_link_shows_in_one_acknowledgement() -> None:
    """With 200 frames under way, of which every twentieth is lost, one round trip repairs them all."""
    lost = list(range(7, 200, 20))
    incoming = receiver(*(seq for seq in range(200) if seq not in lost))
    assert len(lost) <= ACK_RUNS_MAX
    assert sender(200).acknowledge(acknowledged(incoming), 2_100_000) == lost


def test_what_comes_a_little_late_is_not_taken_for_lost() -> None:
    outgoing = sender(3)
    outgoing.round_trip.deviation_us = 10_000
    assert outgoing.acknowledge(Ack(0, 0, 0, ((1, 1),)), 110_000) == []
    assert list(outgoing.unacknowledged) == [0, 2]


def test_an_acknowledgement_that_makes_no_sense_does_no_harm() -> None:
    """Runs that are empty, endless, overlapping or out of order, of frames that were never sent."""
    outgoing = sender(5)
    outgoing.acknowledge(Ack(0, 0, 2, ((9, 3), (1, 1 << 60), (0, 0), (3, 3))), 200_000)
    assert list(outgoing.unacknowledged) == [2, 3]
    outgoing.acknowledge(Ack(0, 0, 1 << 60), 200_000)
    assert outgoing.unacknowledged == {}
    outgoing.add(b"x", 100)
    assert outgoing.take_frame(100, 300_000) == (5, (b"x",))
