"""Between objects above and bytes below: a message is encoded once, however many links carry it."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar, assert_never, cast

import msgspec
from msgspec import Struct

from ordercast.core.effects import Note, Out
from ordercast.core.events import (
    Event,
    Flush,
    FromAbove,
    FromBelow,
    Now,
    Started,
    TimerFired,
    ViewClosed,
    ViewInstalled,
)
from ordercast.core.ids import SiteId
from ordercast.core.layer import Waiting
from ordercast.core.wire import BadBytes, Wire
from ordercast.protocols.links.frames import Congestion, Reset, Unreliable


class Codec(Struct):
    """Has no state. `codec_for` makes a type of it for the messages of the layers above."""

    WIRE: ClassVar[Any] = bytes
    wire: ClassVar[Wire]
    newest: ClassVar[tuple[Any, bytes]] = (None, b"")
    """The message encoded last: the same object comes once for each member."""

    def handle(self, event: Event, now: Now, out: Out) -> None:
        match event:
            case FromBelow(sender=sender, message=bytes() as data):
                self.on_receive(sender, data, out)
            case FromAbove(message=message, to=int() as to):
                out.send(to, self.encoded(message))
            case FromBelow(message=Congestion()):
                out.deliver(event.sender, event.message)
            case FromBelow():
                out.record(Note("bad-bytes"))
            case Started() | Flush() | ViewInstalled() | ViewClosed():
                pass
            case FromAbove() | TimerFired():
                raise AssertionError(f"not for a codec: {event}")
            case _:
                assert_never(event)

    def on_receive(self, sender: SiteId, data: bytes, out: Out) -> None:
        try:
            message = self.wire.decode(data)
        except BadBytes:
            out.record(Note("bad-bytes"))
        else:
            out.deliver(sender, message)

    def encoded(self, message: Any) -> bytes | Unreliable | Reset:
        """The message as the links take it."""
        match message:
            case Unreliable(message=inner):
                return Unreliable(self.encode(inner))
            case Reset():
                return message
            case _:
                return self.encode(message)

    def encode(self, message: Any) -> bytes:
        kind = type(self)
        known, data = kind.newest
        if message is not known:
            data = self.wire.encode(message)
            kind.newest = (message, data)
        return data

    def waiting_for(self) -> Waiting | None:
        return None


@cache
def codec_for(wire: Any) -> Codec:
    """The codec for a union of message types."""
    kind = msgspec.defstruct("CodecOfMessages", [], bases=(Codec,), namespace={"wire": Wire(wire)})
    return cast(Codec, kind())
