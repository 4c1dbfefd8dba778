"""A site in the application's own process and loop: no daemon, no socket between the two."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from ordercast.client.line import Dial, Line, Listener
from ordercast.client.site import Site
from ordercast.site.cluster import read_cluster
from ordercast.site.daemon import Site as HostedSite
from ordercast.site.gateway.gateway import Gateway
from ordercast.site.gateway.memory import MemoryPort


def dial_memory(gateway: Callable[[], Gateway]) -> Dial:
    """Calls a site in this process."""

    async def dial(listener: Listener) -> Line:
        return MemoryPort(gateway(), listener)

    return dial


class EmbeddedSite(Site):
    """Runs a site of a cluster while the `async with` block lasts, and is a participant of it."""

    def __init__(self, cluster_file: str | Path, site: str, *, name: str) -> None:
        self.hosted = HostedSite(read_cluster(Path(cluster_file)), site)
        super().__init__(dial_memory(lambda: self.hosted.gateway), name, reconnect=False)

    async def __aenter__(self) -> EmbeddedSite:
        await self.hosted.start()
        try:
            await super().__aenter__()
        except BaseException:
            await self.hosted.stop()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
        await self.hosted.leave()
        await self.hosted.stop()
