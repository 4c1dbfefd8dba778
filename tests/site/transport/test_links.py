"""Connections between sites: who may call, what breaks, and what comes back."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from ordercast.core.errors import NotFit
from ordercast.core.events import Event, FromBelow
from ordercast.core.ids import SiteId
from ordercast.protocols.links.frames import Frame, Reconnected
from ordercast.site.clock import SystemClock
from ordercast.site.keys import authority
from ordercast.site.keys.files import KeyFiles
from ordercast.site.keys.security import SiteSecurity
from ordercast.site.transport.framing import VERSION, Hello, hello_bytes
from ordercast.site.transport.links import SiteLinks
from ordercast.site.transport.outgoing import Address, Security

A, B = SiteId(0), SiteId(1)
PATIENCE_S = 30.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class End:
    """One site's links, and what came to it."""

    def __init__(self, me: SiteId, addresses: list[Address], security: Security | None) -> None:
        self.events: list[Event] = []
        self.warnings: list[str] = []
        clock = SystemClock(asyncio.get_running_loop())
        self.links = SiteLinks(
            me, "orders", addresses, 0, clock, self.events.append, security=security, warn=self._warn
        )

    def _warn(self, peer: str, reason: str) -> None:
        self.warnings.append(reason)

    def frames(self) -> list[int]:
        return [event.message.seq for event in self.events if isinstance(event.message, Frame)]  # type: ignore[union-attr]

    def reconnected(self) -> int:
        return sum(isinstance(event, FromBelow) and isinstance(event.message, Reconnected) for event in self.events)

    async def until(self, true: Any) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not true():
                await asyncio.sleep(0.005)


@asynccontextmanager
async def two_ends(
    securities: tuple[Security | None, Security | None] = (None, None),
) -> AsyncIterator[tuple[End, End]]:
    addresses = [Address(name, "127.0.0.1", free_port()) for name in ("lis1", "por1")]
    ends = End(A, addresses, securities[0]), End(B, addresses, securities[1])
    for end in ends:
        await end.links.listen()
    for end in ends:
        end.links.call_others()
    try:
        yield ends
    finally:
        for end in ends:
            await end.links.close()


def frame(seq: int, size: int = 10) -> Frame:
    return Frame(0, 0, 1, seq, (os.urandom(size),))


SIZES = (0, 1, 1400, 70_000, 3_000_000)


async def frames_arrive_in_order(securities: tuple[Security | None, Security | None]) -> None:
    async with two_ends(securities) as (a, b):
        await a.until(a.reconnected)
        for seq, size in enumerate(SIZES * 3):
            a.links.send(B, frame(seq, size))
        await b.until(lambda: len(b.frames()) == 3 * len(SIZES))
        assert b.frames() == list(range(3 * len(SIZES)))


async def a_broken_connection_is_made_again_and_told(securities: tuple[Security | None, Security | None]) -> None:
    async with two_ends(securities) as (a, b):
        await a.until(a.reconnected)
        for incoming in tuple(b.links._in):
            incoming.close()
        await a.until(lambda: a.reconnected() == 2)
        a.links.send(B, frame(7))
        await b.until(b.frames)
        assert b.frames() == [7]


def garbage() -> list[bytes]:
    wrong = (
        Hello(VERSION + 1, "orders", "por1", 0),
        Hello(VERSION, "other", "por1", 0),
        Hello(VERSION, "orders", "nobody", 0),
        Hello(VERSION, "orders", "lis1", 0),
    )
    return [
        b"GET / HTTP/1.1\r\n\r\n",
        b"\xff" * 100,
        b"\x00\x00\x00\x04\x00\x07abcd",
        b"\x00\x00\x00\x01\x00\x00\x93",
        *(hello_bytes(hello) for hello in wrong),
        hello_bytes(Hello(VERSION, "orders", "por1", 0)) + b"\x00\x00\x00\x03\x00\x00\xc1\xc1\xc1",
    ]


@pytest.mark.parametrize("data", garbage())
def test_bad_bytes_end_the_connection_and_are_told(data: bytes) -> None:
    async def run() -> None:
        async with two_ends() as (a, _):
            address = a.links.addresses[A]
            reader, writer = await asyncio.open_connection(address.host, address.port)
            writer.write(data)
            with suppress(ConnectionResetError):
                await reader.read()  # to the end: it hangs up
            writer.close()
            await a.until(lambda: a.links.counters.refused)
            assert a.warnings

    asyncio.run(run())


@pytest.fixture
def keys(tmp_path: Path) -> KeyFiles:
    files = authority.init(tmp_path / "keys", "orders")
    for site in ("lis1", "por1"):
        authority.issue(files, site)
    return files


def secured(files: KeyFiles) -> tuple[SiteSecurity, SiteSecurity]:
    return SiteSecurity(files, "lis1", "orders"), SiteSecurity(files, "por1", "orders")


@pytest.mark.parametrize("scenario", [frames_arrive_in_order, a_broken_connection_is_made_again_and_told])
@pytest.mark.parametrize("tls", [False, True])
def test_links(scenario: Any, tls: bool, keys: KeyFiles) -> None:
    asyncio.run(scenario(secured(keys) if tls else (None, None)))


async def refused(ours: Security, theirs: Security) -> list[str]:
    """What the first site says of the second one."""
    async with two_ends((ours, theirs)) as (a, b):
        await a.until(lambda: a.warnings)
        await b.until(lambda: b.warnings)
        assert not b.frames()
        assert not a.reconnected()
        return a.warnings


def test_a_certificate_of_another_site_is_refused(keys: KeyFiles) -> None:
    authority.issue(keys, "por2")
    wrong = SiteSecurity(keys, "por2", "orders")
    assert "certificate" in " ".join(asyncio.run(refused(SiteSecurity(keys, "lis1", "orders"), wrong)))


def test_a_certificate_of_another_authority_is_refused(keys: KeyFiles, tmp_path: Path) -> None:
    foreign = authority.init(tmp_path / "foreign", "orders")
    authority.issue(foreign, "por1")
    ours, theirs = SiteSecurity(keys, "lis1", "orders"), SiteSecurity(foreign, "por1", "orders")
    assert "verify failed" in " ".join(asyncio.run(refused(ours, theirs)))


def test_a_revoked_certificate_is_refused(keys: KeyFiles) -> None:
    ours, theirs = secured(keys)
    authority.revoke(keys, "por1")
    ours.reload()
    assert "revoked" in " ".join(asyncio.run(refused(ours, theirs)))


def test_a_site_without_a_certificate_is_refused(keys: KeyFiles) -> None:
    async def run() -> None:
        async with two_ends((SiteSecurity(keys, "lis1", "orders"), None)) as (a, b):
            await a.until(lambda: a.warnings)
            assert not b.frames()
            assert not a.links.is_connected(B)
            assert not a.reconnected()

    asyncio.run(run())


def test_old_and_new_certificates_count_until_the_old_authority_is_retired(keys: KeyFiles) -> None:
    ours, old = secured(keys)
    authority.replace_authority(keys)
    authority.issue(keys, "lis1")
    ours.reload()
    old.reload()  # the machine has the new list of the trusted, and its old certificate
    asyncio.run(frames_arrive_in_order((ours, old)))
    authority.issue(keys, "por1")
    new = SiteSecurity(keys, "por1", "orders")
    assert authority.retire(keys) == [1]
    ours.reload()
    new.reload()
    asyncio.run(frames_arrive_in_order((ours, new)))
    assert "verify failed" in " ".join(asyncio.run(refused(ours, old)))


def test_an_address_in_use_is_told() -> None:
    async def run() -> None:
        async with two_ends() as (a, _):
            clock = SystemClock(asyncio.get_running_loop())
            again = SiteLinks(A, "orders", a.links.addresses, 0, clock, lambda event: None)
            with pytest.raises(NotFit, match="cannot listen on"):
                await again.listen()

    asyncio.run(run())
