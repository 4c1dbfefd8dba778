"""Connections from other sites: each brings one site's frames here."""

from __future__ import annotations

import asyncio
from typing import Any, Protocol, cast

from ordercast.core.ids import SiteId
from ordercast.core.wire import BadBytes, Wire
from ordercast.site.transport.framing import Hello, frames, hello_bytes, read_hello

HELLO_S = 10.0
"""Who has not said who it is after so long is hung up on."""


class Receiver(Protocol):
    """Who takes what comes in, and knows who may call."""

    cluster: str
    names: tuple[str, ...]
    """By site id."""
    wire: Wire
    """Of the frames of the links."""
    hello: Hello
    """What this site says of itself."""

    def caller_of(self, transport: asyncio.BaseTransport, name: str) -> str | None:
        """Why the caller is not the site it says it is; None if it is."""

    def received(self, sender: SiteId, frame: Any) -> None:
        """A frame has come."""

    def refused(self, peer: str, reason: str) -> None:
        """Bad bytes, or somebody who may not call: the connection is closed, and this is counted."""

    def attached(self, connection: IncomingConnection) -> None:
        """A connection has been made."""

    def detached(self, connection: IncomingConnection) -> None:
        """It has ended."""


class IncomingConnection(asyncio.BufferedProtocol):
    """One connection, from the greeting to its end."""

    def __init__(self, receiver: Receiver) -> None:
        self.sender: SiteId | None = None
        self.incarnation = -1
        self._receiver = receiver
        self._frames = frames()
        self._transport: asyncio.Transport | None = None
        self._greeting: asyncio.TimerHandle | None = None
        self._decode = receiver.wire.decode

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is none by type
        self._receiver.attached(self)
        self._greeting = asyncio.get_running_loop().call_later(HELLO_S, self._refuse, "no greeting")

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._frames.room()

    def buffer_updated(self, nbytes: int) -> None:
        try:
            for message in self._frames.arrived(nbytes):
                if self._transport is None:
                    return
                if self.sender is None:
                    self._greet(message)
                else:
                    self._receiver.received(self.sender, self._decode(message))
            self._frames.make_room()
        except BadBytes as error:
            self._refuse(str(error))

    def _greet(self, message: memoryview) -> None:
        receiver = self._receiver
        hello = read_hello(message, receiver.cluster, receiver.names)
        assert self._transport is not None
        reason = receiver.caller_of(self._transport, hello.site)
        if reason is not None:
            raise BadBytes(reason)
        self.sender = SiteId(receiver.names.index(hello.site))
        self.incarnation = hello.incarnation
        self._transport.write(hello_bytes(receiver.hello))
        self._end_greeting()

    def _refuse(self, reason: str) -> None:
        if self._transport is None:
            return
        peer = self._transport.get_extra_info("peername")
        who = self._receiver.names[self.sender] if self.sender is not None else "somebody"
        self.close()
        self._receiver.refused(f"{who} at {_shown(peer)}", reason)

    def connection_lost(self, error: Exception | None) -> None:
        self._end_greeting()
        self._transport = None
        self._receiver.detached(self)

    def close(self) -> None:
        """Hang up."""
        if self._transport is not None:
            self._transport.abort()
            self._transport = None

    def _end_greeting(self) -> None:
        if self._greeting is not None:
            self._greeting.cancel()
            self._greeting = None


def _shown(peer: Any) -> str:
    return f"{peer[0]}:{peer[1]}" if isinstance(peer, tuple) else "an unknown address"
