"""The sending half of a link: frames, window, what an acknowledgement tells."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ordercast.protocols.links.frames import Ack, Part
from ordercast.protocols.links.incoming import Incoming
from ordercast.protocols.links.outgoing import BACKOFF_MAX, RESEND_FRAMES_MAX, WINDOW_FRAMES, Outgoing
from ordercast.protocols.links.round_trip import TIMEOUT_MAX_US

FRAME_BYTES = 10


def sending(*messages: bytes) -> Outgoing:
    outgoing = Outgoing()
    for message in messages:
        outgoing.add(message, FRAME_BYTES)
    return outgoing


def frames(outgoing: Outgoing, now_us: int = 0) -> list[tuple[int, tuple[Part, ...]]]:
    taken = []
    while (frame := outgoing.take_frame(FRAME_BYTES, now_us)) is not None:
        taken.append(frame)
    return taken


def under_way(count: int, gap_us: int = 1000) -> Outgoing:
    """Frames 0 to count - 1, sent one after the other."""
    outgoing = Outgoing()
    for seq in range(count):
        outgoing.add(b"%d" % seq, FRAME_BYTES)
        outgoing.take_frame(FRAME_BYTES, seq * gap_us)
    return outgoing


def test_messages_share_a_frame_up_to_its_size() -> None:
    assert frames(sending(b"12345", b"67890", b"x")) == [(0, (b"12345", b"67890")), (1, (b"x",))]


@given(st.lists(st.binary(max_size=45), max_size=12))
def test_frames_keep_to_their_size_and_come_together_again(messages: list[bytes]) -> None:
    incoming, got = Incoming(), []
    incoming.follow(0, 0)
    for seq, parts in frames(sending(*messages)):
        assert sum(len(part) if isinstance(part, bytes) else len(part[1]) for part in parts) <= FRAME_BYTES
        got += incoming.receive(seq, parts)
    assert got == messages


def test_nothing_leaves_while_the_window_is_full() -> None:
    outgoing = under_way(WINDOW_FRAMES)
    outgoing.add(b"more", FRAME_BYTES)
    assert outgoing.take_frame(FRAME_BYTES, 0) is None
    outgoing.acknowledge(Ack(0, 0, 1), 5_000_000)
    assert outgoing.take_frame(FRAME_BYTES, 0) == (WINDOW_FRAMES, (b"more",))


def test_an_acknowledgement_of_another_stream_is_ignored() -> None:
    outgoing = under_way(2)
    assert outgoing.acknowledge(Ack(0, 1, 2), 5_000) == []
    assert list(outgoing.unacknowledged) == [0, 1]


def test_what_was_overtaken_by_far_is_lost_and_what_was_overtaken_closely_may_be_late() -> None:
    """After a round trip of 10 ms, 2.5 ms are too much for reordering."""
    outgoing = under_way(8)
    outgoing.acknowledge(Ack(0, 0, 1), 10_000)
    lost = outgoing.acknowledge(Ack(0, 0, 1, ((6, 6),)), 16_000)
    assert lost == [1, 2, 3]
    assert list(outgoing.unacknowledged) == [1, 2, 3, 4, 5, 7]


def test_the_answer_to_a_frame_sent_twice_tells_nothing_about_the_round_trip() -> None:
    outgoing = under_way(1)
    outgoing.resend(0, 1_000_000)
    outgoing.acknowledge(Ack(0, 0, 1), 1_000_100)
    assert outgoing.round_trip.mean_us is None


def test_a_timeout_sends_the_oldest_frames_again_and_each_one_doubles_the_next_up_to_a_limit() -> None:
    outgoing = under_way(20)
    outgoing.acknowledge(Ack(0, 0, 1), 10_000)
    first_us = outgoing.deadline_us(0)
    assert first_us is not None
    patience_us = first_us - 1000
    assert outgoing.overdue() == list(range(1, 1 + RESEND_FRAMES_MAX))
    assert outgoing.deadline_us(0) == 1000 + 2 * patience_us
    for _ in range(2 * BACKOFF_MAX):
        outgoing.overdue()
    assert outgoing.backoff == BACKOFF_MAX
    assert outgoing.deadline_us(0) == 1000 + min(patience_us << BACKOFF_MAX, TIMEOUT_MAX_US)
    outgoing.acknowledge(Ack(0, 0, 2), 20_000)
    assert outgoing.backoff == 0


def test_without_anything_under_way_there_is_no_deadline() -> None:
    assert Outgoing().deadline_us(0) is None


def test_another_life_of_the_site_gets_a_new_stream() -> None:
    outgoing = under_way(3)
    outgoing.meet(2)
    assert (outgoing.addressee, outgoing.stream, len(outgoing.unacknowledged)) == (2, 0, 3)
    outgoing.meet(1)
    assert outgoing.addressee == 2
    outgoing.meet(3)
    assert (outgoing.addressee, outgoing.stream, outgoing.next_seq) == (3, 1, 0)
    assert not outgoing.unacknowledged
