"""How fast the full stack is, beside the stack that the papers assume and beside a bare loop.

Five sites on two LANs; each multicasts a hundred bundles per second, of one or more messages of 100 bytes. The *ideal*
stack runs the ordering protocol alone, on a network that never fails and without any encoding. The *full* stack puts
group, view synchrony, codec and links below it, as a live site does. Both are driven by the simulator, whose share is
measured, too. The bare loop does for each copy of a bundle what no simulated group that sends bytes can do without: it
pops the copy from a heap, decodes it, draws a delay and pushes another; and it encodes one bundle for all its copies.

Speeds are per second of processor time, in the best of several rounds, in each of which everything is run once. How
that time divides among the layers comes from a run of its own, in which each layer's `handle` and each effect of the
host is timed (and what the timing costs taken off). A layer's share is what happens in itself, its calls of `Out`
included; *stack* is the queue between the layers, *simulator* all that a live host would do otherwise.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple

import click

from bench.bundles import BODY, BUNDLES_PER_S, SITES, BundleRun, StackName, scenario
from bench.timing import Part, Stopwatch, timed, watched
from ordercast.core.ids import pack_message_id
from ordercast.core.messages import Bundle
from ordercast.core.stack import Stack
from ordercast.core.wire import Wire
from ordercast.protocols.groups.ordering_out import OrderingOut
from ordercast.simulator.chooser import SeededChooser
from ordercast.simulator.distributions import RESOLUTION, chi_square_quantiles

PROTOCOLS = ("hybrid", "rs-symmetric", "token-site")

LAYERS = ("participants", "group", "views", "codec", "links")
"""From top to bottom. The ordering protocol is a layer inside the group."""

HOST_EFFECTS = ("multicast", "send", "deliver", "set_timer", "cancel", "save", "record")

TABLE_WIDTH = 110


class Effort(NamedTuple):
    """How much is measured."""

    bodies: tuple[int, ...]
    """Messages per bundle."""
    bundles: int
    """Of each run, at all sites together."""
    rounds: int


NORMAL = Effort((1, 10, 100, 500), 1_500, 3)
SMOKE = Effort((1, 3), 50, 1)


class Speed(NamedTuple):
    """Messages delivered per second of processor time, at all sites together, in the best round."""

    protocol: str
    bodies: int
    bare_per_s: float
    ideal_per_s: float
    full_per_s: float

    @property
    def of_ideal(self) -> float:
        """The full stack beside the ideal one."""
        return self.full_per_s / self.ideal_per_s

    @property
    def of_bare(self) -> float:
        """The full stack beside the bare loop."""
        return self.full_per_s / self.bare_per_s

    @property
    def bundle_us(self) -> float:
        """What the delivery of a bundle at one site costs on the full stack, its part of all else included."""
        return 1e6 * self.bodies / self.full_per_s

    def or_better(self, other: Speed) -> Speed:
        """Each speed in its better round."""
        return Speed(*self[:2], *(max(pair) for pair in zip(self[2:], other[2:], strict=True)))


class Cost(NamedTuple):
    """What one layer of the full stack costs."""

    protocol: str
    bodies: int
    layer: str
    events_per_delivery: float
    """How many events it handles for each delivery of a bundle at a site."""
    share: float
    bundle_us: float
    """The whole stack's cost of a delivery, simulator included."""

    @property
    def delivery_us(self) -> float:
        """For each delivery of a bundle at a site."""
        return self.share * self.bundle_us

    @property
    def event_us(self) -> float:
        """For each event of the layer."""
        return self.delivery_us / self.events_per_delivery


# --- what is measured ---


def measure_speeds(effort: Effort, on_round: Callable[[int], None] = lambda done: None) -> list[Speed]:
    """Every case of every round; of each case its best."""
    best: dict[tuple[str, int], Speed] = {}
    for done in range(effort.rounds):
        for bodies in effort.bodies:
            bare = bare_deliveries_per_s(bodies, effort.bundles)
            for protocol in PROTOCOLS:
                ideal = _deliveries_per_s(protocol, "ideal", bodies, effort)
                full = _deliveries_per_s(protocol, "full", bodies, effort)
                speed = Speed(protocol, bodies, bare, ideal, full)
                best[protocol, bodies] = speed.or_better(best.get((protocol, bodies), speed))
        on_round(done + 1)
    return [best[protocol, bodies] for protocol in PROTOCOLS for bodies in effort.bodies]


def _deliveries_per_s(protocol: str, stack: StackName, bodies: int, effort: Effort) -> float:
    deliveries, elapsed_s = timed(BundleRun(protocol, stack, bodies, effort.bundles).run)
    return deliveries / elapsed_s


def bare_deliveries_per_s(bodies: int, bundles: int) -> float:
    """Encode a bundle once; then heap pop, decoding, delay draw and heap push for each of its copies."""
    topology = scenario("token-site", "ideal", 1.0).topology()
    means = [mean for row in topology.mean_us for mean in row if mean]
    copies = len(SITES) - 1
    in_flight = max(1, round(sum(means) * BUNDLES_PER_S / 1e6))
    wire, mean_us = Wire(Bundle), sum(means) / len(means)
    pick, table = SeededChooser(1).pick, chi_square_quantiles()
    payload = (BODY,) * bodies
    data = wire.encode(Bundle(pack_message_id(topology.sites[0], 0, 0), payload))
    heap = [(index, index, data) for index in range(in_flight)]
    heapify(heap)

    def turn() -> None:
        sequence = in_flight
        for number in range(bundles):
            encoded = wire.encode(Bundle(pack_message_id(topology.sites[0], 0, number), payload))
            for _ in range(copies):
                at_us, _, arrived = heappop(heap)
                wire.decode(arrived)
                heappush(heap, (at_us + int(mean_us * (1 + table[pick(RESOLUTION)])), sequence, encoded))
                sequence += 1

    return bundles * len(SITES) * bodies / timed(turn)[1]


def measure_costs(speeds: list[Speed], effort: Effort) -> list[Cost]:
    """Of each protocol's layers, for the smallest bundles and the largest."""
    sizes = (effort.bodies[0], effort.bodies[-1])
    return [cost for speed in speeds if speed.bodies in sizes for cost in _costs(speed, effort)]


def _costs(speed: Speed, effort: Effort) -> list[Cost]:
    """Shares from a run in which the layers are timed; with them the time of the run that was not is divided up."""
    watch = Stopwatch("simulator")
    with watched(watch, _parts(speed.protocol)):
        bundle_run = BundleRun(speed.protocol, "full", speed.bodies, effort.bundles)
        watch.start()
        delivered = bundle_run.run() / speed.bodies
        watch.stop()
    seconds, calls = watch.seconds(), watch.calls
    seconds["group"] += seconds.pop("delivered")
    calls["simulator"] = bundle_run.simulation.events
    total_s = sum(seconds.values())
    return [
        Cost(speed.protocol, speed.bodies, layer, calls[layer] / delivered, seconds[layer] / total_s, speed.bundle_us)
        for layer in ("simulator", "stack", "ordering", *LAYERS)
    ]


def _parts(protocol: str) -> list[Part]:
    """What to watch: the layers, what the ordering protocol delivers into the group, and what reaches the host."""
    site = BundleRun(protocol, "full", 1, len(SITES)).simulation.sites[0]
    assert isinstance(site.layer, Stack)
    layers: tuple[Any, ...] = site.layer.layers
    handlers = [(site.layer, "stack"), (layers[1].ordering, "ordering"), *zip(layers, LAYERS, strict=True)]
    return [
        *((_owner(layer, "handle"), "handle", account) for layer, account in handlers),
        (OrderingOut, "deliver", "delivered"),
        *((_owner(site, name), name, "simulator") for name in HOST_EFFECTS),
    ]


def _owner(thing: object, method: str) -> type:
    """The class that defines the method."""
    return next(kind for kind in type(thing).__mro__ if method in kind.__dict__)


# --- what is shown ---


@click.command("stack")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
@click.option("--smoke", is_flag=True, help="The least that runs everything once; the figures mean nothing.")
def command(as_json: bool, smoke: bool) -> None:
    """Deliveries per second through the full stack, and what each layer costs."""
    effort = SMOKE if smoke else NORMAL

    def tell(done: int) -> None:
        click.echo(f"round {done} of {effort.rounds} done", err=True)

    speeds = measure_speeds(effort, (lambda done: None) if as_json else tell)
    costs = measure_costs(speeds, effort)
    if as_json:
        _print_json(speeds, costs)
    else:
        _print_tables(speeds, costs)


def _print_json(speeds: list[Speed], costs: list[Cost]) -> None:
    value = {
        "speeds": [{**each._asdict(), "of_ideal": each.of_ideal, "of_bare": each.of_bare} for each in speeds],
        "costs": [{**each._asdict(), "delivery_us": each.delivery_us, "event_us": each.event_us} for each in costs],
    }
    click.echo(json.dumps(value, indent=2))


def _print_tables(speeds: list[Speed], costs: list[Cost]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    def table(title: str, *headings: str) -> Table:
        made = Table("protocol", title=title, title_justify="left", box=SIMPLE_HEAD)
        for heading in headings:
            made.add_column(heading, justify="right")
        return made

    title = f"Messages delivered per second of processor time: five sites, {BUNDLES_PER_S} bundles/s each"
    headings = ("messages / bundle", "bare loop", "ideal stack", "full stack", "/ ideal", "/ bare", "µs / bundle")
    fast = table(title, *headings)
    for speed in speeds:
        rates = (f"{rate:,.0f}" for rate in (speed.bare_per_s, speed.ideal_per_s, speed.full_per_s))
        ratios = (f"{speed.of_ideal:.3f}", f"{speed.of_bare:.3f}", f"{speed.bundle_us:.1f}")
        fast.add_row(speed.protocol, str(speed.bodies), *rates, *ratios)
    title = "Where the full stack's time goes, for each delivery of a bundle at a site"
    dear = table(title, "messages / bundle", "layer", "events", "µs / event", "µs", "share")
    for cost in costs:
        figures = (f"{cost.events_per_delivery:.2f}", f"{cost.event_us:.2f}", f"{cost.delivery_us:.2f}")
        dear.add_row(cost.protocol, str(cost.bodies), cost.layer, *figures, f"{cost.share:.0%}")
    console = Console(highlight=False, width=TABLE_WIDTH)
    console.print(fast)
    console.print(dear)
