"""How messages lie in a stream of bytes: length, site group, message.

A connection begins with a `Hello` from whoever has called, and one in answer; behind it come the frames of the links.
One daemon may come to host several groups of sites, so every frame names its group; today there is only group 0.
"""

from __future__ import annotations

from struct import Struct as Layout
from typing import Any

from msgspec import Struct

from ordercast.core.framing import Frames
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


def header_of(message: bytes) -> bytes:
    """What goes before the message as it travels."""
    return _HEADER.pack(len(message), GROUP)


def length_of(data: bytearray | memoryview, start: int) -> int:
    """How long the message is whose header begins here."""
    length, group = _HEADER.unpack_from(data, start)
    if length > FRAME_BYTES_MAX:
        raise BadBytes(f"a frame of {length} bytes, more than {FRAME_BYTES_MAX}")
    if group != GROUP:
        raise BadBytes(f"a frame of site group {group}, which is not hosted here")
    return int(length)


def frames() -> Frames:
    """Puts messages together from whatever pieces a stream comes in."""
    return Frames(HEADER_BYTES, length_of)


_HELLO = Wire(Hello)


def hello_bytes(hello: Hello) -> bytes:
    """What either side sends first."""
    message = _HELLO.encode(hello)
    return header_of(message) + message


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
