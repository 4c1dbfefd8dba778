"""One run of one scenario: the main loop over an agenda in virtual time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from typing import Any

from msgspec import UNSET

from ordercast.core.effects import Note
from ordercast.core.events import Flush, Now, ViewInstalled
from ordercast.core.ids import ORIGIN_SHIFT, SiteId, ViewId
from ordercast.core.layer import Layer
from ordercast.core.messages import Bundle
from ordercast.core.stack import stacked
from ordercast.core.views import View
from ordercast.planning.network import KnownNetwork
from ordercast.protocols.links.fifo import Fifo
from ordercast.protocols.ordering.catalogue import PROTOCOLS, SITES
from ordercast.protocols.ordering.setup import Setup
from ordercast.simulator import faults
from ordercast.simulator.chooser import Chooser, SeededChooser
from ordercast.simulator.load import known_network
from ordercast.simulator.network import Agenda, Handler, Network
from ordercast.simulator.observer import Observer
from ordercast.simulator.scenario import Scenario
from ordercast.simulator.site import SimulatedSite
from ordercast.simulator.sources import ClosedLoop, OpenLoop

BuildLayer = Callable[[Setup], Layer]


class Simulation:
    """Everything there is in a run. `run()` once, then read what the observers saw."""

    def __init__(
        self,
        scenario: Scenario,
        observers: Sequence[Observer] = (),
        *,
        chooser: Chooser | None = None,
        build: BuildLayer | None = None,
    ) -> None:
        """`build` replaces the scenario's protocol, so that tests can plant bugs."""
        self.scenario = scenario
        self.topology = scenario.topology()
        self.now_us = 0
        self.now = Now(0, 0, 0)
        self.events = 0
        """Events of the host: arrivals, multicasts, timers."""
        self.multicasts = 0
        self.transmissions = 0
        """Copies sent, one per recipient."""
        self.agenda: Agenda = []
        self.sites = [SimulatedSite(site, self) for site in self.topology.sites]
        self._chooser = chooser or SeededChooser(scenario.seed)
        self.network = Network(self.topology, [site.handle for site in self.sites], self._chooser, self.agenda)
        self.observers = tuple(observers)
        self._closed_loops: dict[SiteId, list[ClosedLoop]] = {}
        self.traffic_ended = False
        self._build = build or PROTOCOLS[scenario.protocol.name].build
        self._start()

    def _start(self) -> None:
        known = known_network(self.scenario, self.topology)
        for site in self.sites:
            site.layer = self._stack(site.id, known)
        for fault in self.scenario.fault:
            self.network.faulty = True
            faults.schedule(fault, self)
        view = View(ViewId(1), self.topology.sites)
        for site in self.sites:
            site.handle(ViewInstalled(view))
        self._schedule_traffic()
        self.schedule(round(self.scenario.duration_s * 1e6), self._end_traffic, None)

    def _stack(self, me: SiteId, known: KnownNetwork) -> Layer:
        choice = self.scenario.protocol
        kinds = PROTOCOLS[choice.name].options
        options = {
            key: tuple(map(self.topology.site, value)) if kinds[key] == SITES else self.topology.site(value)
            for key, value in choice.options.items()
        }
        members = self.topology.sites
        setup = Setup(me, members, known, choice.tickets == "flush", choice.estimates == "online", options)
        ordering = self._build(setup)
        disorderly = any(fault.kind in ("duplicate", "reorder") for fault in self.scenario.fault)
        return stacked((ordering, Fifo(me, members))) if disorderly else ordering

    # --- traffic ---

    def _schedule_traffic(self) -> None:
        end_us = round(self.scenario.duration_s * 1e6)
        for traffic in self.scenario.traffic:
            for name in traffic.sites:
                site = self.sites[self.topology.site(name)]
                if traffic.closed_loop is not UNSET:
                    loop = ClosedLoop(traffic, traffic.closed_loop, end_us)
                    self._closed_loops.setdefault(site.id, []).append(loop)
                    self.schedule(loop.from_us, self._start_loop, (site, loop))
                elif traffic.rate:
                    source = OpenLoop(traffic, traffic.rate, end_us, self._chooser)
                    self._schedule_next(source.first_us(), site, source)

    def _schedule_next(self, at_us: int | None, site: SimulatedSite, source: OpenLoop) -> None:
        if at_us is not None:
            self.schedule(at_us, self._fire, (site, source))

    def _fire(self, due: tuple[SimulatedSite, OpenLoop]) -> None:
        site, source = due
        site.participant_multicasts(source.body)
        self._schedule_next(source.next_us(), site, source)

    def _start_loop(self, start: tuple[SimulatedSite, ClosedLoop]) -> None:
        site, loop = start
        for _ in range(loop.outstanding):
            site.participant_multicasts(loop.body)

    def _end_traffic(self, _: None) -> None:
        self.traffic_ended = True
        for observer in self.observers:
            observer.on_traffic_end(self.now_us)
        for site in self.sites:
            site.handle(Flush())

    # --- the main loop ---

    def schedule(self, at_us: int, handler: Handler, argument: Any) -> None:
        """Call `handler(argument)` at that time."""
        heappush(self.agenda, (at_us, self.network.next_sequence(), handler, argument))

    def run(self) -> None:
        """Handle one entry of the agenda after the other, until traffic and drain are over."""
        agenda = self.agenda
        while agenda:
            at_us, _, handler, argument = heappop(agenda)
            if at_us != self.now_us:
                self.now_us = at_us
                self.now = Now(at_us, at_us, 0)
            handler(argument)
        for observer in self.observers:
            observer.on_end(self.now_us)

    # --- faults ---

    def crash(self, sites: list[SiteId]) -> None:
        """These sites stop for ever."""
        for site in sites:
            self.sites[site].crashed = True
            for observer in self.observers:
                observer.on_crash(self.now_us, site)

    def pause(self, sites: list[SiteId], for_us: int) -> None:
        """These sites do nothing for a while; what reaches them waits."""
        for site in sites:
            self.sites[site].paused = True
            self.schedule(self.now_us + for_us, self.sites[site].resume, None)

    # --- what sites tell ---

    def observe_view(self, site: SiteId, view: View) -> None:
        for observer in self.observers:
            observer.on_view(self.now_us, site, view)

    def observe_multicast(self, site: SiteId, bundle: Bundle) -> None:
        for observer in self.observers:
            observer.on_multicast(self.now_us, site, bundle)

    def observe_delivery(self, site: SiteId, bundle: Bundle) -> None:
        for observer in self.observers:
            observer.on_deliver(self.now_us, site, bundle)
        if self._closed_loops and bundle.id >> ORIGIN_SHIFT == site:
            for loop in self._closed_loops.get(site, ()):
                if loop.goes_on(self.now_us):
                    self.schedule(self.now_us, self.sites[site].participant_multicasts, loop.body)

    def observe_note(self, site: SiteId, note: Note) -> None:
        for observer in self.observers:
            observer.on_note(self.now_us, site, note)
