"""How fast the simulator is, beside a bare loop that does the least any such simulator must do, and beside SimPy.

The bare loop pops an entry from a heap, draws a delay through the same chooser and quantile table, and pushes the
entry back; its heap is as long as that of the simulation it is compared with. Beside it stand the simulation alone,
and a whole run with statistics and with every property checked. Speeds are per second of processor time, and the
best of several rounds, in each of which everything is run once.
"""

from __future__ import annotations

import gc
import json
import tracemalloc
from collections.abc import Callable
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import click

from bench.timing import timed
from ordercast.simulator.chooser import SeededChooser
from ordercast.simulator.distributions import RESOLUTION, chi_square_quantiles
from ordercast.simulator.scenario import Scenario, from_table
from ordercast.simulator.simulation import Simulation
from ordercast.verify.run import run

RATE = 100
"""Messages per second of every site: the papers' high load."""

LAN_MS, WAN_MS = 20.0, 500.0
"""The papers' delays, so that at five sites this is the last of their nine scenarios."""

TABLE_WIDTH = 110

SPREAD_US = 700.0
"""Of the delays that the bare loop draws: any other would cost the same."""

PROTOCOLS = ("rs-symmetric", "hybrid")
ESTIMATES = ("known", "online")


class Effort(NamedTuple):
    """How much is measured."""

    sites: tuple[int, ...]
    arrivals: int
    """Of each run, at least."""
    duration_s: float
    """Of each run, at least: delays must be short beside it."""
    rounds: int
    memory_durations_s: tuple[float, ...]


NORMAL = Effort((5, 30, 100), 200_000, 0.7, 3, (20.0, 80.0))
SMOKE = Effort((5,), 2_000, 0.1, 1, (0.5, 2.0))


class Speed(NamedTuple):
    """Of one case, in its best round."""

    sites: int
    protocol: str
    estimates: str
    alone_per_s: float
    """Events of the simulation alone, which like the bare loop measures and checks nothing."""
    events_per_s: float
    """Events of a whole run, with statistics and with every property checked."""
    deliveries_per_s: float
    """Of a whole run, too."""
    bare_loops_per_s: float

    @property
    def alone_ratio(self) -> float:
        """Events of the simulation alone beside bare loops."""
        return self.alone_per_s / self.bare_loops_per_s

    @property
    def ratio(self) -> float:
        """Events of a whole run beside bare loops."""
        return self.events_per_s / self.bare_loops_per_s

    def or_better(self, other: Speed) -> Speed:
        """Each speed in its better round."""
        return Speed(*self[:3], *(max(pair) for pair in zip(self[3:], other[3:], strict=True)))


class Memory(NamedTuple):
    """What Python's objects took at most during one run."""

    duration_s: float
    events: int
    peak_mib: float


def scenario(sites: int, protocol: str, estimates: str, duration_s: float) -> Scenario:
    """Two LANs and a slow link between them; every site is busy."""
    names = [f"s{number:03}" for number in range(sites)]
    half = (sites + 1) // 2
    return from_table(
        {
            "duration_s": duration_s,
            "protocol": {"name": protocol, "estimates": estimates},
            "lan": [
                {"name": "west", "sites": names[:half], "delay_ms": LAN_MS, "variance": 0.05},
                {"name": "east", "sites": names[half:], "delay_ms": LAN_MS, "variance": 0.05},
            ],
            "wan": [{"between": ["west", "east"], "delay_ms": WAN_MS, "variance": 0.4}],
            "traffic": [{"sites": names, "rate": float(RATE)}],
        }
    )


def duration_s(sites: int, effort: Effort) -> float:
    """So that all sites' messages together make for the wanted number of arrivals."""
    return max(effort.arrivals / (sites * sites * RATE), effort.duration_s)


# --- what is measured ---


def measure_speeds(effort: Effort, on_round: Callable[[int], None] = lambda done: None) -> list[Speed]:
    """Every case of every round; of each case its best."""
    best: dict[tuple[int, str, str], Speed] = {}
    for done in range(effort.rounds):
        for sites in effort.sites:
            bare = bare_loops_per_s(sites, effort.arrivals)
            for protocol in PROTOCOLS:
                for estimates in ESTIMATES:
                    speed = _speed(sites, protocol, estimates, effort)._replace(bare_loops_per_s=bare)
                    case = (sites, protocol, estimates)
                    best[case] = speed.or_better(best.get(case, speed))
        on_round(done + 1)
    return list(best.values())


def _speed(sites: int, protocol: str, estimates: str, effort: Effort) -> Speed:
    chosen = scenario(sites, protocol, estimates, duration_s(sites, effort))
    simulation = Simulation(chosen)
    _, alone_s = timed(simulation.run)
    result, whole_s = timed(lambda: run(chosen, with_limit=False))
    assert result.good, (result.violations, result.stalled)
    deliveries = result.messages * sites
    alone_per_s, events_per_s = simulation.events / alone_s, result.events / whole_s
    return Speed(sites, protocol, estimates, alone_per_s, events_per_s, deliveries / whole_s, 0.0)


def bare_loops_per_s(sites: int, loops: int) -> float:
    """Heap pop, delay draw and heap push, on a heap as long as the simulation's."""
    topology = scenario(sites, "hybrid", "known", 1.0).topology()
    means = [mean for row in topology.mean_us for mean in row if mean]
    in_flight = max(1, round(sum(means) * RATE / 1e6))
    heap: list[tuple[int, int, None, None]] = [(index, index, None, None) for index in range(in_flight)]
    heapify(heap)
    pick, table, mean_us = SeededChooser(1).pick, chi_square_quantiles(), sum(means) / len(means)

    def turn() -> None:
        for sequence in range(in_flight, in_flight + loops):
            at_us, _, handler, argument = heappop(heap)
            arrival_us = at_us + int(mean_us + SPREAD_US * table[pick(RESOLUTION)])
            heappush(heap, (arrival_us, sequence, handler, argument))

    return loops / timed(turn)[1]


def measure_simpy(effort: Effort) -> float:
    """Deliveries per second of five sites on SimPy, in the best round."""
    from bench.simpy_multicast import Group

    topology = scenario(5, "hybrid", "known", 1.0).topology()
    duration_us = round(duration_s(5, effort) * 1e6)
    rates = []
    for _ in range(effort.rounds):
        delivered, elapsed_s = timed(lambda: Group(topology, 1e6 / RATE).run(duration_us))
        rates.append(delivered / elapsed_s)
    return max(rates)


def measure_memory(effort: Effort) -> list[Memory]:
    """Five sites, for one duration after the other."""
    return [_memory(duration_s) for duration_s in effort.memory_durations_s]


def _memory(duration_s: float) -> Memory:
    chosen = scenario(5, "hybrid", "online", duration_s)
    gc.collect()
    tracemalloc.start()
    try:
        result = run(chosen, with_limit=False)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return Memory(duration_s, result.events, peak / 2**20)


# --- what is shown ---


@click.command("simulator")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
@click.option("--smoke", is_flag=True, help="The least that runs everything once; the figures mean nothing.")
def command(as_json: bool, smoke: bool) -> None:
    """Events and deliveries per second, memory, and SimPy beside them."""
    effort = SMOKE if smoke else NORMAL

    def tell(done: int) -> None:
        click.echo(f"round {done} of {effort.rounds} done", err=True)

    speeds = measure_speeds(effort, (lambda done: None) if as_json else tell)
    simpy_rate = measure_simpy(effort)
    memory = measure_memory(effort)
    if as_json:
        _print_json(speeds, simpy_rate, memory)
    else:
        _print_tables(speeds, simpy_rate, memory)


def _print_json(speeds: list[Speed], simpy_rate: float, memory: list[Memory]) -> None:
    value = {
        "speeds": [{**speed._asdict(), "alone_ratio": speed.alone_ratio, "ratio": speed.ratio} for speed in speeds],
        "simpy_deliveries_per_s": simpy_rate,
        "memory": [each._asdict() for each in memory],
    }
    click.echo(json.dumps(value, indent=2))


def _print_tables(speeds: list[Speed], simpy_rate: float, memory: list[Memory]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, width=TABLE_WIDTH)
    title = f"Every site at {RATE} msg/s; per second of processor time"
    table = Table("sites", title=title, title_justify="left", box=SIMPLE_HEAD)
    for heading in ("protocol", "estimates"):
        table.add_column(heading, no_wrap=True)
    for heading in ("bare loops", "events alone", "/ bare", "events checked", "/ bare", "deliveries"):
        table.add_column(heading, justify="right")
    for speed in speeds:
        table.add_row(str(speed.sites), speed.protocol, speed.estimates, *_cells(speed))
    console.print(table)
    ours = max(speed.deliveries_per_s for speed in speeds if speed.sites == 5)
    console.print(
        f"\nA minimal five-site multicast on SimPy, without any ordering: {simpy_rate:,.0f} deliveries per second; "
        f"ordercast, ordered and checked: {ours:,.0f} ({ours / simpy_rate:.2f} ×).\n"
    )
    title = "Memory of hybrid, five sites, estimates measured on line"
    table = Table("duration", title=title, title_justify="left", box=SIMPLE_HEAD)
    for heading in ("events", "peak (MiB)"):
        table.add_column(heading, justify="right")
    for each in memory:
        table.add_row(f"{each.duration_s:g} s", f"{each.events:,}", f"{each.peak_mib:.2f}")
    console.print(table)


def _cells(speed: Speed) -> tuple[str, ...]:
    return (
        f"{speed.bare_loops_per_s:,.0f}",
        f"{speed.alone_per_s:,.0f}",
        f"{speed.alone_ratio:.3f}",
        f"{speed.events_per_s:,.0f}",
        f"{speed.ratio:.3f}",
        f"{speed.deliveries_per_s:,.0f}",
    )
