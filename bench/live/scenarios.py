"""The papers' nine scenarios live: five daemons in namespaces, the delays of `tools.wan` between them.

What a client measures from the moment when its message was due until the last member delivered it, beside what the
simulator predicts for the very same file, with the full stack and tickets that leave at once, and beside the least
that any ordering can guarantee on that network.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click
from msgspec import UNSET
from msgspec.structs import replace
from tools.daemons import Host
from tools.wan.emulation import Wan

from bench.live.choices import names
from bench.live.cluster import PORT, Choice, cluster
from bench.live.tables import DISTURBED
from bench.peers.loads import Load, Order, Outcome
from ordercast.core.errors import NotFit, WrongUse
from ordercast.protocols.ordering.catalogue import PROTOCOLS
from ordercast.simulator.scenario import Scenario, load
from ordercast.verify.run import run

EXAMPLES = Path(__file__).parents[2] / "examples" / "nine-scenarios"
NUMBERS = tuple("123456789")
COMPARED = "token-site,rs-symmetric,dynamic-hybrid"
SPREAD = 0.02
"""Of the gaps of quasi-periodic sources."""

NEAR = 0.1
"""The target: live within this part of what is predicted."""


class Comparison(NamedTuple):
    """One protocol in one scenario. All in milliseconds, on average over messages, until the last delivery."""

    scenario: str
    protocol: str
    live: float | None
    """None if it has failed."""
    predicted: float
    limit: float
    order: Order
    failure: str
    view_changes: int
    """In the midst of it: what it has measured is then something else."""
    load_average: float

    @property
    def ratio(self) -> float | None:
        """Live to predicted."""
        return None if self.live is None else self.live / self.predicted

    @property
    def is_good(self) -> bool:
        """Whether it came to its end with the same order everywhere."""
        return self.live is not None and self.order is Order.SAME


def prepared(file: Path, protocol: str, seconds: float, warmup_s: float) -> Scenario:
    """The scenario of a file as it is to be run: live, and by the simulator."""
    scenario = load(file)
    options = {"site": _busiest(scenario)} if protocol == "token-site" else {}
    choice = replace(
        scenario.protocol,
        name=protocol,
        stack="full",
        tickets="flush",
        estimates="online",
        resilience=1,
        options=options,
    )
    return replace(scenario, protocol=choice, duration_s=warmup_s + seconds, warmup_s=warmup_s)


def rates_of(scenario: Scenario) -> tuple[float, ...]:
    """Messages per second of each site."""
    rates = dict.fromkeys(scenario.site_names(), 0.0)
    for traffic in scenario.traffic:
        if traffic.rate is UNSET or traffic.source != "quasi-periodic":
            raise WrongUse("only quasi-periodic sources with a rate can be run live")
        for site in traffic.sites:
            rates[site] += float(traffic.rate)
    return tuple(rates.values())


def _busiest(scenario: Scenario) -> str:
    """Where the heuristic of the papers puts the token."""
    rates = rates_of(scenario)
    return scenario.site_names()[rates.index(max(rates))]


def predict(scenario: Scenario) -> tuple[float, float]:
    """The simulator's figure, and the limit."""
    result = run(scenario)
    last, limit = result.latency_ms.last, result.limit_ms.last
    assert result.good, result.violations
    assert last is not None
    assert limit is not None
    return last.mean, limit


def run_live(scenario: Scenario) -> Outcome:
    """Daemons and clients through the emulated network."""
    topology, protocol = scenario.topology(), scenario.protocol
    size_bytes = scenario.traffic[0].size_bytes
    with Wan(topology) as wan:
        hosts = [
            Host(f"{wan.address(name)}:{PORT}", ("ip", "netns", "exec", wan.namespace(name))) for name in topology.names
        ]
        options = {key: f"s{topology.site(name)}" for key, name in protocol.options.items()}
        choice = Choice(protocol.name, options=tuple(options.items()))
        with cluster(choice, hosts) as group:
            seconds = scenario.duration_s - scenario.warmup_s
            rates = rates_of(scenario)
            load = Load(len(hosts), size_bytes, max(rates), seconds, scenario.warmup_s, rates, SPREAD)
            return group.run(load)


def compare(file: Path, protocol: str, seconds: float, warmup_s: float) -> Comparison:
    """One protocol in one scenario."""
    scenario = prepared(file, protocol, seconds, warmup_s)
    predicted, limit = predict(scenario)
    load_average = os.getloadavg()[0]
    try:
        outcome = run_live(scenario)
    except NotFit as error:
        return Comparison(file.stem, protocol, None, predicted, limit, Order.INCOMPLETE, str(error), 0, load_average)
    assert outcome.latency_ms is not None
    live, changes = outcome.latency_ms.last_mean, outcome.view_changes
    return Comparison(file.stem, protocol, live, predicted, limit, outcome.order, "", changes, load_average)


@click.command("wan-scenarios")
@click.option("--scenarios", default=",".join(NUMBERS), help="Which of the nine.", show_default=True)
@click.option("--protocols", default=COMPARED, help="Which protocols.", show_default=True)
@click.option("--seconds", default=20.0, help="How long each run counts.", show_default=True)
@click.option("--warmup", "warmup_s", default=12.0, help="How long it runs before that.", show_default=True)
@click.option("--quick", is_flag=True, help="Scenarios 1, 5 and 9, for ten seconds each.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
def command(scenarios: str, protocols: str, seconds: float, warmup_s: float, quick: bool, as_json: bool) -> None:
    """Live groups over an emulated WAN, beside the simulator's prediction and the limit."""
    if quick:
        scenarios, seconds = "1,5,9", 10.0
    files = [EXAMPLES / f"scenario-{number}.toml" for number in names(scenarios, NUMBERS, "--scenarios")]
    chosen = names(protocols, sorted(PROTOCOLS), "--protocols")
    begin_s = time.monotonic()
    comparisons = []
    try:
        for protocol in chosen:
            for file in files:
                comparisons.append(compare(file, protocol, seconds, warmup_s))
                click.echo(_shown(comparisons[-1]), err=True)
    except (NotFit, WrongUse) as error:
        click.echo(str(error), err=True)
        sys.exit(2 if isinstance(error, WrongUse) else 3)
    if as_json:
        click.echo(json.dumps([_as_json(each) for each in comparisons], indent=2))
    else:
        _print_table(comparisons)
        click.echo(f"measured in {time.monotonic() - begin_s:.0f} s", err=True)
    sys.exit(0 if all(each.is_good for each in comparisons) else 1)


def _as_json(comparison: Comparison) -> dict[str, Any]:
    return {**comparison._asdict(), "ratio": comparison.ratio}


def _shown(comparison: Comparison) -> str:
    what = f"{comparison.scenario}, {comparison.protocol}"
    if comparison.live is None:
        return f"{what}: {comparison.failure}"
    order = "" if comparison.order is Order.SAME else f", ORDER {comparison.order.upper()}"
    order += f", {comparison.view_changes} view changes" if comparison.view_changes else ""
    figures = f"live {comparison.live:.1f} ms, predicted {comparison.predicted:.1f} ms"
    return f"{what}: {figures}, limit {comparison.limit:.1f} ms{order} (load average {comparison.load_average:.1f})"


def _print_table(comparisons: Sequence[Comparison]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    protocols = list(dict.fromkeys(each.protocol for each in comparisons))
    title = "Until the last delivery, ms on average: live, predicted by the simulator, and their ratio"
    table = Table("scenario", title=title, title_justify="left", box=SIMPLE_HEAD)
    for heading in ("limit", *protocols):
        table.add_column(heading, justify="right")
    for scenario in dict.fromkeys(each.scenario for each in comparisons):
        of_scenario = [each for each in comparisons if each.scenario == scenario]
        table.add_row(scenario, f"{of_scenario[0].limit:.1f}", *map(_cell, of_scenario))
    console = Console(highlight=False, width=120)
    console.print(table)
    near = sum(each.ratio is not None and abs(each.ratio - 1) <= NEAR for each in comparisons)
    console.print(f"{near} of {len(comparisons)} within {NEAR:.0%} of the prediction, the target")
    if any(each.view_changes for each in comparisons):
        console.print(f"{DISTURBED}the view changed meanwhile")
    loads = [each.load_average for each in comparisons]
    console.print(f"load average of the machine during this: {min(loads):.1f} to {max(loads):.1f}")


def _cell(comparison: Comparison) -> str:
    if comparison.live is None:
        return "failed"
    if comparison.order is not Order.SAME:
        return f"order {comparison.order}"
    mark = DISTURBED if comparison.view_changes else ""
    return f"{mark}{comparison.live:.1f} / {comparison.predicted:.1f} = {comparison.ratio:.3f}"
