"""What the writer is asked to do, in order."""

from __future__ import annotations

from msgspec import Struct

from ordercast.records.log_database import Segment


class Append(Struct, frozen=True, gc=False):
    """An entry, encoded, at the end of the log."""

    position: int
    end: int
    wall_us: int
    data: bytes


class Truncate(Struct, frozen=True, gc=False):
    """The log ends before this position."""

    position: int


class Finalize(Struct, frozen=True, gc=False):
    """Positions below this one are final."""

    below: int


class Save(Struct, frozen=True, gc=False):
    """A value under a key."""

    key: str
    value: bytes
    binding: bool = True
    """Whether it is synced under every policy."""


class RestartAt(Struct, frozen=True, gc=False):
    """The log goes on at this position; what is missing before it is a hole."""

    position: int


class Seal(Struct, frozen=True, gc=False):
    """A segment is on disk: list it, and take what it holds out of the tail."""

    segment: Segment


class Drop(Struct, frozen=True, gc=False):
    """Take these segments off the list, durably; their files go afterwards."""

    segments: tuple[Segment, ...]


Asked = Append | Truncate | Finalize | Save | RestartAt
"""What the log's caller asks for: each has a number."""

Request = Asked | Seal | Drop
