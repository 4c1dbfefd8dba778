"""The connection to another site: made, kept, and made again when it breaks."""

from __future__ import annotations

import asyncio
import random
import ssl
from collections.abc import Callable
from typing import Protocol, cast

from msgspec import Struct

from ordercast.core.framing import Leaving
from ordercast.core.wire import BadBytes
from ordercast.site.transport.framing import Hello, frames, header_of, hello_bytes, read_hello

RETRY_LEAST_S = 0.05
RETRY_MOST_S = 2.0
"""A call that fails is repeated after twice the time, up to this, more or less by chance: not all at once."""

CONNECT_S = 10.0
"""A call that has not been answered after so long has failed."""


STEADY_S = 5.0
"""A connection that has lasted so long was a good one: the next call comes at once."""


class Address(Struct, frozen=True):
    """Where a site listens."""

    name: str
    host: str
    port: int


class Security(Protocol):
    """Who is who, by certificates."""

    def accepting(self) -> ssl.SSLContext:
        """For those who call."""

    def calling(self) -> ssl.SSLContext:
        """For those who are called."""

    def server_name(self, site: str) -> str:
        """The name that a site's certificate must bear."""

    def why_not(self, transport: asyncio.BaseTransport, site: str) -> str | None:
        """Why a caller is not the site it says it is; None if it is."""


class Call:
    """Whom to call, and what to say."""

    def __init__(self, address: Address, hello: Hello, security: Security | None) -> None:
        self.address = address
        self.hello = hello
        self._security = security

    @property
    def security(self) -> ssl.SSLContext | None:
        """With the certificates of now."""
        return self._security.calling() if self._security is not None else None

    @property
    def server_name(self) -> str | None:
        """What the certificate at the other end must be for."""
        return self._security.server_name(self.address.name) if self._security is not None else None


class OutgoingConnection(asyncio.BufferedProtocol):
    """Sends frames, as many at a time as the site has ready in one turn of its loop."""

    def __init__(self, call: Call, connected: Callable[[], None], failed: Callable[[str], None]) -> None:
        self.is_up = False
        self.bytes_sent = 0
        self._call = call
        self._connected = connected
        self._failed = failed
        self._transport: asyncio.Transport | None = None
        self._lost = asyncio.Event()
        self._answer = frames()
        self._leaving = Leaving(header_of)
        self._loop = asyncio.get_running_loop()

    async def run(self) -> None:
        """Keep the connection up until cancelled."""
        delay_s = RETRY_LEAST_S
        try:
            while True:
                if await self._connect():
                    began_s = self._loop.time()
                    await self._lost.wait()
                    if self._loop.time() - began_s > STEADY_S:
                        delay_s = RETRY_LEAST_S
                await asyncio.sleep(delay_s * random.uniform(0.5, 1.5))
                delay_s = min(2 * delay_s, RETRY_MOST_S)
        finally:
            self.hang_up()

    async def _connect(self) -> bool:
        call, address = self._call, self._call.address
        self._lost.clear()
        try:
            async with asyncio.timeout(CONNECT_S):
                await self._loop.create_connection(
                    lambda: self, address.host, address.port, ssl=call.security, server_hostname=call.server_name
                )
        except (OSError, ssl.SSLError, ssl.CertificateError, TimeoutError) as error:
            self._failed(_reason(error))
            return False
        return True

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is none by type
        self._transport.set_write_buffer_limits(high=1 << 30)  # the links bound what is under way
        self._transport.write(hello_bytes(self._call.hello))
        self._answer = frames()

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._answer.room()

    def buffer_updated(self, nbytes: int) -> None:
        """The answer to the greeting, which is all that ever comes this way: from here on frames may go."""
        expected = self._call.hello
        try:
            for message in self._answer.arrived(nbytes):
                read_hello(message, expected.cluster, (self._call.address.name,))
                self.is_up = True
                self._connected()
            self._answer.make_room()
        except BadBytes as error:
            self._failed(str(error))
            self.hang_up()

    def connection_lost(self, error: Exception | None) -> None:
        if not self.is_up:
            self._failed(_reason(error) if error is not None else "it hung up without an answer")
        self._transport = None
        self.is_up = False
        self._leaving.clear()
        self._lost.set()

    def send(self, message: bytes) -> None:
        """Put a message on its way; without a connection it is lost, and repeated on the next one."""
        if not self.is_up:
            return
        if not self._leaving.bytes:
            self._loop.call_soon(self._flush)
        self._leaving.put(message)

    def _flush(self) -> None:
        if self._transport is not None:
            self.bytes_sent += self._leaving.bytes
            self._leaving.write_to(self._transport)

    @property
    def bytes_waiting(self) -> int:
        """What the network has not taken yet."""
        return self._transport.get_write_buffer_size() if self._transport is not None else 0

    def hang_up(self) -> None:
        """End the connection at once; `run` makes another one."""
        if self._transport is not None:
            self._transport.abort()

    async def finish(self) -> None:
        """Send what is ready, and end."""
        self._flush()
        if self._transport is not None:
            self._transport.close()


def _reason(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return f"no answer within {CONNECT_S:g} s"
    return str(error) or type(error).__name__
