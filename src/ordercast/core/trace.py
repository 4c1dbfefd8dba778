"""The trace record: one flat schema out of every host. Arrow and Spark schemas are derived from it."""

from __future__ import annotations

import enum

from msgspec import Struct


class Kind(enum.StrEnum):
    """What happened."""

    MULTICAST = "multicast"
    SEND = "send"
    RECEIVE = "receive"
    TICKET = "ticket"
    ORDER = "order"
    DELIVER = "deliver"
    FINALIZE = "finalize"
    RETRACT = "retract"
    STABLE = "stable"
    VIEW = "view"
    ROLE = "role"
    CLOCK = "clock"
    SUSPECT = "suspect"
    BLOCK = "block"
    CRASH = "crash"
    RECOVER = "recover"


class TraceRecord(Struct, frozen=True, kw_only=True, gc=False):
    """One thing that happened at one site. Columns that a kind does not use are null."""

    run: str
    """Names the run, so that traces of many can lie in one place."""
    site: int
    incarnation: int
    index: int
    """Counts all records of a (site, incarnation), without gaps."""
    at_us: int
    """Virtual time, or wall-clock time of a live site."""
    kind: Kind
    group: str | None = None
    view: int | None = None
    members: tuple[int, ...] | None = None
    """The members of a view, on view records only."""
    message: int | None = None
    """Packed origin, incarnation and seq (`core.ids`)."""
    origin: int | None = None
    origin_incarnation: int | None = None
    seq: int | None = None
    level: str | None = None
    position: int | None = None
    delivery_index: int | None = None
    """Counts the ordered deliveries of a (site, incarnation), without gaps."""
    final: bool | None = None
    depends: tuple[int, ...] | None = None
    """The messages that directly precede a causal message."""
    size: int | None = None
    digest: int | None = None
    detail: str | None = None
    """In words: on role records what was measured, and why the role changes."""
