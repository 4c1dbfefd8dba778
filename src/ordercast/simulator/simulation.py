"""One run of one scenario: the main loop over an agenda in virtual time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from typing import Any

from msgspec import UNSET

from ordercast.core.deliveries import Delivery
from ordercast.core.effects import Note
from ordercast.core.events import Flush, FromAbove, Now, ViewInstalled
from ordercast.core.ids import ORIGIN_SHIFT, SiteId, ViewId
from ordercast.core.layer import Layer
from ordercast.core.messages import Bundle, Level
from ordercast.core.plans import ChangeOrdering
from ordercast.core.stack import stacked
from ordercast.core.views import View
from ordercast.protocols.groups.log import RETAINED_POSITIONS
from ordercast.protocols.links.fifo import Fifo
from ordercast.protocols.ordering.catalogue import PROTOCOLS
from ordercast.protocols.ordering.options import with_ids
from ordercast.protocols.ordering.setup import Configured, Setup
from ordercast.simulator import faults
from ordercast.simulator.chooser import Chooser, SeededChooser
from ordercast.simulator.group_site import GroupSite
from ordercast.simulator.load import known_network
from ordercast.simulator.network import Agenda, Handler, Network
from ordercast.simulator.observer import Observer, overrides
from ordercast.simulator.scenario import Change, Fault, Scenario
from ordercast.simulator.site import SimulatedSite
from ordercast.simulator.sources import ClosedLoop, OpenLoop

BuildLayer = Callable[[Setup], Layer]

BREAKS_CHANNELS = ("loss", "partition", "duplicate", "reorder")
"""Faults by which channels are no longer FIFO: what arrives then has gaps, or comes again, or in another order."""

DRAIN_LIMIT_US = 120_000_000
"""So long a live group may take to settle after the traffic has ended."""

DRAIN_STEP_US = 100_000


class Simulation:
    """Everything there is in a run. `run()` once, then read what the observers saw."""

    def __init__(
        self,
        scenario: Scenario,
        observers: Sequence[Observer] = (),
        *,
        chooser: Chooser | None = None,
        build: BuildLayer | None = None,
        retained_positions: int = RETAINED_POSITIONS,
        hosts_keep_history: bool = False,
    ) -> None:
        """`build` replaces the scenario's protocol, so that tests can plant bugs.

        A live group keeps `retained_positions` of its final order for members that come back; older entries its hosts
        give from their logs, or not.
        """
        self.hosts_keep_history = hosts_keep_history
        self.scenario = scenario
        self.topology = scenario.topology()
        self._duration_us = round(scenario.duration_s * 1e6)
        self.now_us = 0
        self.now = Now(0, 0, 0)
        self.events = 0
        """Events of the host: arrivals, multicasts, timers."""
        self.multicasts = 0
        self.transmissions = 0
        """Copies sent, one per recipient."""
        self.agenda: Agenda = []
        self.is_group = scenario.is_group
        """Whether the sites run the full stack, with links and membership."""
        kind = GroupSite if self.is_group else SimulatedSite
        self.sites: list[SimulatedSite] = [kind(site, self) for site in self.topology.sites]
        self._known = known_network(scenario, self.topology)
        self._chooser = chooser or SeededChooser(scenario.seed)
        self.network = Network(self.topology, [site.handle for site in self.sites], self._chooser, self.agenda)
        self.observers = tuple(observers)
        self._deliver_to = tuple(each.on_deliver for each in observers if overrides(each, "on_deliver"))
        self._note_to = tuple(each.on_note for each in observers if overrides(each, "on_note"))
        self.delivered_us = [0] * len(self.sites)
        """When each site last delivered something."""
        self._closed_loops: dict[SiteId, list[ClosedLoop]] = {}
        self.traffic_ended = False
        self.core = self.topology.sites
        """The sites of a live group whose agreement ends the drain."""
        self._build = build or PROTOCOLS[scenario.protocol.name].build
        self._retained_positions = retained_positions
        for observer in self.observers:
            observer.on_start(self)
        self._start()

    def _start(self) -> None:
        for fault in self.scenario.fault:
            self.network.faulty = True
            faults.schedule(fault, self)
        if self.is_group:
            for member in self._group_sites(self.topology.sites):
                self._boot(member)
        else:
            self._start_ideal()
        self._schedule_traffic()
        for change in self.scenario.change:
            self.schedule(round(change.at_s * 1e6), self._change_ordering, change)
        self.schedule(self._duration_us, self.end_traffic, None)

    def _start_ideal(self) -> None:
        """All sites are in the one view from the beginning."""
        disorderly = any(fault.kind in BREAKS_CHANNELS for fault in self.scenario.fault)
        members = self.topology.sites
        for site in self.sites:
            ordering = self._build(self._setup(site.id))
            site.layer = stacked((ordering, Fifo(site.id, members))) if disorderly else ordering
        for site in self.sites:
            site.handle(ViewInstalled(View(ViewId(1), members)))

    def _boot(self, site: GroupSite) -> None:
        resilience = self.scenario.protocol.resilience
        configured = Configured(self.scenario.protocol.name, self._setup(site.id))
        site.boot(self._build(configured.setup), configured, resilience, self._retained_positions)

    def _group_sites(self, sites: Sequence[SiteId]) -> list[GroupSite]:
        return [site for site in self.sites if site.id in sites and isinstance(site, GroupSite)]

    def _setup(self, me: SiteId) -> Setup:
        choice = self.scenario.protocol
        options = with_ids(choice.name, choice.options, self.topology.names)
        online = choice.estimates == "online"
        return Setup(me, self.topology.sites, self._known, choice.tickets == "flush", online, options)

    def _change_ordering(self, change: Change) -> None:
        """Any site can ask for it: the first that can."""
        options = with_ids(change.protocol, change.options, self.topology.names)
        for site in self._group_sites(self.core):
            if not (site.crashed or site.paused):
                site.handle(FromAbove(ChangeOrdering(change.protocol, options)))
                return

    # --- traffic ---

    def _schedule_traffic(self) -> None:
        end_us = self._duration_us
        for traffic in self.scenario.traffic:
            level = Level[(traffic.level or self.scenario.protocol.level).upper()]
            for name in traffic.sites:
                site = self.sites[self.topology.site(name)]
                if traffic.closed_loop is not UNSET:
                    loop = ClosedLoop(traffic, traffic.closed_loop, end_us)
                    loop.level = level
                    self._closed_loops.setdefault(site.id, []).append(loop)
                    self.schedule(loop.from_us, self._start_loop, (site, loop))
                elif traffic.rate:
                    source = OpenLoop(traffic, traffic.rate, end_us, self._chooser)
                    source.level = level
                    self._schedule_next(source.first_us(), site, source)

    def _schedule_next(self, at_us: int | None, site: SimulatedSite, source: OpenLoop) -> None:
        if at_us is not None:
            self.schedule(at_us, self._fire, (site, source))

    def _fire(self, due: tuple[SimulatedSite, OpenLoop]) -> None:
        site, source = due
        if self.traffic_ended:
            return
        site.participant_multicasts(source.body, source.level)
        self._schedule_next(source.next_us(), site, source)

    def _start_loop(self, start: tuple[SimulatedSite, ClosedLoop]) -> None:
        for _ in range(start[1].outstanding):
            self._go_round(start)

    def _go_round(self, due: tuple[SimulatedSite, ClosedLoop]) -> None:
        site, loop = due
        if self.traffic_ended:
            return
        loop.multicasts(site.next_message, self.now_us)
        site.participant_multicasts(loop.body, loop.level)

    def end_traffic(self, _: None) -> None:
        """From here on nobody multicasts anything; what is under way is delivered."""
        if self.traffic_ended:
            return
        self.traffic_ended = True
        for observer in self.observers:
            observer.on_traffic_end(self.now_us)
        for site in self.sites:
            site.handle(Flush())
        if self.is_group:
            self._drain_until_us = max(self.now_us, self._duration_us) + DRAIN_LIMIT_US
            self.schedule(self.now_us, self._drain, None)

    def _drain(self, _: None) -> None:
        """A live group never falls silent: the run ends when nobody waits for anything, or when the time is up."""
        if (self.settled() and self.now_us >= self._duration_us) or self.now_us >= self._drain_until_us:
            self.agenda.clear()
        else:
            self.schedule(self.now_us + DRAIN_STEP_US, self._drain, None)

    def settled(self) -> bool:
        """Whether the sites of the core that are up have one view and one order, and wait for and keep nothing."""
        up = [site for site in self._group_sites(self.core) if not site.crashed]
        return len(dict.fromkeys(site.standing() for site in up)) <= 1 and all(site.is_idle() for site in up)

    def lives(self) -> dict[SiteId, int]:
        """The present life of each site of a group that is up."""
        return {site.id: site.incarnation for site in self._group_sites(self.core) if not site.crashed}

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
        """These sites stop, for ever unless they `recover`."""
        for site in sites:
            self.sites[site].crash()
            for observer in self.observers:
                observer.on_crash(self.now_us, site)

    def recover(self, sites: list[SiteId]) -> None:
        """These sites come up again, each as a new life."""
        for site in self._group_sites(sites):
            if site.crashed:
                site.revive()
                for observer in self.observers:
                    observer.on_recover(self.now_us, site.id, site.incarnation)
                self._boot(site)
                if self.traffic_ended:
                    site.handle(Flush())  # which the others have heard before

    def step_clocks(self, sites: list[SiteId], by_us: int) -> None:
        """The wall clocks of these sites jump."""
        for site in self._group_sites(sites):
            site.step_clock(by_us)

    def set_drift(self, sites: list[SiteId], ppm: int) -> None:
        """The clocks of these sites run fast by so many parts in a million."""
        for site in self._group_sites(sites):
            site.set_drift(ppm)

    def pause(self, sites: list[SiteId], for_us: int) -> None:
        """These sites, if they are up, do nothing for a while; what reaches them waits."""
        for paused in (self.sites[site] for site in sites):
            if not paused.crashed:
                paused.paused += 1
                self.schedule(self.now_us + for_us, paused.resume, paused.incarnation)

    # --- what sites tell ---

    def observe_view(self, site: SiteId, view: View) -> None:
        for observer in self.observers:
            observer.on_view(self.now_us, site, view)

    def observe_multicast(self, site: SiteId, bundle: Bundle) -> None:
        for observer in self.observers:
            observer.on_multicast(self.now_us, site, bundle)

    def observe_delivery(self, site: SiteId, bundle: Bundle) -> None:
        self.delivered_us[site] = self.now_us
        for on_deliver in self._deliver_to:
            on_deliver(self.now_us, site, bundle)
        if self._closed_loops and bundle.id >> ORIGIN_SHIFT == site:
            for loop in self._closed_loops.get(site, ()):
                if (at_us := loop.answers_us(bundle.id, self.now_us)) is not None:
                    self.schedule(at_us, self._go_round, (self.sites[site], loop))

    def observe_group(self, site: SiteId, event: Delivery) -> None:
        for observer in self.observers:
            observer.on_group(self.now_us, site, event)

    def observe_fault(self, fault: Fault) -> None:
        for observer in self.observers:
            observer.on_fault(self.now_us, fault)

    def observe_note(self, site: SiteId, note: Note) -> None:
        for on_note in self._note_to:
            on_note(self.now_us, site, note)
