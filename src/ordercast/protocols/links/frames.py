"""What travels between two links."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

Part = bytes | tuple[int, bytes]
"""A whole message, or a fragment: how many more follow, and its bytes."""


class Ack(Struct, frozen=True, array_like=True, gc=False):
    """What has arrived of the other side's stream."""

    incarnation: int
    stream: int
    """Which stream, of which life of the other side: it begins a new one now and then."""
    below: int
    """Every frame below this number has arrived."""
    beyond: tuple[tuple[int, int], ...] = ()
    """Frames that arrived early, in ascending order: first and last of each run without a gap."""


class Frame(Struct, frozen=True, array_like=True, tag="frame", gc=False):
    """The unit of a link: messages that travel together, and what the sender has received."""

    incarnation: int
    """The sender's life."""
    to_incarnation: int
    """The receiver's life as far as the sender knows it; -1 if it does not."""
    stream: int
    seq: int
    """-1 in a frame that carries an acknowledgement only and needs none itself."""
    parts: tuple[Part, ...] = ()
    ack: Ack | None = None


class Unreliable(Struct, frozen=True, array_like=True, tag="unreliable", gc=False):
    """A message that travels by itself, at most once, outside any stream.

    The layer above wraps in it what must not wait behind anything, and what it repeats itself.
    """

    message: Any


class Reset(Struct, frozen=True, gc=False):
    """From above: forget everything that is under way to a site, and begin a new stream to this life of it."""

    incarnation: int = -1
    """-1: whichever life answers first."""


class Congestion(Struct, frozen=True, gc=False):
    """To above: the window to a site is full, or open again."""

    full: bool


class Reconnected(Struct, frozen=True, gc=False):
    """From the host of a stream transport: the connection to a site is new, what was in it may be lost."""
