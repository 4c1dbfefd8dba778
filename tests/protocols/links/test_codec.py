"""Objects above, bytes below."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ordercast.core.effects import Deliver, Effects, Note, Record, Send
from ordercast.core.events import Event, FromAbove, FromBelow, Now
from ordercast.core.wire import Wire
from ordercast.protocols.links.codec import Codec, codec_for
from ordercast.protocols.links.frames import Congestion, Reset, Unreliable
from ordercast.protocols.membership.messages import Prepare, Refuse
from tests.layers import sites

A, B = sites(2)
MESSAGES = Prepare | Refuse
PREPARE = Prepare(1, (2, A))  # type: ignore[arg-type]


def effects(event: Event, codec: Codec | None = None) -> list[Any]:
    out = Effects()
    (codec or codec_for(MESSAGES)).handle(event, Now(0, 0, 0), out)
    return list(out.list)


def test_what_goes_down_as_an_object_comes_up_as_the_same_on_the_other_side() -> None:
    (sent,) = effects(FromAbove(PREPARE, B))
    assert isinstance(sent.message, bytes)
    assert effects(FromBelow(A, sent.message)) == [Deliver(A, PREPARE)]


def test_what_travels_by_itself_stays_marked_as_such() -> None:
    (sent,) = effects(FromAbove(Unreliable(PREPARE), B))
    assert sent == Send(B, Unreliable(Wire(MESSAGES).encode(PREPARE)))


def test_words_between_the_layers_pass() -> None:
    assert effects(FromAbove(Reset(3), B)) == [Send(B, Reset(3))]
    assert effects(FromBelow(B, Congestion(True))) == [Deliver(B, Congestion(True))]


def test_a_message_for_many_is_encoded_once() -> None:
    codec = codec_for(MESSAGES)
    first, second = (effects(FromAbove(PREPARE, to), codec)[0].message for to in (A, B))
    assert first is second


def test_another_message_is_encoded_anew_though_it_is_equal_to_none() -> None:
    codec = codec_for(MESSAGES)
    for round_ in range(3):
        other = Prepare(1, (round_, A))  # type: ignore[arg-type]
        (sent,) = effects(FromAbove(other, B), codec)
        assert Wire(MESSAGES).decode(sent.message) == other


@given(st.binary(max_size=60))
def test_bytes_that_are_no_message_are_dropped_and_noted(data: bytes) -> None:
    (effect,) = effects(FromBelow(B, data))
    assert effect == Record(Note("bad-bytes")) or Wire(MESSAGES).encode(effect.message)


def test_a_message_of_another_kind_is_bad_bytes_too() -> None:
    assert effects(FromBelow(B, Wire(int).encode(7))) == [Record(Note("bad-bytes"))]
    assert effects(FromBelow(B, b"")) == [Record(Note("bad-bytes"))]
