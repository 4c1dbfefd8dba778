"""A network in memory, for groups that live in one process: tests of applications, above all."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any, Protocol

from ordercast.core.events import Event, FromBelow
from ordercast.core.ids import SiteId
from ordercast.protocols.links.frames import Reconnected


class Handler(Protocol):
    """A site, as the network sees it."""

    def handle(self, event: Event) -> None:
        """Something has come."""


class MemoryNetwork:
    """Carries frames from site to site in the order in which they were sent, in the next turn of the loop or later."""

    def __init__(self, delay_ms: float = 0.0) -> None:
        self._delay_s = delay_ms / 1000
        self._under_way: deque[tuple[float, SiteId, SiteId, Any]] = deque()
        self._sites: dict[SiteId, Handler] = {}
        self._cut: dict[tuple[SiteId, SiteId], bool] = {}

    def attach(self, site: SiteId, handler: Handler) -> None:
        """A site comes up: everybody's connections with it are new."""
        self._sites[site] = handler
        for other, each in tuple(self._sites.items()):
            if other != site:
                each.handle(FromBelow(site, Reconnected()))
                handler.handle(FromBelow(other, Reconnected()))

    def detach(self, site: SiteId) -> None:
        """A site goes down."""
        self._sites.pop(site, None)

    def send(self, sender: SiteId, to: SiteId, frame: Any) -> None:
        """On its way, unless it is cut off."""
        if self._cut.get((sender, to)):
            return
        loop = asyncio.get_running_loop()
        if not self._delay_s:
            loop.call_soon(self._arrive, sender, to, frame)
            return
        self._under_way.append((loop.time() + self._delay_s, sender, to, frame))
        if len(self._under_way) == 1:
            loop.call_later(self._delay_s, self._arrive_due)

    def _arrive_due(self) -> None:
        """All ways are equally long, so what was sent first arrives first."""
        loop = asyncio.get_running_loop()
        under_way = self._under_way
        while under_way and under_way[0][0] <= loop.time():
            _, sender, to, frame = under_way[0]
            self._arrive(sender, to, frame)
            under_way.popleft()
        if under_way:
            loop.call_later(under_way[0][0] - loop.time(), self._arrive_due)

    def _arrive(self, sender: SiteId, to: SiteId, frame: Any) -> None:
        handler = self._sites.get(to)
        if handler is not None and sender in self._sites and not self._cut.get((sender, to)):
            handler.handle(FromBelow(sender, frame))

    def cut(self, side: tuple[SiteId, ...]) -> None:
        """Nothing gets from these sites to others, or back."""
        for one in self._sites:
            for other in self._sites:
                if (one in side) != (other in side):
                    self._cut[one, other] = True

    def heal(self) -> None:
        """Everything gets everywhere again."""
        cut, self._cut = self._cut, {}
        for sender, to in cut:
            if sender in self._sites and to in self._sites:
                self._sites[sender].handle(FromBelow(to, Reconnected()))


class MemoryLinks:
    """One site's way into a network in memory."""

    def __init__(self, me: SiteId, network: MemoryNetwork) -> None:
        self._me = me
        self._network = network

    def send(self, to: SiteId, frame: Any) -> None:
        self._network.send(self._me, to, frame)
