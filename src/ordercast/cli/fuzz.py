"""`ordercast fuzz`: random groups under random faults."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from ordercast.core.errors import WrongUse

if TYPE_CHECKING:
    from ordercast.verify.fuzz.campaign import Totals
    from ordercast.verify.fuzz.case import Outcome


@click.command("fuzz")
@click.option("--seeds", default=100, show_default=True, help="How many seeds to run.")
@click.option("--seed", type=int, help="Run this seed alone; or the first, with --seeds.")
@click.option("--protocol", help="This ordering protocol only; without it each seed draws one.")
@click.option("--shrink", is_flag=True, help="Make every failing case as small as possible.")
@click.option("--picks", help="Run the case that this list of decisions describes, as --shrink prints it.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
@click.pass_context
def command(
    context: click.Context,
    seeds: int,
    seed: int | None,
    protocol: str | None,
    shrink: bool,
    picks: str | None,
    as_json: bool,
) -> None:
    """Run random groups under random faults, on the full stack.

    Each seed draws sites, network, protocol, traffic and faults; every promise is checked at every event; then a
    majority is healed and must come to one view and one order. Exit code 1 if anything fails; each failure prints
    the command that runs it again.

    Example: ordercast fuzz --seeds 500 --shrink
    """
    from ordercast.protocols.ordering.catalogue import PROTOCOLS
    from ordercast.verify.fuzz import campaign

    if protocol is not None and protocol not in PROTOCOLS:
        raise WrongUse(f"--protocol: unknown protocol {protocol}, expected one of {', '.join(PROTOCOLS)}")
    if picks is not None:
        _report_one(context, campaign.replay(_parse(picks), protocol))
        return
    first, count = (0, seeds) if seed is None else (seed, seeds if _was_given(context, "seeds") else 1)
    totals, failures, began_s = campaign.Totals(), [], _processor_s()
    for number, outcome in campaign.run_seeds(range(first, first + count), protocol):
        totals.add(outcome)
        if outcome.failure is not None:
            failures.append({"seed": number, "failure": outcome.failure, "again": _again(number, protocol)})
            if shrink:
                smaller, failure = campaign.shrink_seed(number, protocol)
                failures[-1] |= {"picks": ",".join(map(str, smaller)), "failure": failure}
            if not as_json:
                _print_failure(failures[-1])
        if sys.stderr.isatty():
            click.echo(f"\r{totals.seeds} of {count} seeds, {totals.failures} failed", nl=False, err=True)
    if as_json:
        _print_json(totals, failures)
    else:
        _print_totals(totals, _processor_s() - began_s)
    context.exit(1 if failures else 0)


def _was_given(context: click.Context, name: str) -> bool:
    return context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE


def _parse(picks: str) -> list[int]:
    try:
        return [int(pick) for pick in picks.split(",")] if picks else []
    except ValueError as error:
        raise WrongUse("--picks: expected whole numbers with commas between them, like 3,0,17") from error


def _again(seed: int, protocol: str | None) -> str:
    return f"ordercast fuzz --seed {seed}" + (f" --protocol {protocol}" if protocol else "")


def _report_one(context: click.Context, outcome: Outcome) -> None:
    click.echo(outcome.failure or "no violation, and the core has converged")
    context.exit(1 if outcome.failure else 0)


def _print_failure(failure: dict[str, object]) -> None:
    click.echo(f"seed {failure['seed']}: {failure['failure']}")
    click.echo(f"  again: {failure['again']}")
    if "picks" in failure:
        click.echo(f"  smaller: ordercast fuzz --picks {failure['picks']}")


def _print_json(totals: Totals, failures: list[dict[str, object]]) -> None:
    import msgspec

    click.echo(msgspec.json.format(msgspec.json.encode({"totals": totals, "failures": failures}), indent=2))


def _processor_s() -> float:
    """Of this process and of those that have ended under it."""
    return sum(os.times()[:4])


def _print_totals(totals: Totals, processor_s: float) -> None:
    from ordercast.cli.output import console, new_table

    click.echo(
        f"{totals.seeds} seeds, {totals.failures} failed; {totals.simulated_hours:.2f} simulated hours "
        f"({totals.simulated_hours * 3600 / max(processor_s, 0.001):.0f} in each hour of processor time), "
        f"{totals.events:,} events, {totals.views:,} views installed; in {totals.blocked} the last primary view "
        "had no quorum left to go on"
    )
    click.echo("Participants were told: " + ", ".join(f"{what} {totals.told[what]:,}" for what in sorted(totals.told)))
    phases = sorted({key.split(" / ")[0] for key in totals.met})
    table = new_table("Faults by the phase of a site's view that they met", "fault", "all", *phases)
    for kind in sorted(totals.faults):
        met = [f"{totals.met.get(f'{phase} / {kind}', 0):,}" for phase in phases]
        table.add_row(kind, f"{totals.faults[kind]:,}", *met)
    console().print(table)
    if totals.switches:
        _print_switches(totals)


def _print_switches(totals: Totals) -> None:
    from ordercast.cli.output import console, new_table

    met = sorted({key.split(" / ")[1] for key in totals.switches_met})
    table = new_table("Changes of role and sequencer, and what they met while under way", "change", "all", *met)
    for kind in sorted(totals.switches):
        counts = [f"{totals.switches_met.get(f'{kind} / {what}', 0):,}" for what in met]
        table.add_row(kind, f"{totals.switches[kind]:,}", *counts)
    console().print(table)
