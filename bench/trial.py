"""Trials of real daemons under faults, kills and changes of ordering (`bench.trials`)."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import click
import msgspec

from bench.trials import report
from bench.trials.faults import run_faults
from bench.trials.field import OUT
from bench.trials.kills import run_kills
from bench.trials.ordering import run_ordering

FSYNC = click.Choice(["always", "interval", "never"])


@click.group("trial", short_help="Real daemons under faults, kills and changes of ordering: is all as promised?")
def command() -> None:
    """Real daemons on this machine under faults, kills and changes of ordering, with load and receipts.

    What was multicast, seen, recorded and stored is judged in the end; everything stays in the directory OUT. Exit
    code 1 if anything is lost or doubled, if any two disagree, or if the audit of the traces finds a violation.
    """


def options(fsync: str, rate: float, name: str) -> Callable[[Any], Any]:
    """What all trials have."""

    def add(function: Any) -> Any:
        for option in (
            click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table."),
            click.option("--out", type=click.Path(path_type=Path), default=OUT / name, show_default=True),
            click.option("--rate", default=rate, show_default=True, help="Multicasts a second at each site."),
            click.option("--fsync", type=FSYNC, default=fsync, show_default=True, help="Of the ordered logs."),
            click.option("--seed", default=1, show_default=True),
        ):
            function = option(function)
        return function

    return add


@command.command("faults")
@click.option("--minutes", default=10.0, show_default=True)
@options("interval", 20.0, "faults")
def faults(minutes: float, seed: int, fsync: str, rate: float, out: Path, as_json: bool) -> None:
    """Five daemons: kills, pauses, partitions, restarts and changes of ordering, drawn from the seed."""
    _tell(run_faults(out, minutes * 60, seed, fsync, rate), report.show_faults, as_json)


@command.command("kills")
@click.option("--count", default=300, show_default=True)
@options("always", 50.0, "kills")
def kills(count: int, seed: int, fsync: str, rate: float, out: Path, as_json: bool) -> None:
    """Three daemons: a random one is killed at a random moment and started again, so many times."""
    _tell(run_kills(out, count, seed, fsync, rate), report.show_kills, as_json)


@command.command("ordering")
@click.option("--count", default=10, show_default=True)
@options("interval", 50.0, "ordering")
def ordering(count: int, seed: int, fsync: str, rate: float, out: Path, as_json: bool) -> None:
    """Five daemons: so many changes of ordering under load, and the pause that each makes."""
    _tell(run_ordering(out, count, seed, fsync, rate), report.show_ordering, as_json)


def _tell(trial: Coroutine[Any, Any, Any], show: Callable[[Any], None], as_json: bool) -> None:
    result = asyncio.run(trial)
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(result)))
    else:
        show(result)
    if result.trial.problems:
        sys.exit(1)
