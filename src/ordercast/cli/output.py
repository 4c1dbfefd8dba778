"""How commands show their results: tables for people, JSON for programs, progress on a terminal only."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click
import msgspec
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ordercast.simulator.observer import Observer

if TYPE_CHECKING:
    from ordercast.core.ids import SiteId
    from ordercast.core.messages import Bundle

PIPE_WIDTH = 200
"""Columns where there is no terminal: enough that no table is cut."""

ROWS_MAX = 40
"""So many sites have a line of their own in a table."""

PROGRESS_EVERY_S = 0.2
"""Real time between two lines of progress."""


def print_json(value: msgspec.Struct) -> None:
    """One object, the same bytes for equal values."""
    click.echo(msgspec.json.format(msgspec.json.encode(value), indent=2))


def plain(value: Any) -> Any:
    """With names for all fields, also of types that travel without them."""
    if isinstance(value, msgspec.Struct):
        return {name: plain(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


class Output(Console):
    """Leaves a broken pipe to the command, which knows the right exit code."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def console() -> Console:
    """Where tables go."""
    return Output(width=None if sys.stdout.isatty() else PIPE_WIDTH, highlight=False)


def new_table(title: str, label: str, *columns: str) -> Table:
    """A table with a label to the left and numbers to the right."""
    table = Table(title=escape(title), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(escape(label), overflow="fold")
    for column in columns:
        table.add_column(escape(column), justify="right")
    return table


def number(value: float | None, digits: int = 1) -> str:
    """A figure, or a dash where it does not apply."""
    return "-" if value is None else f"{value:,.{digits}f}"


def ratio(value: float | None, limit: float | None) -> str:
    """How many times the limit; a dash where that means nothing."""
    return number(value / limit, 2) if value is not None and limit else "-"


def remark(text: str) -> None:
    """Something the user should know that is not part of the result."""
    click.echo(text, err=True)


@contextmanager
def counting(name: str) -> Iterator[Callable[[int, int], None] | None]:
    """How many runs of how many are done: a bar on a terminal; nothing in a pipe."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn(name), BarColumn(), MofNCompleteColumn(), TextColumn("runs,"), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


class Progress(Observer):
    """Virtual time on the error output while a run goes on."""

    def __init__(self, duration_s: float) -> None:
        self._duration_s = duration_s
        self._next_s = time.monotonic() + PROGRESS_EVERY_S

    def on_multicast(self, at_us: int, site: SiteId, bundle: Bundle) -> None:
        now_s = time.monotonic()
        if now_s >= self._next_s:
            self._next_s = now_s + PROGRESS_EVERY_S
            click.echo(f"\r{at_us / 1e6:.1f} s of {self._duration_s:g} s", err=True, nl=False)

    def on_traffic_end(self, at_us: int) -> None:
        click.echo("\r\033[K", err=True, nl=False)
