"""What can go wrong with a multicast or with a stream. Wrong use of the library is `WrongUse`, no site is `NotFit`."""

from __future__ import annotations

from msgspec import Struct


class MessageKey(Struct, frozen=True, order=True):
    """What identifies a message, whichever site it goes through."""

    session: int
    number: int


class NotSent(Exception):
    """The message has surely not been multicast: drop it, or multicast it once more."""


class OutcomeUnknown(Exception):
    """The message may have been multicast, or not.

    `multicast(..., again=error.message)`, through this site or another, has it delivered once either way.
    """

    def __init__(self, reason: str, message: MessageKey | None) -> None:
        super().__init__(reason)
        self.message = message
        """None for fifo and causal messages: those are not recognised."""


class StreamEnded(Exception):
    """Nothing more comes from a group's stream."""


class Disconnected(StreamEnded):
    """The connection to the site is lost, and is not to be made again."""


class ConsumerTooSlow(StreamEnded):
    """The stream's events were not taken fast enough. Join again with `start=error.position` to miss none."""

    def __init__(self, position: int) -> None:
        super().__init__(f"events were not taken fast enough: join again with start={position} to miss none")
        self.position = position


class PositionGone(StreamEnded):
    """The site cannot read from the position asked for; `first` is the first from there on that it can."""

    def __init__(self, reason: str, first: int) -> None:
        super().__init__(reason)
        self.first = first
