"""What a member of a participants' group gets to see, in one stream and in the true relative order.

These types are what applications match on, and also what travels from a site to its participants; only messages
travel by the bundle, as a `Batch`, and become a `Delivery` each at the client.
"""

from __future__ import annotations

from msgspec import Struct

from ordercast.core.ids import MessageId
from ordercast.core.messages import Level

MESSAGE_OVERHEAD_BYTES = 64
"""What a message counts for in a queue beyond its payload."""


class Participant(Struct, frozen=True, array_like=True, gc=False, order=True):
    """A task of an application, and the site that it uses."""

    name: str
    site: str
    session: int
    """Tells participants of the same name apart."""

    def __str__(self) -> str:
        return f"{self.name}@{self.site}"


class Delivery(Struct, frozen=True, gc=False):
    """A message."""

    position: int | None
    """Its place in the order; None for fifo and causal messages."""
    sender: Participant
    payload: bytes
    final: bool
    """Whether this place is the same at every site, for ever; else it may still be taken back by `Retracted`."""
    level: Level
    message: MessageId


class Batch(Struct, frozen=True, array_like=True, tag="batch", gc=False):
    """Consecutive messages of one sender."""

    position: int | None
    """Of the first."""
    sender: Participant
    payloads: tuple[bytes, ...]
    final: bool
    level: Level
    message: MessageId
    """Of the first."""

    def deliveries(self) -> list[Delivery]:
        """The messages one by one."""
        sender, final, level, message = self.sender, self.final, self.level, self.message
        if self.position is None:
            return [
                Delivery(None, sender, payload, final, level, MessageId(message + index))
                for index, payload in enumerate(self.payloads)
            ]
        ahead = message - self.position
        return [
            Delivery(place, sender, payload, final, level, MessageId(ahead + place))
            for place, payload in enumerate(self.payloads, self.position)
        ]

    def part(self, start: int, stop: int) -> Batch:
        """Only the messages of these indices."""
        position = None if self.position is None else self.position + start
        message = MessageId(self.message + start)
        return Batch(position, self.sender, self.payloads[start:stop], self.final, self.level, message)

    @property
    def end(self) -> int | None:
        """The position after the last."""
        return None if self.position is None else self.position + len(self.payloads)


class ViewChange(Struct, frozen=True, array_like=True, tag="view", gc=False):
    """Who is in the group from here on. Who begins to read is told who is in, with nobody joined or left."""

    view: int
    """The position of the change: it names the view."""
    members: tuple[Participant, ...]
    """The most senior first."""
    joined: tuple[Participant, ...] = ()
    left: tuple[Participant, ...] = ()


class Finalized(Struct, frozen=True, array_like=True, tag="final", gc=False):
    """Everything delivered at positions below this one is final."""

    below: int


class Retracted(Struct, frozen=True, array_like=True, tag="retracted", gc=False):
    """Tentative deliveries from this position on are void: the majority has ordered otherwise."""

    from_position: int


class Blocked(Struct, frozen=True, array_like=True, tag="blocked", gc=False):
    """Too few sites can be reached: what is multicast waits."""


class Unblocked(Struct, frozen=True, array_like=True, tag="unblocked", gc=False):
    """Enough sites can be reached again."""


class Resumed(Struct, frozen=True, array_like=True, tag="resumed", gc=False):
    """The connection to the site was lost and is back. The stream goes on at this position without a gap.

    Fifo and causal messages of the meantime are in no log: they are missing.
    """

    position: int


Happening = Batch | ViewChange | Finalized | Retracted | Blocked | Unblocked | Resumed
"""What travels."""

Event = Delivery | ViewChange | Finalized | Retracted | Blocked | Unblocked | Resumed
"""What an application sees."""


def weight_of(happening: Happening) -> int:
    """What it counts for in a queue."""
    if isinstance(happening, Batch):
        payloads = happening.payloads
        return sum(map(len, payloads)) + MESSAGE_OVERHEAD_BYTES * (1 + len(payloads))
    return MESSAGE_OVERHEAD_BYTES
