"""The receiving half of a link: order, duplicates, reassembly."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ordercast.protocols.links.frames import Ack
from ordercast.protocols.links.incoming import ACK_RUNS_MAX, EARLY_FRAMES_MAX, Incoming


def following(incarnation: int = 0, stream: int = 0) -> Incoming:
    incoming = Incoming()
    assert incoming.follow(incarnation, stream)
    return incoming


@given(st.permutations(range(8)), st.lists(st.integers(0, 7)))
def test_any_order_and_any_duplicates_come_out_right(order: list[int], again: list[int]) -> None:
    incoming = following()
    got = [message for seq in [*order, *again] for message in incoming.receive(seq, (b"%d" % seq,))]
    assert got == [b"%d" % seq for seq in range(8)]
    assert incoming.ack() == Ack(0, 0, 8)


def test_fragments_are_put_together_across_frames() -> None:
    incoming = following()
    assert incoming.receive(0, (b"whole", (2, b"a"))) == [b"whole"]
    assert incoming.receive(1, ((1, b"b"),)) == []
    assert incoming.receive(2, ((0, b"c"), b"next")) == [b"abc", b"next"]


def test_an_acknowledgement_names_what_came_early() -> None:
    incoming = following(incarnation=3, stream=2)
    for seq in (0, 2, 5):
        incoming.receive(seq, ())
    assert incoming.owes_ack
    assert incoming.ack() == Ack(3, 2, 1, ((2, 2), (5, 5)))
    assert not incoming.owes_ack


def test_before_anything_has_come_there_is_nothing_to_acknowledge() -> None:
    assert Incoming().ack() is None


def test_an_acknowledgement_stays_small() -> None:
    incoming = following()
    for seq in range(1, 200, 2):
        incoming.receive(seq, ())
    ack = incoming.ack()
    assert ack is not None
    assert len(ack.beyond) == ACK_RUNS_MAX


def test_what_no_correct_sender_can_have_under_way_is_not_kept() -> None:
    incoming = following()
    incoming.receive(EARLY_FRAMES_MAX, (b"x",))
    assert not incoming.early
    incoming.receive(EARLY_FRAMES_MAX - 1, (b"x",))
    assert list(incoming.early) == [EARLY_FRAMES_MAX - 1]


def test_a_newer_stream_begins_with_nothing_and_an_older_one_is_over() -> None:
    incoming = following(stream=1)
    incoming.receive(0, ((1, b"half"),))
    incoming.receive(2, (b"early",))
    assert incoming.follow(0, 2)
    assert incoming.receive(0, (b"first",)) == [b"first"]
    assert incoming.receive(1, (b"second",)) == [b"second"]
    assert incoming.receive(2, ((0, b"alone"),)) == [b"alone"]
    assert not incoming.follow(0, 1)
    assert incoming.follow(1, 0)
    assert incoming.expected == 0
