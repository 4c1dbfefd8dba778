"""Run a scenario and judge it: what `ordercast simulate` prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from ordercast.planning.topology import Topology
from ordercast.simulator.chooser import Chooser
from ordercast.simulator.load import mean_rates
from ordercast.simulator.observer import Observer
from ordercast.simulator.scenario import Scenario
from ordercast.simulator.simulation import BuildLayer, Simulation
from ordercast.simulator.statistics import LatencyStatistics, LatencySummaries, Summary
from ordercast.verify.online import OrderChecker


class Latency(Struct, frozen=True):
    """Latencies in milliseconds, over all messages and by sender."""

    last: Summary | None
    mean_recipient: Summary | None
    sender: Summary | None
    per_site: dict[str, LatencySummaries]


class Overhead(Struct, frozen=True):
    """What was sent beyond the messages themselves, per message."""

    transmissions: float
    multicasts: float


class LimitMs(Struct, frozen=True):
    """The least mean latency that any protocol can guarantee on this network (planning.limits)."""

    last: float | None
    mean_recipient: float | None


class Stalled(Struct, frozen=True):
    """Who cannot go on, since when, and why."""

    at_s: float
    site: str
    waiting_for: str


class RunResult(Struct, frozen=True, kw_only=True):
    """The figures and the verdict of one run. A metric that does not apply is None."""

    protocol: str
    seed: int
    messages: int
    events: int
    latency_ms: Latency
    stability_ms: Summary | None = None
    buffer_messages: Summary | None = None
    index_of_latency: Summary | None = None
    overhead_per_multicast: Overhead | None
    limit_ms: LimitMs
    violations: list[str]
    stalled: Stalled | None

    @property
    def good(self) -> bool:
        """Whether nothing was violated and nothing stalled."""
        return not self.violations and self.stalled is None


class _Overheads(Observer):
    """Counts what is sent while there is traffic; the drain's flushing does not count."""

    def __init__(self) -> None:
        self.simulation: Simulation
        self.counted: tuple[int, int] = (0, 0)

    def on_traffic_end(self, at_us: int) -> None:
        self.counted = (self.simulation.transmissions, self.simulation.multicasts)


class _Progress(Observer):
    """When each site last delivered something."""

    def __init__(self, sites: int) -> None:
        self.newest_us = [0] * sites

    def on_deliver(self, at_us: int, site: int, bundle: Any) -> None:
        self.newest_us[site] = at_us


def run(
    scenario: Scenario,
    *,
    chooser: Chooser | None = None,
    build: BuildLayer | None = None,
    observers: Sequence[Observer] = (),
    with_limit: bool = True,
) -> RunResult:
    """Run a scenario to its end under all checks."""
    topology = scenario.topology()
    statistics = LatencyStatistics(len(topology.names), round(scenario.warmup_s * 1e6))
    checker = OrderChecker(topology.names)
    overheads, progress = _Overheads(), _Progress(len(topology.names))
    watching = (statistics, checker, overheads, progress, *observers)
    simulation = overheads.simulation = Simulation(scenario, watching, chooser=chooser, build=build)
    simulation.run()
    stalled = _stalled(simulation, checker, progress)
    return RunResult(
        protocol=scenario.protocol.name,
        seed=scenario.seed,
        messages=statistics.messages,
        events=simulation.events,
        latency_ms=_latency(statistics, topology),
        overhead_per_multicast=_overhead(overheads, statistics.messages, len(topology.names)),
        limit_ms=_limit(scenario, topology) if with_limit else LimitMs(None, None),
        violations=[each for each in checker.violations if stalled is None or not each.startswith("validity")],
        stalled=stalled,
    )


def _latency(statistics: LatencyStatistics, topology: Topology) -> Latency:
    total = statistics.total()
    per_site = {topology.names[site]: summaries for site, summaries in statistics.per_site().items()}
    return Latency(total.last, total.mean_recipient, total.sender, per_site)


def _overhead(overheads: _Overheads, messages: int, sites: int) -> Overhead | None:
    if not messages:
        return None
    transmissions, multicasts = overheads.counted
    return Overhead(
        round((transmissions - messages * (sites - 1)) / messages, 4), round((multicasts - messages) / messages, 4)
    )


def _limit(scenario: Scenario, topology: Topology) -> LimitMs:
    from ordercast.planning.limits import latency_limit

    limit = latency_limit(topology.mean_us, mean_rates(scenario, topology))
    rounded = [None if value is None else round(value / 1000, 3) for value in (limit.last, limit.mean_recipient)]
    return LimitMs(*rounded)


def _stalled(simulation: Simulation, checker: OrderChecker, progress: _Progress) -> Stalled | None:
    """The first site that is up and still holds something, or has missed something, when nothing happens any more."""
    names = simulation.topology.names
    longest = max(checker.delivered)
    for site in simulation.sites:
        if site.crashed:
            continue
        waiting = site.layer.waiting_for()
        if waiting is not None:
            reason = f"{waiting.what} {names[waiting.site]}"
        elif checker.delivered[site.id] < longest:
            reason = f"entry {checker.delivered[site.id]} of the total order, of which nothing arrived"
        else:
            continue
        return Stalled(round(progress.newest_us[site.id] / 1e6, 6), names[site.id], reason)
    return None
