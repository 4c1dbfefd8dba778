"""What participants multicast, and the kinds of promise they can ask for."""

from __future__ import annotations

import enum

from msgspec import Struct

from ordercast.core.ids import MessageId, SiteId, origin_of


class Level(enum.IntEnum):
    """What a multicast asks of its delivery (each level includes those above it in this list)."""

    FIFO = 0
    CAUSAL = 1
    AGREED = 2
    SAFE = 3


UNNUMBERED = -1
"""What a site itself says of a session: it is not one of the session's messages."""


class Act(enum.IntEnum):
    """What a participant does with a bundle."""

    SPEAKS = 0
    JOINS = 1
    """It becomes a member of its group; the bundle has one empty body, and so takes one position."""
    LEAVES = 2
    PLANS = 3
    """The group goes over to another ordering protocol (`core.plans`): of no participant and no group."""


class Author(Struct, frozen=True, array_like=True, gc=False):
    """The participant behind a bundle. The ordering protocols do not look at it."""

    group: str
    """The participants' group that the bundle is for; many of them ride on the one group of sites."""
    name: str
    session: int
    """One connection of a participant, through however many sites: drawn at random, 63 bits."""
    number: int
    """Of the first body, among those of the session: by it what is multicast again is recognised."""
    act: Act = Act.SPEAKS


class Bundle(Struct, frozen=True, array_like=True, tag=0, gc=False):
    """The ordering unit: consecutive messages of one origin that are ordered together.

    `id` is the first message's (origin, incarnation, seq); the n-th body's message is `id + n`.
    Protocols handle a bundle as if it were one message.
    """

    id: MessageId
    bodies: tuple[bytes, ...]
    level: Level = Level.AGREED
    past: tuple[int, ...] = ()
    """How many fifo and causal bundles of each member, in the view's order, must be delivered before; empty: none."""
    ordered_past: tuple[int, ...] = ()
    """The same for its agreed and safe bundles."""
    author: Author | None = None
    """Whose messages these are; a bundle has one author."""
    void: tuple[int, ...] = ()
    """Bodies, by index, that had come up before: they keep their positions, nobody gets them, and they do nothing."""

    @property
    def origin(self) -> SiteId:
        """The site whose participants multicast these messages."""
        return origin_of(self.id)
