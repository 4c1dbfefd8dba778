"""Messages into a stream of bytes, and out of it again."""

from __future__ import annotations

import random

import pytest

from ordercast.core.framing import WHOLE_BYTES, Frames, Leaving
from ordercast.core.service import HEADER_BYTES, header_of, length_of


class Wire:
    """Keeps what is written."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.pieces.append(data)

    def writelines(self, pieces: list[bytes]) -> None:
        self.pieces += pieces


def written(messages: list[bytes]) -> list[bytes]:
    wire, leaving = Wire(), Leaving(header_of)
    for message in messages:
        leaving.put(message)
    leaving.write_to(wire)
    assert leaving.bytes == 0
    leaving.write_to(wire)
    return wire.pieces


def arrived(stream: bytes, picks: random.Random, most: int) -> list[bytes]:
    """In pieces of any length."""
    frames, messages = Frames(HEADER_BYTES, length_of), []
    while stream:
        room = frames.room()
        count = min(len(stream), len(room), picks.randint(1, most))
        room[:count] = stream[:count]
        messages += [bytes(message) for message in frames.arrived(count)]
        frames.make_room()
        stream = stream[count:]
    return messages


def test_nothing_is_written_if_nothing_is_there() -> None:
    assert written([]) == []


def test_short_messages_are_one_piece_and_long_ones_are_not_copied() -> None:
    short, long = bytes(10), bytes(WHOLE_BYTES)
    assert len(written([short] * 100)) == 1
    pieces = written([short, long, short, long, long])
    assert [piece for piece in pieces if piece is long] == [long] * 3
    assert len(pieces) == 6


@pytest.mark.parametrize("seed", range(20))
def test_what_is_written_arrives_whole_and_in_order(seed: int) -> None:
    picks = random.Random(seed)
    sizes = (0, 1, 1000, WHOLE_BYTES - 1, WHOLE_BYTES, 100_000, 400_000)
    messages = [picks.randbytes(picks.choice(sizes)) for _ in range(20)]
    assert arrived(b"".join(written(messages)), picks, picks.choice((10_000, 200_000))) == messages
