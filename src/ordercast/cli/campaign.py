"""`ordercast campaign`: a grid of scenarios, run on Spark."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct
from rich.markup import escape

from ordercast.cli.on_spark import SparkChoice, spark_choice, spark_options
from ordercast.cli.output import ROWS_MAX, console, counting, new_table, number, print_json, remark

if TYPE_CHECKING:
    from ordercast.pipeline.campaign.plan import Plan

BAD_ANSWER = 1
WHAT_IS_BAD = ("violations", "stalled_at_s", "stalled_site", "stalled_waiting_for")

FIGURES = ("runs", "bad", "last_mean_ms", "last_mean_ms_within", "last_p99_ms", "times_limit")
HEADINGS = ("runs", "bad", "mean", "±", "p99", "× limit")


class Findings(Struct, frozen=True):
    """What `--json` prints."""

    directory: str
    runs: int
    digest: str
    """Of all results: the same on any machine, in any order."""
    summary: list[dict[str, Any]]
    bad: list[dict[str, Any]]
    """The runs in which something was violated or stalled."""


@click.command(short_help="Run a grid of scenarios by the hundred, on Spark.")
@click.argument("grid", metavar="GRID.toml", type=click.Path(path_type=Path))
@click.option(
    "--out",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    help="Where results go; what is finished there is not run again.",
)
@click.option("--trace", is_flag=True, help="Write the trace of each run, too: DIR/traces.")
@spark_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
@click.pass_context
def command(
    ctx: click.Context,
    grid: Path,
    out: Path,
    trace: bool,
    master: str | None,
    conf: tuple[str, ...],
    as_json: bool,
) -> None:
    """Run every scenario of a grid, check every delivery, and summarise latencies by the values of the grid.

    GRID.toml names a scenario, and lists of values for some of its keys; every combination is a run. Results are
    Parquet files in DIR. Stopped half-way, the same command goes on where it was. Exit code 1 tells that in some run
    the order was violated or a site could not go on.

    \b
    A grid:
      scenario = "examples/aws5.toml"
      [grid]
      "protocol.name" = ["token-site", "rs-symmetric", "dynamic-hybrid"]
      seed = { from = 1, count = 20 }
    Run it:
      ordercast campaign grid.toml --out out/campaign

    The file format, the columns of the results, and clusters: docs/pipeline.md.
    """
    from ordercast.pipeline.campaign.grid_file import load_grid

    findings = _carry_out(load_grid(grid), out, trace, spark_choice(master, conf))
    if as_json:
        print_json(findings)
    else:
        _show(findings, grid.name)
    if findings.bad:
        ctx.exit(BAD_ANSWER)


def _carry_out(plan: Plan, directory: Path, trace: bool, spark: SparkChoice) -> Findings:
    from ordercast.pipeline.campaign.job import run_campaign
    from ordercast.pipeline.campaign.results import digest_of
    from ordercast.pipeline.campaign.tables import bad_runs, label_columns, read_campaign, summary, write_grid

    labels = list(label_columns(plan).values())
    write_grid(directory, plan)
    with spark.session() as session, counting("campaign") as on_progress:
        outcomes = []
        try:
            with closing(run_campaign(session, plan.distinct, directory, trace=trace)) as done:
                for outcome in done:
                    outcomes.append(outcome)
                    if on_progress is not None:
                        on_progress(len(outcomes), len(plan.distinct))
        except KeyboardInterrupt:
            remark(f"stopped: {len(outcomes):,} of {len(plan.distinct):,} runs are in {directory}")
            remark("the same command goes on from there")
            raise
        runs = read_campaign(session, directory)
        summarised = [row.asDict() for row in summary(runs, *labels).collect()]
        bad = [row.asDict() for row in bad_runs(runs).select("run", *labels, "seed", *WHAT_IS_BAD).collect()]
    return Findings(str(directory), len(plan.runs), digest_of(outcomes), summarised, bad)


# --- tables ---


def _show(findings: Findings, name: str) -> None:
    out, rows = console(), findings.summary
    labels = [column for column in rows[0] if column not in FIGURES] if rows else []
    first, *others = labels or [""]
    table = new_table("Latency at the last recipient, ms", first, *others, *HEADINGS)
    for row in rows[:ROWS_MAX]:
        counts = [f"{row['runs']:,}", f"{row['bad']:,}"]
        latencies = [number(row[figure], 2 if figure == "times_limit" else 1) for figure in FIGURES[2:]]
        table.add_row(*([escape(str(row[label])) for label in labels] or [""]), *counts, *latencies)
    out.print(table)
    if len(rows) > ROWS_MAX:
        out.print(f"and {len(rows) - ROWS_MAX} more rows, with --json\n")
    for bad in findings.bad[:ROWS_MAX]:
        out.print(f"[bold red]bad[/bold red]: {escape(_what_is_bad(bad, labels))}", soft_wrap=True)
    out.print(f"{escape(name)}: {findings.runs:,} runs, {len(findings.bad):,} bad; digest {findings.digest}")
    out.print(f"Results: {escape(findings.directory)}")


def _what_is_bad(bad: dict[str, Any], labels: list[str]) -> str:
    where = ", ".join(f"{label} {bad[label]}" for label in (*labels, "seed"))
    reasons = list(bad["violations"])
    if bad["stalled_site"] is not None:
        reasons.append(f"{bad['stalled_site']} waits for {bad['stalled_waiting_for']}, since {bad['stalled_at_s']} s")
    return f"{where}: {'; '.join(reasons)}"
