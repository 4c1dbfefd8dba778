"""Waiting for a streaming query: progress on a terminal, and Ctrl-C as the end of what would go on for ever."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from ordercast.cli.output import PROGRESS_EVERY_S

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery


def followed(
    query: StreamingQuery, progress: Callable[[], str], *, endless: bool, done: Callable[[], bool] = lambda: False
) -> None:
    """Wait until it has ended, or is `done`. Of an `endless` one Ctrl-C is the end, and no error."""
    shown = sys.stderr.isatty()
    try:
        while not query.awaitTermination(PROGRESS_EVERY_S) and not done():  # type: ignore[arg-type]
            if shown:
                click.echo(f"\r\033[K{progress()}", err=True, nl=False)
    except KeyboardInterrupt:
        if not endless:
            raise
    finally:
        if shown:
            click.echo("\r\033[K", err=True, nl=False)
