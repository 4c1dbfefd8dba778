"""The way to a site: over its Unix socket here, in memory in `embedded`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Protocol, cast

from ordercast.core.errors import NotFit
from ordercast.core.framing import Frames, Leaving
from ordercast.core.service import HEADER_BYTES, REPLIES, REQUESTS, Reply, Request, header_of, length_of
from ordercast.core.wire import BadBytes

UNSENT_BYTES = 1 << 20
"""With more than this in the socket's buffer, multicasts wait."""


class Line(Protocol):
    """A connection to a site."""

    def send(self, request: Request) -> None:
        """On its way; nothing calls back at once."""

    def abort(self) -> None:
        """Hang up."""


class Listener(Protocol):
    """Who has called the site."""

    def received(self, reply: Reply) -> None:
        """A message from the site."""

    def lost(self, reason: str) -> None:
        """The connection has ended."""

    def pause_writing(self) -> None:
        """The site takes no more for now."""

    def resume_writing(self) -> None:
        """It takes requests again."""


Dial = Callable[[Listener], Awaitable[Line]]
"""Makes a connection, or raises `NotFit`."""


class SocketLine(asyncio.BufferedProtocol):
    """Over a socket. What is sent in one turn of the loop leaves in one piece."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._frames = Frames(HEADER_BYTES, length_of)
        self._transport: asyncio.Transport | None = None
        self._leaving = Leaving(header_of)
        self._reason = "the site has hung up"

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # those of uvloop are none by type
        self._transport.set_write_buffer_limits(high=UNSENT_BYTES)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._frames.room()

    def buffer_updated(self, nbytes: int) -> None:
        received, decode = self._listener.received, REPLIES.decode
        try:
            for message in self._frames.arrived(nbytes):
                received(decode(message))
            self._frames.make_room()
        except BadBytes as error:
            self._reason = f"the site sends what is no message ({error})"
            self.abort()

    def send(self, request: Request) -> None:
        if not self._leaving.bytes:
            asyncio.get_running_loop().call_soon(self._flush)
        self._leaving.put(REQUESTS.encode(request))
        if self._leaving.bytes > UNSENT_BYTES:
            self._flush()  # so that the transport can say that it is too much

    def _flush(self) -> None:
        if self._transport is not None:
            self._leaving.write_to(self._transport)
        else:
            self._leaving.clear()

    def pause_writing(self) -> None:
        self._listener.pause_writing()

    def resume_writing(self) -> None:
        self._listener.resume_writing()

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        self._listener.lost(self._reason if error is None else f"{self._reason} ({error})")

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()


def dial_socket(path: Path) -> Dial:
    """Calls the site whose socket this is."""

    async def dial(listener: Listener) -> Line:
        loop = asyncio.get_running_loop()
        try:
            _, line = await loop.create_unix_connection(lambda: SocketLine(listener), str(path))
        except OSError as error:
            reason = error.strerror or str(error)
            raise NotFit(f"{path}: no site answers ({reason}); start one with `ordercast up`") from error
        return line

    return dial
