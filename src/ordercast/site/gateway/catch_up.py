"""A reader's way from a position of the past to what is live: the ordered log in pieces, then what is in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

from ordercast.core.entries import Entry
from ordercast.core.errors import NotFit, WrongUse
from ordercast.core.ids import SiteId
from ordercast.core.messages import Act, Bundle
from ordercast.core.service import Broken, Gone
from ordercast.records.log_errors import Hole, Retained
from ordercast.site.gateway.port import Parcel
from ordercast.site.gateway.recent import Item, Recent, as_final, from_position, items_of
from ordercast.site.gateway.subscription import Subscription

CHUNK_BYTES = 512 << 10
"""So much is read from the log at once."""

RETRY_S = 0.02
"""The log's newest entries may be on their way to the disk for a moment."""


class Chunk(Protocol):
    """A piece of the log."""

    @property
    def entries(self) -> Sequence[Entry]:
        """In order."""


class Log(Protocol):
    """The ordered log, for reading."""

    def read(self, start: int, stop: int, *, limit_bytes: int) -> Chunk:
        """Entries that end after one position, up to another, and not much more than so many bytes of them; raises
        `Retained` or `Hole`."""


class CatchUp:
    """Reads on behalf of subscriptions."""

    def __init__(
        self,
        log: Log | None,
        recent: Recent,
        name_of: Callable[[SiteId], str],
        go_live: Callable[[Subscription], None],
    ) -> None:
        self._log = log
        self._recent = recent
        self._name_of = name_of
        self._go_live = go_live

    async def first(self, start: int) -> int:
        """The first position from `start` on that can be read."""
        if start >= self._recent.start:
            return start
        if self._log is None:
            return self._recent.start
        try:
            await self._read(start, start + 1, 1)
        except (Retained, Hole) as error:
            return min(error.first, self._recent.start)
        return start

    async def run(self, subscription: Subscription) -> None:
        """Until the reader is live, or has ended."""
        recent = self._recent
        try:
            while not subscription.ended:
                if subscription.position < recent.start:
                    await self._advance(subscription)
                elif final := recent.final_of(subscription.group, subscription.position):
                    await self._send(subscription, final)
                else:
                    self._go_live(subscription)
                    return
        except (Retained, Hole) as error:
            subscription.end(Gone(subscription.group, subscription.position, min(error.first, recent.start)))
        except (NotFit, WrongUse) as error:
            subscription.end(Broken(subscription.group, str(error)))

    async def _advance(self, subscription: Subscription) -> None:
        """The next piece of the log."""
        entries = await self._read(subscription.position, self._recent.start, CHUNK_BYTES)
        if not entries:
            await asyncio.sleep(RETRY_S)
            return
        await self._send(subscription, [item for entry in entries for item in self._items(subscription, entry)])
        subscription.position = max(subscription.position, entries[-1].end)

    def _items(self, subscription: Subscription, entry: Entry) -> list[Item]:
        """What the reader gets to see of an entry."""
        bundle = entry.content
        if not isinstance(bundle, Bundle) or bundle.author is None:
            return []
        if bundle.author.group != subscription.group or bundle.author.act is not Act.SPEAKS:
            return []
        start = subscription.position
        items = items_of(bundle, entry.position, self._name_of(bundle.origin))
        return [from_position(item, start) for item in items if item.end > start]

    async def _send(self, subscription: Subscription, items: Sequence[Item]) -> None:
        """Final items, as fast as they are read."""
        for item in items:
            await self._room(subscription)
            parcel = Parcel(subscription.group, as_final(item.event, True), self._recent.final)
            subscription.supply(parcel, item.end)

    async def _read(self, start: int, stop: int, limit_bytes: int) -> Sequence[Entry]:
        """In a thread: the disk may be slow."""
        log = self._log
        if log is None:
            raise Retained(start, self._recent.start)
        chunk = await asyncio.to_thread(log.read, start, stop, limit_bytes=limit_bytes)
        return chunk.entries

    async def _room(self, subscription: Subscription) -> None:
        """Wait until the reader has read enough of what it was sent."""
        if subscription.has_room or subscription.ended:
            return
        room = asyncio.Event()
        subscription.on_room = room.set
        await room.wait()
