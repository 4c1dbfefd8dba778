"""Run a case: check the promises at every event, and demand that the core converges."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from ordercast.core.deliveries import (
    Delivered,
    Delivery,
    Entered,
    GroupBlocked,
    Retracted,
    RoleChanged,
    Snapshot,
)
from ordercast.core.ids import SiteId
from ordercast.core.messages import Level
from ordercast.simulator.chooser import Chooser
from ordercast.simulator.observer import Observer
from ordercast.simulator.scenario import Fault, from_table
from ordercast.simulator.simulation import Simulation
from ordercast.verify.fuzz import aim, people
from ordercast.verify.fuzz.draw import Case, Draw
from ordercast.verify.fuzz.phases import group_sites, layers_of, phase_of
from ordercast.verify.fuzz.switches import SwitchCounter
from ordercast.verify.group.checker import GroupChecker

TRAFFIC_EVENTS_MAX = 8_000
"""Traffic ends early when a run has had so many events: a seed is to have 20,000 at most, as a rule, and a group goes
on to have some until it has converged."""

LOOK_US = 50_000
"""How often to look."""

Plant = Callable[[Simulation], None]
"""Puts a bug into a simulation before it runs, for tests of the checks."""


class Outcome(Struct):
    """What came of a case."""

    failure: str | None
    blocked: bool
    """Whether the last primary view had no quorum in the core, so that nobody could be expected to go on."""
    protocol: str
    sites: int
    simulated_s: float
    events: int
    views: int
    told: dict[str, int]
    """How often participants were told what does not happen in every run."""
    faults: dict[str, int]
    met: dict[str, int]
    """For each "phase / fault" how often a fault of the kind began in that phase of a view's life."""
    switches: dict[str, int]
    """Changes of role and sequencer by kind."""
    switches_met: dict[str, int]
    """For each "kind / what it met" how often."""


class _Watch(Observer):
    """Counts views, what participants are told, and what the system was doing when a fault began."""

    def __init__(self) -> None:
        self.simulation: Simulation
        self.views = 0
        self.told: dict[str, int] = {}
        self.faults: dict[str, int] = {}
        self.met: dict[str, int] = {}

    def on_group(self, at_us: int, site: SiteId, event: Delivery) -> None:
        match event:
            case Entered():
                self.views += 1
            case Delivered(bundle=bundle) if bundle.level == Level.SAFE:
                self._count(f"safe delivery, F = {self.simulation.scenario.protocol.resilience}")
            case Retracted():
                self._count("retracted")
            case Snapshot():
                self._count("begun with a snapshot")
            case GroupBlocked():
                self._count("blocked")
            case RoleChanged():
                self._count("role changed")

    def _count(self, what: str) -> None:
        self.told[what] = self.told.get(what, 0) + 1

    def on_fault(self, at_us: int, fault: Fault) -> None:
        self.faults[fault.kind] = self.faults.get(fault.kind, 0) + 1
        for phase in dict.fromkeys(phase_of(site) for site in group_sites(self.simulation)):
            key = f"{phase} / {fault.kind}"
            self.met[key] = self.met.get(key, 0) + 1


def run_case(chooser: Chooser, protocol: str | None = None, plant: Plant | None = None) -> Outcome:
    """Draw a case and run it; `failure` says what is wrong, beginning with the property's name and a colon."""
    case = Draw(chooser, protocol).case()
    scenario = from_table(case.table)
    names = tuple(scenario.site_names())
    checker, watch, switches = GroupChecker(names, scenario.protocol.resilience), _Watch(), SwitchCounter()
    simulation = watch.simulation = Simulation(
        scenario,
        [checker, watch, switches],
        chooser=case.chooser(),
        retained_positions=case.retained_positions,
        hosts_keep_history=case.hosts_keep_history,
    )
    simulation.core = tuple(SiteId(site) for site in case.core)
    for each in case.waiting:
        aim.schedule(each, simulation)
    for person in case.people:
        people.schedule(person, simulation)
    _look_after(simulation, checker)
    if plant is not None:
        plant(simulation)
    failure = _run(simulation, checker, case)
    return Outcome(
        failure,
        is_rightly_blocked(simulation),
        scenario.protocol.name,
        len(names),
        simulation.now_us / 1e6,
        simulation.events,
        watch.views,
        watch.told,
        watch.faults,
        watch.met,
        switches.switches,
        switches.met,
    )


def _look_after(simulation: Simulation, checker: GroupChecker) -> None:
    """End the traffic when there have been events enough; and the run, when something is wrong."""

    def look(_: None) -> None:
        if checker.violations:
            simulation.agenda.clear()
            return
        if simulation.events >= TRAFFIC_EVENTS_MAX:
            simulation.end_traffic(None)
        simulation.schedule(simulation.now_us + LOOK_US, look, None)

    look(None)


def _run(simulation: Simulation, checker: GroupChecker, case: Case) -> str | None:
    try:
        simulation.run()
    except AssertionError as error:
        return f"assertion: {error}"
    if checker.violations:
        return checker.violations[0]
    failure = _convergence(simulation, case)
    if failure is None and not is_rightly_blocked(simulation):
        failure = checker.missing(simulation.core, simulation.lives()) or _left_out(simulation)
    return failure


def _left_out(simulation: Simulation) -> str | None:
    """After convergence whoever is connected to a site of the core is in all the groups that it wants to be in."""
    for site in group_sites(simulation):
        if site.crashed or site.id not in simulation.core:
            continue
        for session, groups in site.participants.wanted.items():
            for group in groups:
                if not site.participants.told.has(group, session):
                    name = simulation.topology.names[site.id]
                    return f"participants: session {session} is connected to {name}, and is no member of {group}"
    return None


def is_rightly_blocked(simulation: Simulation) -> bool:
    """Whether the last primary view that the core knows of cannot go on with the core alone.

    Views shrink as members fail one after the other; when the last of them are outside the core and stay away,
    nobody else may go on, or what they had made final would be lost.
    """
    core = [site for site in group_sites(simulation) if site.id in simulation.core and not site.crashed]
    newest = max((layers_of(site)[1].view for site in core), key=lambda view: int(view.id))
    if not newest.is_quorum(tuple(site.id for site in core)):
        return True
    return not any(layers_of(site)[1].acceptor.aligned for site in core if layers_of(site)[1].view == newest)


def _convergence(simulation: Simulation, case: Case) -> str | None:
    """One view, one order, nothing kept: or who waits for what."""
    if simulation.settled() or is_rightly_blocked(simulation):
        return None
    names = simulation.topology.names
    for site in group_sites(simulation):
        if site.id in case.core and not site.crashed:
            waiting = site.layer.waiting_for()
            if waiting is not None:
                return f"convergence: {names[site.id]} waits for {waiting.what} {names[waiting.site]}"
    return "convergence: the core does not agree on a view or an order, or keeps messages"
