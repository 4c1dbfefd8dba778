"""How messages lie in a stream of bytes: length, site group, message.

A connection begins with a `Hello` from whoever has called, and one in answer; behind it come the frames of the links.
One daemon may come to host several groups of sites, so every frame names its group; today there is only group 0.
"""

from __future__ import annotations

from struct import Struct as Layout
from typing import Any

from msgspec import Struct

from ordercast.core.wire import BadBytes, Wire

VERSION = 1
"""Of all that travels between sites."""

GROUP = 0

FRAME_BYTES_MAX = 32 << 20
"""What claims to be longer is no frame."""

_HEADER = Layout("!IH")
HEADER_BYTES = _HEADER.size


class Hello(Struct, frozen=True, array_like=True, tag="hello"):
    """Who calls, or answers."""

    version: int
    cluster: str
    site: str
    incarnation: int


def framed(message: bytes) -> bytes:
    """The message as it travels."""
    return _HEADER.pack(len(message), GROUP) + message


def length_of(data: bytearray | memoryview, start: int) -> int:
    """How long the message is whose header begins here."""
    length, group = _HEADER.unpack_from(data, start)
    if length > FRAME_BYTES_MAX:
        raise BadBytes(f"a frame of {length} bytes, more than {FRAME_BYTES_MAX}")
    if group != GROUP:
        raise BadBytes(f"a frame of site group {group}, which is not hosted here")
    return int(length)


class Frames:
    """Puts messages together from whatever pieces a stream comes in."""

    def __init__(self) -> None:
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
        start, end = self._start, self._end
        while end - start >= HEADER_BYTES:
            stop = start + HEADER_BYTES + length_of(self._view, start)
            if stop > end:
                break
            messages.append(self._view[start + HEADER_BYTES : stop])
            start = stop
        self._start = start
        return messages

    def make_room(self) -> None:
        """The messages have been used: make sure that the one under way fits."""
        start, end = self._start, self._end
        if start == end:
            self._start = self._end = 0
            return
        needed = HEADER_BYTES
        if end - start >= HEADER_BYTES:
            needed += length_of(self._view, start)
        if start + needed <= len(self._buffer) and end < len(self._buffer):
            return
        rest = bytes(self._view[start:end])
        if needed > len(self._buffer):
            self._buffer = bytearray(2 * needed)
            self._view = memoryview(self._buffer)
        self._view[: len(rest)] = rest
        self._start, self._end = 0, len(rest)


_HELLO = Wire(Hello)


def hello_bytes(hello: Hello) -> bytes:
    """What either side sends first."""
    return framed(_HELLO.encode(hello))


def read_hello(data: Any, cluster: str, sites: tuple[str, ...]) -> Hello:
    """Who is at the other end, if it may be a site of ours; else `BadBytes`."""
    hello: Hello = _HELLO.decode(data)
    if hello.version != VERSION:
        raise BadBytes(f"version {hello.version} of what travels between sites, expected {VERSION}")
    if hello.cluster != cluster:
        raise BadBytes(f"a site of cluster {hello.cluster!r}, expected {cluster!r}")
    if hello.site not in sites:
        raise BadBytes(f"site {hello.site!r}, which the cluster file does not name")
    return hello
