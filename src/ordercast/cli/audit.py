"""`ordercast audit`: the promises of a group, checked on what its sites have recorded."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import Struct
from rich.markup import escape

from ordercast.cli.output import PROGRESS_EVERY_S, console, new_table, print_json, remark
from ordercast.core.errors import NotFit, WrongUse
from ordercast.core.trace import TraceRecord
from ordercast.verify.audit.run import Verdict, audit

if TYPE_CHECKING:
    from rich.console import Console

    from ordercast.records.runs import TraceFile, Traces

BAD_ANSWER = 1

AUTO, PLAIN, SPARK = ENGINES = ("auto", "plain", "spark")

PLAIN_MAX = 1_000_000
"""From so many records on Spark is sooner done, by far, on two cores: starting Java takes it some eight seconds."""

RECORDS_PER_LOOK = 1 << 14
"""So often the clock is read for the progress."""


class Findings(Struct, frozen=True):
    """What `--json` prints."""

    runs: list[Verdict]
    skipped: list[str]
    """Files that are torn, or no traces, with the reason."""

    @property
    def good(self) -> bool:
        """Whether nothing is violated, and nothing was skipped."""
        return not self.skipped and not any(verdict.violated for verdict in self.runs)


@click.command(short_help="Check the order in recorded traces.")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    default=AUTO,
    show_default=True,
    help=f"Who reads: Spark, or this process alone; auto: Spark from {PLAIN_MAX:,} records on, if there is Java.",
)
@click.option("--exact", is_flag=True, help="Compare every record, not digests of blocks (Spark).")
@click.option("--master", metavar="URL", help="Where Spark runs; by default on all cores of this machine.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
@click.pass_context
def command(ctx: click.Context, directory: Path, engine: str, exact: bool, master: str | None, as_json: bool) -> None:
    """Check every promise of a group on the traces (*.parquet) in DIR and below it, of simulations or of live sites.

    Each run in DIR is judged by itself: total order, gaps, FIFO and causal order, duplicates, creation, virtual
    synchrony, views, what is final, safe delivery; and that nothing is lost, if the run had come to rest. A violation
    names sites, view, positions and messages. Exit code 1 if there is any, or if a file had to be skipped because it
    is torn or no trace.

    Traces of any size are judged on Spark, which needs Java 17; short ones by this process alone, which is sooner
    than Java starts. The verdict is the same.

    \b
    Record a run, and check it:
      ordercast simulate examples/aws5.toml --trace traces
      ordercast audit traces
    """
    if engine == PLAIN and (exact or master):
        raise WrongUse("--exact and --master are for Spark: leave out --engine plain")
    findings = examine(directory, SPARK if exact or master else engine, exact=exact, master=master)
    if as_json:
        print_json(findings)
    else:
        _show(findings)
    if not findings.good:
        ctx.exit(BAD_ANSWER)


def examine(directory: Path, engine: str = PLAIN, *, exact: bool = False, master: str | None = None) -> Findings:
    """Judge all runs below a directory."""
    from ordercast.records.runs import find_traces

    traces = find_traces(directory)
    rows = sum(file.rows for file in traces.files)
    if engine == SPARK or (engine == AUTO and rows >= PLAIN_MAX and _has_spark()):
        return _examine_on_spark(traces, exact, master)
    skipped = [str(error) for error in traces.bad]
    verdicts = []
    for run in traces.runs:
        verdict = _judge(run, traces.of(run), skipped)
        if verdict is not None:
            verdicts.append(verdict)
    return Findings(verdicts, list(dict.fromkeys(skipped)))


def _has_spark() -> bool:
    """Whether Spark can start here; if not, what it lacks is said, and this process does it alone."""
    from ordercast.pipeline.session import need_java

    try:
        need_java()
    except NotFit as error:
        remark(f"without Spark, which would be sooner done: {error}")
        return False
    return True


def _examine_on_spark(traces: Traces, exact: bool, master: str | None) -> Findings:
    from ordercast.pipeline.audit.directory import audit_traces
    from ordercast.pipeline.session import spark_session

    with spark_session(master=master) as session:
        verdicts, skipped = audit_traces(session, traces, exact=exact)
    return Findings(verdicts, skipped)


def _judge(run: str, files: list[TraceFile], skipped: list[str]) -> Verdict | None:
    """The verdict on a run, without the files that turn out to be torn as they are read; None if none is left."""
    from ordercast.records.runs import records_of
    from ordercast.records.traces import BadTraceFile

    while files:
        try:
            records = records_of(run, files)
            if sys.stderr.isatty():
                records = _with_progress(records, run, sum(file.rows for file in files))
            return audit(records, run)
        except BadTraceFile as error:
            skipped.append(str(error))
            files = [file for file in files if file.path != error.path]
    return None


def _with_progress(records: Iterable[TraceRecord], run: str, total: int) -> Iterator[TraceRecord]:
    """The same records; how many have gone by is shown on the error output."""
    began_s = next_s = time.monotonic()
    for count, record in enumerate(records):
        if count % RECORDS_PER_LOOK == 0 and time.monotonic() >= next_s:
            next_s = time.monotonic() + PROGRESS_EVERY_S
            speed = count / max(next_s - PROGRESS_EVERY_S - began_s, 1e-3)
            click.echo(f"\r\033[K{run}: {count:,} of {total:,} records, {speed:,.0f} a second", err=True, nl=False)
        yield record
    click.echo("\r\033[K", err=True, nl=False)


# --- tables ---


def _show(findings: Findings) -> None:
    out = console()
    if findings.runs:
        table = new_table("", "run", "records", "lives", "views", "deliveries", "positions", "violations")
        for verdict in findings.runs:
            counts = (verdict.records, verdict.lives, verdict.views, verdict.deliveries, verdict.positions)
            violations = sum(verdict.violated.values())
            table.add_row(escape(verdict.run), *(f"{count:,}" for count in (*counts, violations)))
        out.print(table)
    for verdict in findings.runs:
        _show_verdict(out, verdict)
    for what in findings.skipped:
        out.print(f"[bold red]skipped[/bold red]: {escape(what)}", soft_wrap=True)
    if findings.good:
        out.print("[bold green]good[/bold green]: no violation")


def _show_verdict(out: Console, verdict: Verdict) -> None:
    name = escape(verdict.run)
    for violation in verdict.violations:
        out.print(f"[bold red]violated[/bold red] in {name}: {escape(str(violation))}", soft_wrap=True)
    for promise, count in verdict.violated.items():
        shown = sum(1 for violation in verdict.violations if violation.property == promise)
        if count > shown:
            out.print(f"and {count - shown:,} more of {promise} in {name}")
    for what in verdict.remarks:
        remark(f"{verdict.run}: {what}")
