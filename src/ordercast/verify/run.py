"""Run a scenario and judge it: what `ordercast simulate` prints."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ordercast.planning.topology import Topology
from ordercast.simulator.chooser import Chooser
from ordercast.simulator.load import mean_rates
from ordercast.simulator.observer import Observer
from ordercast.simulator.scenario import Scenario
from ordercast.simulator.simulation import BuildLayer, Simulation
from ordercast.simulator.statistics import LatencyStatistics, LatencySummaries, Summary
from ordercast.verify.verdict import Stalled, judge_of


class Latency(Struct, frozen=True):
    """Latencies in milliseconds, over all messages and by sender."""

    last: Summary | None
    mean_recipient: Summary | None
    sender: Summary | None
    per_site: dict[str, LatencySummaries]


class Overhead(Struct, frozen=True):
    """What was sent beyond the messages themselves, per message."""

    transmissions: float
    multicasts: float | None
    """None on the full stack, which knows only links."""


class LimitMs(Struct, frozen=True):
    """The least mean latency that any protocol can guarantee on this network (planning.limits)."""

    last: float | None
    mean_recipient: float | None


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
        self.counted: tuple[int, int] = (0, 0)

    def on_start(self, simulation: Simulation) -> None:
        self._simulation = simulation

    def on_traffic_end(self, at_us: int) -> None:
        self.counted = (self._simulation.transmissions, self._simulation.multicasts)


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
    judge, overheads = judge_of(scenario, topology.names), _Overheads()
    watching = (statistics, judge.observer, overheads, *observers)
    simulation = Simulation(scenario, watching, chooser=chooser, build=build)
    simulation.run()
    violations, stalled = judge.verdict(simulation)
    return RunResult(
        protocol=scenario.protocol.name,
        seed=scenario.seed,
        messages=statistics.messages,
        events=simulation.events,
        latency_ms=_latency(statistics, topology),
        overhead_per_multicast=_overhead(overheads, statistics.messages, topology, scenario.is_group),
        limit_ms=_limit(scenario, topology) if with_limit else LimitMs(None, None),
        violations=violations,
        stalled=stalled,
    )


def _latency(statistics: LatencyStatistics, topology: Topology) -> Latency:
    total = statistics.total()
    per_site = {topology.names[site]: summaries for site, summaries in statistics.per_site().items()}
    return Latency(total.last, total.mean_recipient, total.sender, per_site)


def _overhead(overheads: _Overheads, messages: int, topology: Topology, is_group: bool) -> Overhead | None:
    if not messages:
        return None
    transmissions, multicasts = overheads.counted
    beyond = (transmissions - messages * (len(topology.names) - 1)) / messages
    return Overhead(round(beyond, 4), None if is_group else round((multicasts - messages) / messages, 4))


def _limit(scenario: Scenario, topology: Topology) -> LimitMs:
    from ordercast.planning.limits import latency_limit

    limit = latency_limit(topology.mean_us, mean_rates(scenario, topology))
    rounded = [None if value is None else round(value / 1000, 3) for value in (limit.last, limit.mean_recipient)]
    return LimitMs(*rounded)
