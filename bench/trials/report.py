"""The results of trials as tables."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from bench.trials.faults import FaultsResult
from bench.trials.field import Result
from bench.trials.kills import KillsResult
from bench.trials.ordering import OrderingResult
from bench.trials.recovery import Times

WIDTH = 140


def show_faults(result: FaultsResult) -> None:
    """With the times to recover."""
    console = _console()
    title = "Seconds until deliveries flow again: from the beginning at the sites that are not hit, from the end at all"
    table = Table("fault", title=title, title_justify="left", box=SIMPLE_HEAD)
    headings = ("count", "others, p50", "max", "all, p50", "max", "not measured")
    for heading in headings:
        table.add_column(heading, justify="right")
    for row in result.kinds:
        unmeasured = sum(times.unmeasured for times in (row.others, row.all) if times is not None)
        table.add_row(row.kind, str(row.count), *_times(row.others), *_times(row.all), str(unmeasured))
    console.print(table)
    if result.unanswered_changes:
        console.print(f"{result.unanswered_changes} changes of ordering were not answered")
    _show(console, result.trial)


def _times(times: Times | None) -> tuple[str, str]:
    if times is None or times.p50_s is None or times.max_s is None:
        return "-", "-"
    return f"{times.p50_s:.2f}", f"{times.max_s:.2f}"


def show_kills(result: KillsResult) -> None:
    """With their number."""
    console = _console()
    console.print(
        f"{result.kills} kills, {result.seconds_per_kill:.2f} s each; {result.all_at_once} times all sites at once"
    )
    _show(console, result.trial)


def show_ordering(result: OrderingResult) -> None:
    """With the pauses."""
    console = _console()
    title = "The longest time without a delivery at some site, ms"
    table = Table("change to", title=title, title_justify="left", box=SIMPLE_HEAD)
    for heading in ("in the seconds before", "in those after"):
        table.add_column(heading, justify="right")
    for change in result.changes:
        table.add_row(change.ordering, f"{change.steady_gap_s * 1e3:.0f}", f"{change.pause_s * 1e3:.0f}")
    console.print(table)
    _show(console, result.trial)


def _console() -> Console:
    return Console(highlight=False, width=WIDTH)


def _show(console: Console, result: Result) -> None:
    console.print(
        f"{result.seconds:.0f} s, {result.multicasts:,} multicasts ({result.repeated:,} repeated), "
        f"{result.receipts:,} final receipts, {result.deliveries:,} deliveries ({result.retracted:,} retracted), "
        f"{result.positions:,} positions, {result.records:,} trace records"
    )
    for problem in result.problems:
        console.print(f"[bold red]wrong[/bold red]: {escape(problem)}", soft_wrap=True)
    if not result.problems:
        console.print("[bold green]good[/bold green]: nothing lost, nothing doubled, one order everywhere, audit clean")
