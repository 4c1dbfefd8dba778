"""`ordercast simulate`: run a scenario and judge it."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import click
from msgspec.structs import replace
from rich.console import Console
from rich.markup import escape

from ordercast.cli.output import ROWS_MAX, Progress, console, new_table, number, print_json, ratio, remark
from ordercast.core.mistakes import require_number
from ordercast.protocols.ordering.catalogue import PROTOCOLS
from ordercast.protocols.ordering.options import check_protocol_name
from ordercast.simulator.observer import Observer
from ordercast.simulator.scenario import Scenario, load
from ordercast.simulator.scenario_checks import SEED_MAX
from ordercast.simulator.statistics import Summary
from ordercast.verify.run import RunResult, run

BAD_ANSWER = 1


@click.command(short_help="Run a scenario and judge it.")
@click.argument("scenario", metavar="SCENARIO.toml", type=click.Path(path_type=Path))
@click.option("--protocol", metavar="NAME", help="Run this ordering protocol instead of the file's.")
@click.option("--seed", type=int, metavar="N", help="Draw delays and traffic from this seed.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
@click.option(
    "--trace",
    "trace_directory",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Write every multicast, ticket and delivery to a Parquet file in this directory.",
)
@click.pass_context
def command(
    ctx: click.Context,
    scenario: Path,
    protocol: str | None,
    seed: int | None,
    as_json: bool,
    trace_directory: Path | None,
) -> None:
    """Run SCENARIO.toml in virtual time, check every delivery, and print latencies against the network's limit.

    The same file, seed and protocol give the same output, byte for byte. Exit code 1 tells that the order was
    violated or that a site could not go on.

    \b
    Compare two protocols on one network:
      ordercast simulate examples/aws5.toml
      ordercast simulate examples/aws5.toml --protocol token-site
    Take one figure out:
      ordercast simulate examples/aws5.toml --json | jq .latency_ms.last.mean

    The file format and the JSON keys are described in docs/scenarios.md.
    """
    chosen = with_choices(load(scenario), protocol, seed)
    began_s = time.perf_counter()
    result = _run(chosen, scenario.stem, trace_directory)
    _show_speed(result.events, time.perf_counter() - began_s)
    if as_json:
        print_json(result)
    else:
        _show(result, scenario.name)
    if not result.good:
        ctx.exit(BAD_ANSWER)


def with_choices(scenario: Scenario, protocol: str | None, seed: int | None) -> Scenario:
    """The scenario with what the command line asks for instead."""
    if seed is not None:
        require_number("--seed", seed, least=0, most=SEED_MAX)
        scenario = replace(scenario, seed=seed)
    if protocol is None or protocol == scenario.protocol.name:
        return scenario
    check_protocol_name("--protocol", protocol)
    known = PROTOCOLS[protocol].options
    given = scenario.protocol.options
    for name in given:
        if name not in known:
            remark(f"protocol.options.{name} is left out: {protocol} has no such option")
    options = {name: value for name, value in given.items() if name in known}
    return replace(scenario, protocol=replace(scenario.protocol, name=protocol, options=options))


def _run(scenario: Scenario, name: str, trace_directory: Path | None) -> RunResult:
    observers: list[Observer] = [Progress(scenario.duration_s)] if sys.stderr.isatty() else []
    if trace_directory is None:
        return run(scenario, observers=observers)
    from ordercast.simulator.trace import TraceObserver

    run_name = f"{name}-{scenario.protocol.name}-{scenario.seed}"
    with TraceObserver(run_name, trace_directory) as trace:
        result = run(scenario, observers=[*observers, trace])
    remark(f"trace: {trace.path}")
    return result


def _show_speed(events: int, took_s: float) -> None:
    """Not part of the result, which is the same on every machine."""
    if sys.stderr.isatty():
        remark(f"{events:,} events in {took_s:.1f} s: {events / took_s:,.0f} events per second")


# --- tables ---


def _show(result: RunResult, file: str) -> None:
    out = console()
    out.print(f"[bold]{escape(file)}[/bold]: {result.protocol}, seed {result.seed}, {result.messages:,} messages")
    out.print()
    _show_latencies(out, result)
    _show_senders(out, result)
    _show_overhead(out, result)
    _show_verdict(out, result)


def _show_latencies(out: Console, result: RunResult) -> None:
    latency, limit = result.latency_ms, result.limit_ms
    if latency.last is None:
        out.print("No message sent after the warm-up was delivered at every site before the traffic ended.\n")
        return
    table = new_table("Latency, ms", "", "mean", "p50", "p99", "max", "limit", "× limit")
    rows = [
        ("last recipient", latency.last, limit.last),
        ("mean recipient", latency.mean_recipient, limit.mean_recipient),
        ("sender itself", latency.sender, None),
        ("until stable", result.stability_ms, None),
    ]
    for label, summary, least in rows:
        if summary is not None:
            table.add_row(label, *_figures(summary), number(least), ratio(summary.mean, least))
    out.print(table)


def _figures(summary: Summary) -> list[str]:
    return [number(value) for value in (summary.mean, summary.p50, summary.p99, summary.max)]


def _show_senders(out: Console, result: RunResult) -> None:
    senders = result.latency_ms.per_site
    if not senders:
        return
    table = new_table("Last recipient, by sender, ms", "sender", "mean", "p50", "p99", "max")
    for name, summaries in list(senders.items())[:ROWS_MAX]:
        if summaries.last is not None:
            table.add_row(escape(name), *_figures(summaries.last))
    out.print(table)
    if len(senders) > ROWS_MAX:
        out.print(f"and {len(senders) - ROWS_MAX} more senders, with --json\n")


def _show_overhead(out: Console, result: RunResult) -> None:
    overhead = result.overhead_per_multicast
    if overhead is not None:
        sent = f"{number(overhead.multicasts, 2)} multicasts, {number(overhead.transmissions, 2)} transmissions"
        out.print(f"Beyond each message itself: {sent}.")
    if result.buffer_messages is not None:
        out.print(f"Buffered: {number(result.buffer_messages.mean)} messages on average.")
    if result.index_of_latency is not None:
        out.print(f"Index of latency: {number(result.index_of_latency.mean, 2)} sites on average.")


def _show_verdict(out: Console, result: RunResult) -> None:
    stalled = result.stalled
    if stalled is not None:
        waiting = escape(f"{stalled.site} waits for {stalled.waiting_for}, since {stalled.at_s:g} s")
        out.print(f"[bold red]stalled[/bold red]: {waiting}")
    for violation in result.violations:
        out.print(f"[bold red]violated[/bold red]: {escape(violation)}", soft_wrap=True)
    if result.good:
        out.print("[bold green]good[/bold green]: no violation; every site delivered the same sequence")
