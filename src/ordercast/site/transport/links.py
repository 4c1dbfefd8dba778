"""All connections of a site: one out to each other site, for what it sends, and one in from each.

Which way a connection was made says which way its frames go, so there is nothing to agree on between two sites that
call each other at once. A connection that breaks is made again, and the stack told, which repeats what was in it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from ordercast.core.errors import NotFit
from ordercast.core.events import Event, FromBelow
from ordercast.core.ids import SiteId
from ordercast.core.wire import Wire
from ordercast.protocols.links.frames import Reconnected
from ordercast.protocols.links.reliable import Reliable
from ordercast.site.clock import Clock
from ordercast.site.transport.emulation import EmulatedNetwork
from ordercast.site.transport.framing import VERSION, Hello
from ordercast.site.transport.incoming import IncomingConnection
from ordercast.site.transport.outgoing import Address, Call, OutgoingConnection, Security


class Counters(Struct):
    """What has gone through the connections of a site."""

    frames_sent: int = 0
    frames_received: int = 0
    refused: int = 0
    """Connections closed for bad bytes, or because the caller is not who may call."""
    reconnected: int = 0


class SiteLinks:
    """A site's way to all others, over TCP."""

    def __init__(
        self,
        me: SiteId,
        cluster: str,
        addresses: Sequence[Address],
        incarnation: int,
        clock: Clock,
        handle: Callable[[Event], None],
        *,
        security: Security | None = None,
        warn: Callable[[str, str], None] = lambda peer, reason: None,
    ) -> None:
        """`handle` takes what comes in; `warn` is told who was refused, or cannot be reached, and why."""
        self.me = me
        self.cluster = cluster
        self.addresses = tuple(addresses)
        self.names = tuple(address.name for address in addresses)
        self.wire = Wire(Reliable.WIRE)
        self.counters = Counters()
        self.emulated = EmulatedNetwork(clock, self._put, self._reconnected)
        self.hello = Hello(VERSION, cluster, self.names[me], incarnation)
        self._handle = handle
        self._security = security
        self._warn = warn
        self._server: asyncio.Server | None = None
        self._out: dict[SiteId, OutgoingConnection] = {}
        self._tasks: dict[SiteId, asyncio.Task[None]] = {}
        self._in: list[IncomingConnection] = []

    # --- life ---

    async def listen(self) -> None:
        """Take calls."""
        address = self.addresses[self.me]
        context = self._security.accepting() if self._security is not None else None
        loop = asyncio.get_running_loop()
        try:
            self._server = await loop.create_server(
                lambda: IncomingConnection(self), address.host, address.port, ssl=context
            )
        except OSError as error:
            reason = error.strerror or str(error)
            raise NotFit(f"{address.name}: cannot listen on {address.host}:{address.port} ({reason})") from error

    def call_others(self) -> None:
        """Connect to all other sites, and keep it so."""
        for site in range(len(self.addresses)):
            if site != self.me:
                self._keep_calling(SiteId(site))

    def _keep_calling(self, site: SiteId) -> None:
        address = self.addresses[site]
        call = Call(address, self.hello, self._security)
        peer = f"{address.name} at {address.host}:{address.port}"
        connection = OutgoingConnection(call, lambda: self._reconnected(site), lambda reason: self._warn(peer, reason))
        self._out[site] = connection
        self._tasks[site] = asyncio.get_running_loop().create_task(connection.run())

    async def renew(self) -> None:
        """Make all connections anew: certificates have changed."""
        if self._server is not None:
            self._server.close()
        await self.listen()
        for connection in self._out.values():
            connection.hang_up()
        for incoming in tuple(self._in):
            incoming.close()

    async def move(self, addresses: Sequence[Address]) -> None:
        """Other sites listen elsewhere now; new ones may have been added at the end."""
        before = self.addresses
        self.addresses = tuple(addresses)
        self.names = tuple(address.name for address in addresses)
        for index, address in enumerate(self.addresses):
            if index != self.me and (index >= len(before) or before[index] != address):
                await self._stop_calling(SiteId(index))
                self._keep_calling(SiteId(index))

    async def _stop_calling(self, site: SiteId) -> None:
        task = self._tasks.pop(site, None)
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def close(self) -> None:
        """Send what is ready, and end all connections."""
        for connection in self._out.values():
            await connection.finish()
        for site in tuple(self._tasks):
            await self._stop_calling(site)
        for incoming in tuple(self._in):
            incoming.close()
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()

    # --- out ---

    def send(self, to: SiteId, frame: Any) -> None:
        self.emulated.send(to, frame)

    def _put(self, to: SiteId, frame: Any) -> None:
        connection = self._out.get(to)
        if connection is None or not connection.is_up:
            return
        self.counters.frames_sent += 1
        connection.send(self.wire.encode(frame))

    def _reconnected(self, site: SiteId) -> None:
        self.counters.reconnected += 1
        self._handle(FromBelow(site, Reconnected()))

    def is_connected(self, site: SiteId) -> bool:
        """Whether there are connections both ways."""
        out = self._out.get(site)
        return out is not None and out.is_up and any(each.sender == site for each in self._in)

    def bytes_waiting(self) -> int:
        """What the network has not taken yet, of all that was sent."""
        return sum(connection.bytes_waiting for connection in self._out.values())

    # --- in ---

    def caller_of(self, transport: asyncio.BaseTransport, name: str) -> str | None:
        if name == self.names[self.me]:
            return "it says that it is this site itself"
        return self._security.why_not(transport, name) if self._security is not None else None

    def received(self, sender: SiteId, frame: Any) -> None:
        self.counters.frames_received += 1
        self._handle(FromBelow(sender, frame))

    def refused(self, peer: str, reason: str) -> None:
        self.counters.refused += 1
        self._warn(peer, reason)

    def attached(self, connection: IncomingConnection) -> None:
        self._in.append(connection)

    def detached(self, connection: IncomingConnection) -> None:
        self._in.remove(connection)
