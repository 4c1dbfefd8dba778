"""The sockets of sites whose network is in memory."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from ordercast.client.testing import LocalGroup
from ordercast.site.gateway.sockets import Door


class Sockets:
    """Opened and closed by a test."""

    def __init__(self, local: LocalGroup, directory: Path) -> None:
        self.warnings: list[str] = []
        self._local = local
        self._directory = directory
        self._doors: dict[int, Door] = {}

    def path(self, site: int) -> Path:
        """Where the site is to be found."""
        return self._directory / f"{site}.sock"

    async def open(self, site: int) -> Path:
        """Let participants in."""
        gateway = self._local.hosted(site).gateway
        door = Door(gateway, self.path(site), lambda who, reason: self.warnings.append(reason))
        await door.open()
        self._doors[site] = door
        return self.path(site)

    async def close(self, site: int, reason: str = "the site ends") -> None:
        """Hang up on everybody; the gateway may be opened again, as if it were that of another life."""
        await self._doors.pop(site).close(reason)
        self._local.hosted(site).gateway.closed = None


@asynccontextmanager
async def sockets(local: LocalGroup) -> AsyncIterator[Sockets]:
    """All closed at the end."""
    with tempfile.TemporaryDirectory() as directory:
        opened = Sockets(local, Path(directory))
        try:
            yield opened
        finally:
            for site in range(len(local.names)):
                if site in opened._doors:
                    await opened.close(site)
