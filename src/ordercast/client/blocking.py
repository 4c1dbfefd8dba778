"""The same library for programs without an event loop: every call blocks until it is answered.

A thread of its own runs the loop. The objects here may be used by many threads.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from ordercast.client import connect as asynchronous
from ordercast.client import group as asynchronous_group
from ordercast.client import site as asynchronous_site
from ordercast.client.errors import MessageKey
from ordercast.client.outbox import Receipt, WaitFor
from ordercast.core.administration import GroupMembers, Link, SiteView, Status
from ordercast.core.messages import Level
from ordercast.core.service import LATEST, WINDOW_BYTES
from ordercast.core.stream import Batch, Event, Happening, ViewChange

Result = TypeVar("Result")


class Loop:
    """An event loop in a thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="ordercast", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()
        self._loop.close()

    def wait(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Do it there, and wait for its result."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()  # if it is the waiting that was interrupted
            raise

    def stop(self) -> None:
        """End the thread."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()


def connect(address: str | Path, *, name: str, reconnect: bool = True) -> Site:
    """As `ordercast.connect`: connected inside a `with` block."""
    return Site(asynchronous.connect(address, name=name, reconnect=reconnect))


def embedded(cluster_file: str | Path, site: str, *, name: str | None = None) -> Site:
    """As `ordercast.embedded`: the site runs, in a thread, inside a `with` block."""
    return Site(asynchronous.embedded(cluster_file, site, name=name))


class Site:
    """A participant's connection to its site."""

    def __init__(self, site: asynchronous_site.Site) -> None:
        self._site = site
        self._loop: Loop | None = None

    def __enter__(self) -> Self:
        loop = Loop()
        try:
            loop.wait(self._site.__aenter__())
        except BaseException:
            loop.stop()
            raise
        self._loop = loop
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        loop = self.loop
        try:
            loop.wait(self._site.__aexit__(kind, error, trace))
        finally:
            self._loop = None
            loop.stop()

    @property
    def loop(self) -> Loop:
        """Where everything happens, inside the `with` block."""
        assert self._loop is not None, "use the connection inside its `with` block"
        return self._loop

    @property
    def site(self) -> str:
        """The name of the site."""
        return self._site.site

    def join(
        self,
        group: str,
        *,
        start: int = LATEST,
        final_only: bool = False,
        finality: bool = False,
        window_bytes: int = WINDOW_BYTES,
    ) -> Group:
        """Be a member of a group inside `with`."""
        wanted = self._site.join(
            group, start=start, final_only=final_only, finality=finality, window_bytes=window_bytes
        )
        return Group(self, wanted)

    def observe(
        self,
        group: str,
        *,
        start: int = LATEST,
        final_only: bool = False,
        finality: bool = False,
        window_bytes: int = WINDOW_BYTES,
    ) -> Group:
        """Only read, without being a member."""
        wanted = self._site.observe(
            group, start=start, final_only=final_only, finality=finality, window_bytes=window_bytes
        )
        return Group(self, wanted)

    # --- operators' questions ---

    def status(self) -> Status:
        """How the site is."""
        return self.loop.wait(self._site.status())

    def members(self) -> tuple[GroupMembers, ...]:
        """Who is in which group."""
        return self.loop.wait(self._site.members())

    def links(self) -> tuple[Link, ...]:
        """The ways to the other sites."""
        return self.loop.wait(self._site.links())

    def metrics(self) -> str:
        """All figures, as Prometheus reads them."""
        return self.loop.wait(self._site.metrics())

    def views(self) -> Iterator[SiteView]:
        """The view of the sites as it is, and each that comes."""
        views = self._site.views()
        try:
            while True:
                yield self.loop.wait(anext(views))  # type: ignore[arg-type]
        finally:
            self.loop.wait(views.aclose())  # type: ignore[attr-defined]

    def emulate(self, to: str, *, delay_ms: float, jitter_ms: float = 0.0, loss: float = 0.0) -> None:
        """Make the way from this site to another slower, or less reliable."""
        self.loop.wait(self._site.emulate(to, delay_ms=delay_ms, jitter_ms=jitter_ms, loss=loss))

    def cut(self, *to: str) -> None:
        """Let nothing get from this site to these."""
        self.loop.wait(self._site.cut(*to))

    def heal(self) -> None:
        """Let everything get everywhere again."""
        self.loop.wait(self._site.heal())

    def trace(self, on: bool) -> None:
        """Begin or stop to write a trace."""
        self.loop.wait(self._site.trace(on))

    def change_ordering(self, protocol: str, **options: Any) -> None:
        """Let the whole group order by another protocol from some position on."""
        self.loop.wait(self._site.change_ordering(protocol, **options))

    def leave_sites(self) -> None:
        """Let the site leave the group of sites, and end."""
        self.loop.wait(self._site.leave_sites())


class Group:
    """A participant's part in one group. One thread reads the stream."""

    def __init__(self, site: Site, group: asynchronous_group.Group) -> None:
        self._site = site
        self._group = group
        self._left: list[Event] = []
        """Of the batch that is being read, the last first."""

    def __enter__(self) -> Self:
        self._site.loop.wait(self._group.__aenter__())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.leave()

    def leave(self) -> None:
        """Be no member any more."""
        self._site.loop.wait(self._group.leave())

    @property
    def name(self) -> str:
        return self._group.name

    @property
    def view(self) -> ViewChange | None:
        """Who is in, as far as the stream has come."""
        return self._group.view

    def multicast(
        self,
        payload: bytes,
        *,
        level: Level = Level.AGREED,
        wait: WaitFor = "final",
        again: MessageKey | None = None,
    ) -> Receipt:
        """Multicast to all members, and wait for what became of it."""
        return self._site.loop.wait(self._group.multicast(payload, level=level, wait=wait, again=again))

    def multicast_many(
        self,
        payloads: Sequence[bytes],
        *,
        level: Level = Level.AGREED,
        wait: WaitFor = "final",
        again: MessageKey | None = None,
    ) -> Receipt:
        """The same for many messages at once, for far less than one by one. They keep their order."""
        return self._site.loop.wait(self._group.multicast_many(payloads, level=level, wait=wait, again=again))

    def __iter__(self) -> Iterator[Event]:
        while True:
            while self._left:
                yield self._left.pop()
            happening = self._next()
            if happening is None:
                return
            if isinstance(happening, Batch):
                self._left.extend(reversed(happening.deliveries()))
            else:
                yield happening

    def batches(self) -> Iterator[Happening]:
        """The same stream with consecutive messages of a sender in one `Batch`."""
        while (happening := self._next()) is not None:
            yield happening

    def _next(self) -> Happening | None:
        return self._site.loop.wait(self._group.next())
