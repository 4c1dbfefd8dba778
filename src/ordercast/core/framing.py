"""Messages in a stream of bytes: each with a header that tells its length."""

from __future__ import annotations

from collections.abc import Callable

LengthOf = Callable[[memoryview, int], int]
"""How long the message is whose header begins at an offset; `BadBytes` if that is no header."""


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
        rest = bytes(self._view[start:end])
        if needed > len(self._buffer):
            self._buffer = bytearray(2 * needed)
            self._view = memoryview(self._buffer)
        self._view[: len(rest)] = rest
        self._start, self._end = 0, len(rest)
