"""One participant's connection as the gateway sees it, whatever carries it."""

from __future__ import annotations

from typing import Protocol

from ordercast.core.service import REPLIES, Happened, Reply
from ordercast.core.stream import Batch, Happening, weight_of


class Parcel:
    """An event of a group for all who read it: encoded at most once, and only if it goes into a socket."""

    __slots__ = ("_encoded", "happened", "weight")

    def __init__(self, group: str, event: Happening, final_below: int) -> None:
        self.happened = Happened(group, event, final_below)
        self.weight = weight_of(event)
        self._encoded: bytes | None = None

    @property
    def is_final(self) -> bool:
        """Whether it holds messages at final positions."""
        event = self.happened.event
        return isinstance(event, Batch) and event.final

    @property
    def final_below(self) -> int:
        """Everything at positions below this one was final."""
        return self.happened.final_below

    @property
    def encoded(self) -> bytes:
        """As it travels."""
        if self._encoded is None:
            self._encoded = REPLIES.encode(self.happened)
        return self._encoded


class Port(Protocol):
    """The way to a participant. Nothing here calls back at once."""

    def tell(self, reply: Reply) -> None:
        """A message for this participant alone."""

    def forward(self, parcel: Parcel) -> None:
        """An event that others read too."""

    def pause(self) -> None:
        """Take no more requests."""

    def resume(self) -> None:
        """Take requests again."""

    def close(self) -> None:
        """Send what has been said, and hang up."""
