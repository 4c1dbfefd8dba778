"""Messages in a stream of bytes: each with a header that tells its length."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

LengthOf = Callable[[memoryview, int], int]
"""How long the message is whose header begins at an offset; `BadBytes` if that is no header."""

HeaderOf = Callable[[bytes], bytes]

WHOLE_BYTES = 16 << 10
"""A message of this length goes into the stream as it is. Shorter ones are copied together, which costs less."""


class Frames:
    """Puts messages together from whatever pieces a stream comes in."""

    def __init__(self, header_bytes: int, length_of: LengthOf) -> None:
        self._header_bytes = header_bytes
        self._length_of = length_of
        self._buffer = bytearray(1 << 18)
        self._view = memoryview(self._buffer)
        self._start = 0
        self._end = 0

    def room(self) -> memoryview:
        """Where the next bytes go."""
        return self._view[self._end :]

    def arrived(self, count: int) -> list[memoryview]:
        """So many bytes have been put there: the messages that are complete now. Use them before the next call."""
        self._end += count
        messages = []
        header_bytes, length_of, view = self._header_bytes, self._length_of, self._view
        start, end = self._start, self._end
        while end - start >= header_bytes:
            stop = start + header_bytes + length_of(view, start)
            if stop > end:
                break
            messages.append(view[start + header_bytes : stop])
            start = stop
        self._start = start
        return messages

    def make_room(self) -> None:
        """The messages have been used: make sure that the one under way fits."""
        start, end = self._start, self._end
        if start == end:
            self._start = self._end = 0
            return
        needed = self._header_bytes
        if end - start >= needed:
            needed += self._length_of(self._view, start)
        if start + needed <= len(self._buffer) and end < len(self._buffer):
            return
        rest = self._view[start:end]
        if needed > len(self._buffer):
            self._buffer = bytearray(2 * needed)
            self._view = memoryview(self._buffer)
        self._view[: end - start] = rest
        self._start, self._end = 0, end - start


class Writable(Protocol):
    """A transport, as far as it is needed here."""

    def write(self, data: bytes) -> None: ...

    def writelines(self, pieces: list[bytes]) -> None: ...


class Leaving:
    """Messages that go into a stream together, as few pieces as can be had without copies of what is long."""

    def __init__(self, header_of: HeaderOf) -> None:
        self.bytes = 0
        self._header_of = header_of
        self._pieces: list[bytes] = []
        self._short: list[bytes] = []
        """What comes behind these."""

    def put(self, message: bytes) -> None:
        """The next."""
        short, header = self._short, self._header_of(message)
        self.bytes += len(header) + len(message)
        short.append(header)
        if len(message) < WHOLE_BYTES:
            short.append(message)
        else:
            self._pieces += (b"".join(short), message)
            short.clear()

    def write_to(self, transport: Writable) -> None:
        """All of them, in order; none is left."""
        pieces, short = self._pieces, self._short
        if short:
            pieces.append(b"".join(short))
        self.clear()
        if len(pieces) == 1:
            transport.write(pieces[0])
        elif pieces:
            transport.writelines(pieces)

    def clear(self) -> None:
        """They will not leave."""
        self.bytes, self._pieces, self._short = 0, [], []
