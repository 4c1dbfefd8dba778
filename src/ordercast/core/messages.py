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

    @property
    def origin(self) -> SiteId:
        """The site whose participants multicast these messages."""
        return origin_of(self.id)
