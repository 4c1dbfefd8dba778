"""A whole group in one process, for tests of applications."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from ordercast.client.embedded import dial_memory
from ordercast.client.site import Site
from ordercast.core.errors import NotFit, WrongUse
from ordercast.core.ids import SiteId
from ordercast.core.mistakes import unknown
from ordercast.site.cluster import PathsTable, cluster_from
from ordercast.site.daemon import Site as HostedSite
from ordercast.site.gateway.gateway import Gateway
from ordercast.site.journal import Silent
from ordercast.site.transport.memory import MemoryNetwork

SUSPICION_MS = 400.0
"""Tests do not want to wait longer than they must."""

FIRST_PORT = 7400
"""Nobody listens there: the file of a cluster needs addresses."""


class LocalGroup:
    """Sites in memory, while the `async with` block lasts; their logs are in a temporary directory.

    Sites are named by their name, or counted from 0.
    """

    def __init__(
        self,
        sites: int | Sequence[str] = 3,
        *,
        ordering: str = "adaptive",
        delay_ms: float = 0.0,
        resilience: int = 1,
        traced: bool = False,
        options: dict[str, Any] | None = None,
    ) -> None:
        """`delay_ms` is the way from any site to any other; `options` are those of the ordering protocol.

        If it is `traced`, sites record what they do, below `traces`, for `ordercast audit`.
        """
        self.names = tuple(f"site{index}" for index in range(sites)) if isinstance(sites, int) else tuple(sites)
        self.network = MemoryNetwork(delay_ms)
        self._table = {
            "cluster": "local",
            "security": {"tls": False},
            "group": {
                "ordering": ordering,
                "resilience": resilience,
                "suspicion_ms": SUSPICION_MS,
                "options": options or {},
            },
            "log": {"fsync": "never"},
            "trace": {"enabled": traced},
            "site": [
                {"name": name, "address": f"127.0.0.1:{FIRST_PORT + index}"} for index, name in enumerate(self.names)
            ],
        }
        self._running: dict[str, HostedSite] = {}
        self._directory: tempfile.TemporaryDirectory[str] | None = None

    async def __aenter__(self) -> LocalGroup:
        self._directory = tempfile.TemporaryDirectory(prefix="ordercast-")
        try:
            for name in self.names:
                await self.restart(name)
        except BaseException:
            await self._stop()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stop()

    async def _stop(self) -> None:
        for name in tuple(self._running):
            await self.crash(name)
        assert self._directory is not None
        self._directory.cleanup()

    def site(self, site: int | str, *, name: str = "tester", reconnect: bool = True) -> Site:
        """A participant's connection to a site, as `ordercast.connect` makes it."""
        known = self._name(site)
        return Site(dial_memory(lambda: self._gateway(known)), name, reconnect=reconnect)

    def hosted(self, site: int | str) -> HostedSite:
        """The site itself, as long as it is up."""
        known = self._name(site)
        if known not in self._running:
            raise NotFit(f"{known} is down: `restart` it")
        return self._running[known]

    def _gateway(self, name: str) -> Gateway:
        return self.hosted(name).gateway

    @property
    def traces(self) -> Path:
        """Where the traces are, as long as the block lasts. A site writes some seconds late, the rest when it ends."""
        assert self._directory is not None, "inside `async with`"
        return Path(self._directory.name) / PathsTable().traces

    # --- faults ---

    def cut(self, *side: int | str) -> None:
        """Let nothing get from these sites to the others, or back."""
        self.network.cut(tuple(SiteId(self.names.index(self._name(site))) for site in side))

    def heal(self) -> None:
        """Let everything get everywhere again."""
        self.network.heal()

    async def crash(self, site: int | str) -> None:
        """End a site without a word to the others. Its participants lose their connections."""
        hosted = self._running.pop(self._name(site), None)
        if hosted is None:
            raise WrongUse(f"{self._name(site)} is down already")
        hosted.driver.stop()
        await hosted.stop()

    async def restart(self, site: int | str) -> None:
        """Bring a site up, again: a new life, which begins with the log of the last one."""
        name = self._name(site)
        if name in self._running:
            raise WrongUse(f"{name} is up already")
        assert self._directory is not None, "inside `async with`"
        cluster = cluster_from(self._table, Path(self._directory.name))
        hosted = HostedSite(cluster, name, Silent(), self.network)
        await hosted.start()
        self._running[name] = hosted

    def _name(self, site: int | str) -> str:
        if isinstance(site, int):
            if not 0 <= site < len(self.names):
                raise WrongUse(f"there are {len(self.names)} sites, counted from 0; not site {site}")
            return self.names[site]
        if site not in self.names:
            raise WrongUse(unknown("site", site, self.names))
        return site
