"""What a restarted site group needs beside the entries in its log."""

from __future__ import annotations

from msgspec import Struct

from ordercast.protocols.groups.log import Base, Sessions


class Saved(Struct, array_like=True):
    """What a restarted site needs beside the entries in its log."""

    base: Base
    sessions: Sessions
    """At the base."""
    unordered: dict[int, int]
    """Who had sent which fifo and causal messages as the newest view began."""
