"""Participants that come over the site's Unix socket."""

from __future__ import annotations

import asyncio
import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path
from typing import cast

from ordercast.core.errors import NotFit
from ordercast.core.framing import Frames, Leaving
from ordercast.core.service import HEADER_BYTES, REPLIES, REQUESTS, Reply, header_of, length_of
from ordercast.core.wire import BadBytes
from ordercast.site.gateway.connection import Connection
from ordercast.site.gateway.gateway import Gateway
from ordercast.site.gateway.port import Parcel

GREETING_S = 10.0
"""Who has not said who it is after so long is hung up on."""


class SocketPort(asyncio.BufferedProtocol):
    """One connection. What it is told in one turn of the loop leaves in one piece."""

    def __init__(self, gateway: Gateway, refused: Callable[[str], None], open_ports: list[SocketPort]) -> None:
        self._connection = Connection(gateway, self)
        self._refused = refused
        self._open_ports = open_ports
        self._frames = Frames(HEADER_BYTES, length_of)
        self._transport: asyncio.Transport | None = None
        self._leaving = Leaving(header_of)
        self._greeting: asyncio.TimerHandle | None = None

    # --- in ---

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._open_ports.append(self)
        self._transport = cast(asyncio.Transport, transport)  # those of uvloop are none by type
        self._greeting = asyncio.get_running_loop().call_later(GREETING_S, self._refuse, "no greeting")

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._frames.room()

    def buffer_updated(self, nbytes: int) -> None:
        try:
            for message in self._frames.arrived(nbytes):
                if self._transport is None:
                    return
                self._connection.take(REQUESTS.decode(message))
            self._connection.flush()
            self._frames.make_room()
        except BadBytes as error:
            self._refuse(str(error))
        else:
            if self._connection.session is not None:
                self._end_greeting()

    def connection_lost(self, error: Exception | None) -> None:
        self._open_ports.remove(self)
        self._end()

    def _refuse(self, reason: str) -> None:
        if self._transport is not None:
            who = self._connection.name or "somebody"
            transport = self._transport
            self._end()
            transport.abort()
            self._refused(f"{who}: {reason}")

    def _end(self) -> None:
        self._transport = None
        self._end_greeting()
        self._connection.end()

    def _end_greeting(self) -> None:
        if self._greeting is not None:
            self._greeting.cancel()
            self._greeting = None

    # --- out ---

    def tell(self, reply: Reply) -> None:
        self._put(REPLIES.encode(reply))

    def forward(self, parcel: Parcel) -> None:
        self._put(parcel.encoded)

    def _put(self, message: bytes) -> None:
        if not self._leaving.bytes:
            asyncio.get_running_loop().call_soon(self._flush)
        self._leaving.put(message)

    def _flush(self) -> None:
        if self._transport is not None:
            self._leaving.write_to(self._transport)
        else:
            self._leaving.clear()

    def pause(self) -> None:
        if self._transport is not None:
            self._transport.pause_reading()

    def resume(self) -> None:
        if self._transport is not None:
            self._transport.resume_reading()

    def close(self) -> None:
        self._flush()
        if self._transport is not None:
            self._transport.close()


class Door:
    """The socket of a site, as long as it is open."""

    def __init__(self, gateway: Gateway, path: Path, warn: Callable[[str, str], None]) -> None:
        """`warn` is told what was refused, and why."""
        self._gateway = gateway
        self._path = path
        self._warn = warn
        self._server: asyncio.Server | None = None
        self._ports: list[SocketPort] = []

    async def open(self) -> None:
        """Let participants in."""
        _make_way(self._path)
        loop = asyncio.get_running_loop()
        try:
            self._server = await loop.create_unix_server(self._port, str(self._path))
        except OSError as error:
            raise NotFit(f"{self._path}: cannot be opened for participants ({error.strerror or error})") from error

    def _port(self) -> SocketPort:
        return SocketPort(self._gateway, self._refused, self._ports)

    def _refused(self, reason: str) -> None:
        self._gateway.refused += 1
        self._warn("participant", reason)

    async def close(self, reason: str) -> None:
        """Tell all participants why, hang up, and let nobody in any more."""
        if self._server is not None:
            self._server.close()
            self._gateway.close(reason)
            for port in tuple(self._ports):
                port.close()
            await self._server.wait_closed()
            self._path.unlink(missing_ok=True)


def _make_way(path: Path) -> None:
    """Remove what an earlier life has left; somebody who answers there has the right to it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not stat.S_ISSOCK(os.stat(path).st_mode):
            raise NotFit(f"{path}: is there and is no socket; remove it, or set paths.sockets to another directory")
    except FileNotFoundError:
        return
    except OSError as error:
        raise NotFit(f"{path.parent}: cannot be made ({error.strerror})") from error
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            path.unlink(missing_ok=True)
            return
    raise NotFit(f"{path}: another site answers there; stop that one first")
