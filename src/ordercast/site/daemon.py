"""A site of a cluster: the stack, and what it runs on. Protocols decide; here things are only put together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from ordercast.core.deliveries import Diverged, Entered, GroupBlocked, GroupLeft, HistoryWanted, Taken
from ordercast.core.effects import Note
from ordercast.core.events import Event, FromAbove, Started
from ordercast.core.ids import SiteId
from ordercast.core.messages import Author
from ordercast.core.recorder import Recorder
from ordercast.core.stack import Stack
from ordercast.core.views import View
from ordercast.protocols.groups.site_group import SiteGroup
from ordercast.protocols.membership.messages import Leave
from ordercast.site.assembly import stack_for
from ordercast.site.clock import Clock, SystemClock
from ordercast.site.cluster import Cluster, host_and_port
from ordercast.site.driver import Driver
from ordercast.site.gateway.administration import SiteAdministration, layer_of
from ordercast.site.gateway.gateway import Gateway
from ordercast.site.gateway.sockets import Door
from ordercast.site.history import Historian
from ordercast.site.journal import Journal
from ordercast.site.keys.files import KeyFiles
from ordercast.site.keys.security import SiteSecurity
from ordercast.site.metrics import SiteMetrics
from ordercast.site.storage.options import LogOptions
from ordercast.site.storage.ordered_log import OrderedLog
from ordercast.site.storage.writer import LogState
from ordercast.site.tracing import TraceFiles
from ordercast.site.transport.emulation import Way
from ordercast.site.transport.links import SiteLinks
from ordercast.site.transport.memory import MemoryLinks, MemoryNetwork

LEAVE_S = 10.0
"""So long a site that ends waits until the others have let it go."""

GIB = 1 << 30


class Site:
    """One site. `start` it, and `stop` it; in between the stack runs by itself."""

    def __init__(
        self, cluster: Cluster, name: str, journal: Journal | None = None, network: MemoryNetwork | None = None
    ) -> None:
        """On a `network` in memory there are no connections; else they are those of the cluster file."""
        self.configuration = cluster
        self.cluster = cluster.name
        self.name = name
        self.me = cluster.site_id(name)
        self.journal = journal or Journal()
        self.view: View | None = None
        self.blocked = False
        self.on_leave: Callable[[], None] | None = None
        """Called when a participant asks the site to leave and end."""
        self.left = asyncio.Event()
        """The others have let this site go."""
        self.log: OrderedLog
        self.driver: Driver
        self.links: SiteLinks | None = None
        self.gateway: Gateway
        """Of the participants."""
        self.metrics = SiteMetrics(self)
        self.bad_messages = 0
        """Frames that held no message."""
        self.alarms = 0
        """How often the final order differed from another site's."""
        self._network = network
        self._historian: Historian
        self._clock: Clock
        self._security: SiteSecurity | None = None
        self._trace: TraceFiles | None = None
        self._recorder: Recorder | None = None
        self.leaving = False
        """The others have been asked to let this site go."""
        self._door: Door | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Of all sites, by id."""
        return self.configuration.names

    @property
    def incarnation(self) -> int:
        """The number of this life of the site."""
        return self.log.recovered.incarnation

    @property
    def stack(self) -> Stack:
        """The layers, for whoever wants to look at their state."""
        assert isinstance(self.driver.stack, Stack)
        return self.driver.stack

    # --- life ---

    async def start(self) -> None:
        """Come up: recover what the last life has left, listen, and call the others."""
        loop = asyncio.get_running_loop()
        self._clock = clock = SystemClock(loop)
        keys = self.configuration.keys
        if keys is not None and self._network is None:
            self._security = SiteSecurity(KeyFiles(keys), self.name, self.cluster)
        directory = self.configuration.data(self.name)
        self.log = log = await loop.run_in_executor(None, lambda: OrderedLog.open(directory, self._log_options()))
        stack = stack_for(self.configuration, self.me, log.recovered, clock.now().monotonic_us)
        self.driver = Driver(stack, clock, self._make_links(clock), log, self)
        self.gateway = Gateway(self, log, SiteAdministration(self, self.on_leave), final=log.recovered.final)
        self._historian = Historian(log, self.driver.handle, lambda reason: self.journal.warn("history", reason=reason))
        log.on_durable(lambda number: _hop(loop, self.driver.on_durable, number))
        log.on_state(lambda state, reason: _hop(loop, self._on_log_state, state, reason))
        self.driver.on_durable(log.durable)
        if self.configuration.trace:
            self._trace_from_start()
        self.journal.write("started", incarnation=self.incarnation, final=log.recovered.final)
        self.driver.handle(Started())
        if self.links is not None:
            await self.links.listen()
            self.links.call_others()
            await self._let_participants_in()
            table = self.configuration.tables.site[self.me]
            if table.metrics is not None:
                self.metrics.serve(*host_and_port(table.metrics, f"site[{self.me}].metrics"))
        elif self._network is not None:
            self._network.attach(self.me, self.driver)

    async def _let_participants_in(self) -> None:
        path = self.configuration.socket(self.name)
        self._door = Door(self.gateway, path, lambda who, reason: self.journal.warn(who, reason=reason))
        await self._door.open()

    def _make_links(self, clock: Clock) -> SiteLinks | MemoryLinks:
        if self._network is not None:
            return MemoryLinks(self.me, self._network)
        cluster = self.configuration
        self.links = links = SiteLinks(
            self.me,
            self.cluster,
            cluster.addresses,
            self.incarnation,
            clock,
            lambda event: self.driver.handle(event),
            security=self._security,
            warn=lambda peer, reason: self.journal.warn("link", peer=peer, reason=reason),
        )
        for other in cluster.sites:
            table = cluster.emulated(self.name, cluster.names[other])
            if other != self.me and table is not None:
                way = Way(round(table.delay_ms * 1000), round(table.jitter_ms * 1000), table.loss)
                links.emulated.set_way(other, way)
        return links

    def _log_options(self) -> LogOptions:
        table = self.configuration.log
        gib, hours = table.retention_gib, table.retention_hours
        return LogOptions(
            fsync=table.fsync,
            interval_ms=table.interval_ms,
            segment_positions=table.segment_positions,
            retention_bytes=None if gib is None else round(gib * GIB),
            retention_s=None if hours is None else hours * 3600,
        )

    async def drain(self, patience_s: float) -> None:
        """Take no more multicasts, and wait until those that were taken are delivered, but not for ever."""
        loop = asyncio.get_running_loop()
        until_s = loop.time() + patience_s
        self.gateway.pressure.on_end()
        while self.gateway.pressure.outstanding_bytes and loop.time() < until_s:
            await asyncio.sleep(0.02)

    async def leave(self) -> None:
        """Ask the others to go on without this site, and wait until they do, but not for ever."""
        if self.view is None or len(self.view.members) == 1:
            return
        self.leaving = True
        self.driver.handle(FromAbove(Leave()))
        try:
            async with asyncio.timeout(LEAVE_S):
                await self.left.wait()
        except TimeoutError:
            self.journal.warn("leave", reason=f"the others have not let this site go within {LEAVE_S:g} s")

    async def stop(self) -> None:
        """End this life; what is on disk is where the next one begins."""
        if self._door is not None:
            await self._door.close("the site ends")
        else:
            self.gateway.close("the site ends")
        self.metrics.stop()
        self.driver.stop()
        await self._historian.close()
        if self._network is not None:
            self._network.detach(self.me)
        if self.links is not None:
            await self.links.close()
        self._trace_to_end()
        await asyncio.get_running_loop().run_in_executor(None, self.log.close)
        self.journal.write("stopped", incarnation=self.incarnation)

    async def reload(self, cluster: Cluster) -> None:
        """The cluster file or the certificates have changed: addresses and certificates count from here on."""
        self.configuration = cluster
        if self._security is not None:
            self._security.reload()
        if self.links is not None:
            await self.links.move(cluster.addresses)
            if self._security is not None:
                await self.links.renew()
        self.journal.write("reloaded", sites=len(cluster.names))

    def handle(self, event: Event) -> None:
        """Let the stack handle an event."""
        self.driver.handle(event)

    def has_room(self, author: Author) -> bool:
        """Whether a session has not left out too many numbers to multicast this."""
        return layer_of(self.stack, SiteGroup).log.sessions.authors.has_room(author)

    # --- what the stack says ---

    def delivered(self, sender: SiteId, message: Any) -> None:
        match message:
            case Entered(view=view):
                self._on_view(view)
            case GroupBlocked():
                self.blocked = True
                self.journal.warn("blocked", reason="too few members of the last view can be reached")
            case HistoryWanted():
                self._historian.answer(message)
            case GroupLeft():
                self.left.set()
            case Diverged(position=position, site=site):
                self.alarms += 1
                self.journal.alarm("diverged", position=position, site=self.names[site])
        if self._trace is not None and self._recorder is not None:
            self._trace_delivery(self._recorder, message)
        self.gateway.delivered(sender, message)

    def _on_view(self, view: View) -> None:
        self.view, self.blocked = view, False
        self.journal.write("view", view=view.id, members=[self.names[member] for member in view.members])

    def noted(self, note: Note) -> None:
        if note.kind == "bad-bytes":
            self.bad_messages += 1
            self.journal.warn("bad-bytes", reason="a frame held something that is no message")
        elif note.kind == "role":
            self.journal.write("role", detail=note.detail)
        if self._trace is not None and self._recorder is not None:
            self._recorder.on_note(self._clock.now().wall_us, note)

    def _on_log_state(self, state: LogState, reason: str) -> None:
        self.journal.alarm("log", state=str(state), reason=reason)
        self.gateway.on_log(state is LogState.ACCEPTING)

    # --- trace ---

    def set_tracing(self, on: bool) -> None:
        """Begin to write a trace in the midst of this life, or leave off."""
        if on and self._trace is None:
            self._open_trace().on_resume(self._clock.now().wall_us)
        elif not on:
            self._close_trace()

    def _trace_from_start(self) -> None:
        recorder = self._open_trace()
        if self.log.final:
            recorder.on_recover(self._clock.now().wall_us, self.log.final)

    def _trace_to_end(self) -> None:
        if self._trace is not None and self._recorder is not None:
            self._recorder.on_end(self._clock.now().wall_us, self.stack.waiting_for() is None)
            self._close_trace()

    def _open_trace(self) -> Recorder:
        """The recorder counts on where it has left off in this life."""
        directory, resilience = self.configuration.traces(self.name), self.configuration.group.resilience
        self._trace = TraceFiles(
            directory, self.name, self.incarnation, lambda reason: self.journal.warn("trace", reason=reason)
        )
        if self._recorder is None:
            self._recorder = Recorder(self.cluster, self.me, self.incarnation, self._trace, resilience)
        self._recorder.sink = self._trace
        return self._recorder

    def _close_trace(self) -> None:
        if self._trace is not None:
            self._trace.close()
            self._trace = None

    def _trace_delivery(self, recorder: Recorder, message: Any) -> None:
        at_us = self._clock.now().wall_us
        if isinstance(message, Taken):
            recorder.on_multicast(at_us, message.bundle)
        else:
            recorder.on_group(at_us, message)


def _hop(loop: asyncio.AbstractEventLoop, callback: Any, *arguments: Any) -> None:
    """Call back in the loop's thread, if there still is one."""
    if not loop.is_closed():
        loop.call_soon_threadsafe(callback, *arguments)
