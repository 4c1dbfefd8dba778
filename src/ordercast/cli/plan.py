"""`ordercast plan`: what to expect of a network before anything runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import click
from msgspec import UNSET, Struct
from rich.console import Console
from rich.markup import escape

from ordercast.cli.output import ROWS_MAX, console, new_table, number, print_json, ratio, remark
from ordercast.core.ids import SiteId
from ordercast.core.mistakes import listed
from ordercast.planning import predict
from ordercast.planning.predict import Source, Sources
from ordercast.planning.roles import Sequencers, assign_roles, with_actives
from ordercast.planning.topology import Topology
from ordercast.simulator.load import mean_rates
from ordercast.simulator.scenario import Scenario, Traffic, load
from ordercast.verify.run import LimitMs

Options = dict[str, str | list[str]]


class Scheme(Struct, frozen=True):
    """One way to order, with what to expect of it."""

    protocol: str
    options: Options
    """As they would stand in a scenario file."""
    chosen: str
    """How the options came about."""
    last_ms: float | None
    """Expected last-recipient latency, weighted by traffic; None where some site would wait for ever."""
    per_site_ms: dict[str, float | None]
    """The same by sending site."""


class Plan(Struct, frozen=True):
    """Roles, expectations and the limit."""

    active: list[str]
    """The sites that should issue tickets."""
    sequencers: dict[str, str]
    """For each site the one that issues tickets for its messages; an active site is its own."""
    schemes: list[Scheme]
    limit_ms: LimitMs


@click.command(short_help="Say what to expect of a network.")
@click.argument("scenario", metavar="SCENARIO.toml", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
def command(scenario: Path, as_json: bool) -> None:
    """Say, without running anything, who should order in SCENARIO.toml and which latency each scheme can expect.

    Latency is counted until the last member has delivered. The limit is the least that any protocol can guarantee
    on this network. Delays and rates are taken as the file gives them, rates averaged over the whole run.

    \b
      ordercast plan examples/nine-scenarios/scenario-8.toml
      ordercast plan examples/gcp20.toml --json | jq .active

    The method and the JSON keys are described in docs/scenarios.md; `ordercast simulate` measures what this estimates.
    """
    chosen = load(scenario)
    if any(traffic.closed_loop is not UNSET for traffic in chosen.traffic):
        remark("closed loops have no rate of their own; each outstanding message counts as one message per second")
    plan = make_plan(chosen)
    if as_json:
        print_json(plan)
    else:
        _show(console(), plan, scenario.name)


# --- making the plan ---


class Outlook(Struct, frozen=True):
    """What the expectations rest on."""

    topology: Topology
    load: list[Sources]
    flush: bool

    def names(self, sites: Sequence[SiteId]) -> list[str]:
        """The names of some sites."""
        return [self.topology.names[site] for site in sites]

    def token_site(self, site: SiteId, chosen: str) -> Scheme:
        """One site orders for all."""
        latencies = predict.token_site(site, self.topology.mean_us)
        return self._scheme("token-site", {"site": self.topology.names[site]}, chosen, latencies)

    def best_token_site(self) -> SiteId:
        """The token site with the least latency; of several, the one with the lowest id."""
        delays_us = self.topology.mean_us
        return min(
            self.topology.sites,
            key=lambda site: (predict.weighted_mean(predict.token_site(site, delays_us), self.load), site),
        )

    def symmetric(self) -> Scheme:
        """Every site is active."""
        everyone = with_actives(self.topology.sites, self.topology.mean_us)
        return self._scheme("rs-symmetric", {}, "", self._tickets(everyone))

    def hybrid(self, roles: Sequencers, chosen: str) -> Scheme:
        """Some sites are active."""
        return self._scheme("hybrid", {"active": self.names(actives(roles))}, chosen, self._tickets(roles))

    def _tickets(self, roles: Sequencers) -> list[float]:
        return predict.tickets(roles, self.load, self.topology.mean_us, flush=self.flush)

    def _scheme(self, protocol: str, options: Options, chosen: str, latencies_us: list[float]) -> Scheme:
        senders = [site for site in self.topology.sites if self.load[site]]
        per_site = {self.topology.names[site]: _milliseconds(latencies_us[site]) for site in senders}
        return Scheme(
            protocol, options, chosen, _milliseconds(predict.weighted_mean(latencies_us, self.load)), per_site
        )


def make_plan(scenario: Scenario) -> Plan:
    """Roles by the papers' heuristic, expectations for each scheme, and the limit."""
    from ordercast.planning.limits import latency_limit

    topology = scenario.topology()
    outlook = Outlook(topology, sources_of(scenario, topology), scenario.protocol.tickets == "flush")
    gaps_us = [1 / predict.rate(sources) if sources else None for sources in outlook.load]
    roles = assign_roles(gaps_us, topology.mean_us)
    limit = latency_limit(topology.mean_us, mean_rates(scenario, topology))
    return Plan(
        outlook.names(actives(roles)),
        {topology.names[site]: topology.names[sequencer] for site, sequencer in roles.items()},
        _schemes(outlook, roles, scenario.protocol.options),
        LimitMs(_milliseconds(limit.last), _milliseconds(limit.mean_recipient)),
    )


def sources_of(scenario: Scenario, topology: Topology) -> list[Sources]:
    """What each site multicasts, on average over the whole run."""
    return [
        tuple(_source(traffic, scenario.duration_s) for traffic in scenario.traffic if name in traffic.sites)
        for name in topology.names
    ]


def _source(traffic: Traffic, duration_s: float) -> Source:
    """A window makes the source slower on average."""
    until_s = duration_s if traffic.until_s is None else min(traffic.until_s, duration_s)
    rate = float(traffic.closed_loop) if traffic.closed_loop is not UNSET else traffic.rate
    assert rate is not UNSET, "the checks of a scenario ask for one of the two"
    return Source(1e6 * duration_s / (rate * (until_s - traffic.from_s)), traffic.source == "poisson")


def actives(roles: Sequencers) -> list[SiteId]:
    """The sites that are their own sequencers."""
    return [site for site, sequencer in roles.items() if site == sequencer]


def _schemes(outlook: Outlook, roles: Sequencers, given: Options) -> list[Scheme]:
    """Those that a static choice can be made of; what the file asks for itself is among them."""
    topology = outlook.topology
    site = given.get("site", topology.names[0])
    assert isinstance(site, str)
    schemes = [
        outlook.token_site(topology.site(site), "given" if "site" in given else "default"),
        outlook.token_site(outlook.best_token_site(), "best"),
        outlook.symmetric(),
        outlook.hybrid(roles, "heuristic"),
    ]
    if "active" in given:
        active = [topology.site(name) for name in given["active"]]
        schemes.append(outlook.hybrid(with_actives(active, topology.mean_us), "given"))
    return schemes


def _milliseconds(value_us: float | None) -> float | None:
    return None if value_us is None or math.isinf(value_us) else round(value_us / 1000, 3)


# --- tables ---


def _show(out: Console, plan: Plan, file: str) -> None:
    passive = len(plan.sequencers) - len(plan.active)
    out.print(f"[bold]{escape(file)}[/bold]: active are {escape(listed(plan.active))}; {passive} are passive\n")
    limit = plan.limit_ms.last
    table = new_table("Expected last-recipient latency, ms", "", "latency", "× limit")
    for scheme in plan.schemes:
        table.add_row(escape(_title(scheme)), _or_never(scheme.last_ms), ratio(scheme.last_ms, limit))
    table.add_row("limit of the network", number(limit), ratio(limit, limit))
    out.print(table)
    _show_sites(out, plan)


def _title(scheme: Scheme) -> str:
    """Short: the active sites of the heuristic stand above the table."""
    site = scheme.options.get("site", "")
    return " ".join(part for part in (scheme.protocol, str(site), scheme.chosen and f"({scheme.chosen})") if part)


def _show_sites(out: Console, plan: Plan) -> None:
    table = new_table("By sender, ms", "site", "sequencer", *(_title(scheme) for scheme in plan.schemes))
    senders = list(plan.schemes[0].per_site_ms)
    for name in senders[:ROWS_MAX]:
        sequencer = plan.sequencers[name]
        figures = (_or_never(scheme.per_site_ms[name]) for scheme in plan.schemes)
        table.add_row(escape(name), "itself" if sequencer == name else escape(sequencer), *figures)
    out.print(table)
    if len(senders) > ROWS_MAX:
        out.print(f"and {len(senders) - ROWS_MAX} more senders, with --json\n")


def _or_never(value: float | None) -> str:
    return "never" if value is None else number(value)
