"""One reader of one group: what it has been sent, and how much of that it has not read."""

from __future__ import annotations

from collections.abc import Callable

from ordercast.core.service import Broken, Gone, Join, TooSlow
from ordercast.core.stream import ViewChange
from ordercast.site.gateway.port import Parcel, Port


class Subscription:
    """Live, or on its way there."""

    def __init__(self, wanted: Join, port: Port, position: int) -> None:
        self.group = wanted.group
        self.member = wanted.member
        self.final_only = wanted.final_only
        self.finality = wanted.finality
        self.port = port
        self.position = position
        """Everything below has been sent."""
        self.view: int | None = None
        """The view that it has been told of last."""
        self.ended = False
        self.unread = 0
        self._window = wanted.window_bytes
        self.on_room: Callable[[], None] = lambda: None
        """Called when there is room for what is read from the log."""

    @property
    def has_room(self) -> bool:
        """Whether what is read from the log may be sent: half of the bound is left for what comes live."""
        return self.unread <= self._window // 2

    def send(self, parcel: Parcel, end: int | None = None) -> None:
        """The next event, and the position after it; too much, and the stream ends."""
        if not self.ended and self.unread and self.unread + parcel.weight > self._window:
            self.end(TooSlow(self.group, self.position))
        self.supply(parcel, end)

    def supply(self, parcel: Parcel, end: int | None = None) -> None:
        """The same for what the reader has been waited for."""
        if self.ended:
            return
        self.unread += parcel.weight
        event = parcel.happened.event
        if type(event) is ViewChange:
            self.view = event.view
        if end is not None:
            self.position = end
        self.port.forward(parcel)

    def retract(self, start: int, parcel: Parcel) -> None:
        """What was sent from this position on is void."""
        if not self.final_only and self.position > start:
            self.send(parcel, start)

    def consumed(self, weight: int) -> None:
        """The reader has taken so much out of its queue."""
        self.unread = max(0, self.unread - weight)
        if self.has_room:
            self.on_room()

    def end(self, reason: TooSlow | Gone | Broken) -> None:
        """Nothing more is sent."""
        if not self.ended:
            self.ended = True
            self.port.tell(reason)
