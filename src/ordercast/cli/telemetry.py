"""`ordercast telemetry`: latencies, rates and ways, by what sites have recorded; and what the planner makes of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import Struct
from rich.markup import escape

from ordercast.cli.output import console, new_table, number, print_json, ratio, remark

if TYPE_CHECKING:
    from rich.console import Console

    from ordercast.pipeline.telemetry.report import Telemetry

BAD_ANSWER = 1


class Report(Struct, frozen=True):
    """What `--json` prints."""

    runs: list[Telemetry]
    skipped: list[str]
    """Files that are torn, or no traces, with the reason."""


@click.command(short_help="Latencies, rates and ways in recorded traces.")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--master", metavar="URL", help="Where Spark runs; by default on all cores of this machine.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables; also by minute.")
@click.pass_context
def command(ctx: click.Context, directory: Path, master: str | None, as_json: bool) -> None:
    """Say how long messages took in the traces (*.parquet) in DIR and below it, of simulations or of live sites.

    For each run: latencies by sender's site and level, until its own site delivers (own), until the last site does
    (last), and until it is final at the sender's site (final); rates; the least time between two sites; and which
    sites the planner would have made active, with the latency that it predicts beside what was observed. Quantiles are
    right within 5 %. Of a live group, times between sites are only as good as its clocks: how far they may be off is
    said. Needs Java 17. Exit code 1 if a file had to be skipped because it is torn or no trace.
    """
    report = examine(directory, master)
    if as_json:
        print_json(report)
    else:
        for each in report.runs:
            _show(console(), each)
        for what in report.skipped:
            console().print(f"[bold red]skipped[/bold red]: {escape(what)}", soft_wrap=True)
    if report.skipped:
        ctx.exit(BAD_ANSWER)


def examine(directory: Path, master: str | None = None) -> Report:
    """What there is to say of all runs below a directory."""
    from ordercast.pipeline.audit.files import records_in, torn_files
    from ordercast.pipeline.session import spark_session
    from ordercast.pipeline.telemetry.report import telemetry
    from ordercast.records.runs import find_traces

    traces = find_traces(directory)
    with spark_session(master=master) as session:
        torn = torn_files(session, [file.path for file in traces.files])
        paths = [file.path for file in traces.files if str(file.path) not in torn]
        runs = telemetry(records_in(session, paths)) if paths else []
    return Report(runs, [*map(str, traces.bad), *torn.values()])


def _show(out: Console, telemetry: Telemetry) -> None:
    table = new_table(
        f"{telemetry.run}: latency, ms", "site", "level", "until", "messages", "mean", "p50", "p99", "max"
    )
    for each in telemetry.latencies:
        if each.minute is None:
            figures = (number(value) for value in (each.mean_ms, each.p50_ms, each.p99_ms, each.max_ms))
            table.add_row(str(each.site), each.level, each.stage, f"{each.messages:,}", *figures)
    out.print(table)
    rates = new_table("multicast", "site", "messages", "a second", "never delivered")
    for rate in telemetry.rates:
        rates.add_row(str(rate.site), f"{rate.messages:,}", number(rate.per_second), f"{rate.undelivered:,}")
    out.print(rates)
    ways = new_table("least time between two sites, ms", "from", "to", "least", "clock ahead by")
    for way in telemetry.ways:
        ways.add_row(str(way.origin), str(way.site), number(way.least_ms), number(way.clock_ms))
    out.print(ways)
    _show_plan(out, telemetry)
    remark(
        f"{telemetry.run}: if its clocks were off, latencies between sites are, by up to {telemetry.error_ms:.1f} ms"
    )


def _show_plan(out: Console, telemetry: Telemetry) -> None:
    plan = telemetry.planned
    if plan is None:
        remark(f"{telemetry.run}: no plan: not all sites have heard each other")
        return
    sites = ", ".join(map(str, plan.active))
    out.print(f"The planner would have made active: {escape(sites)}. Last recipient, ms:")
    table = new_table("", "", "mean", "× limit")
    rows = (("observed", plan.observed_ms), ("predicted", plan.predicted_ms), ("limit", plan.limit_ms))
    for name, value in rows:
        table.add_row(name, number(value), ratio(value, plan.limit_ms))
    out.print(table)
