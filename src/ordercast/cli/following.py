"""Waiting for a streaming query: progress on a terminal, and Ctrl-C as the end of what would go on for ever."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
    with _interrupted() as interrupted:
        while query.isActive and not done() and not interrupted.wait(PROGRESS_EVERY_S):
            if shown:
                click.echo(f"\r\033[K{progress()}", err=True, nl=False)
    if shown:
        click.echo("\r\033[K", err=True, nl=False)
    if interrupted.is_set() and not endless:
        query.stop()
        raise KeyboardInterrupt
    if not query.isActive:
        query.awaitTermination()  # what it has failed of is raised


@contextmanager
def _interrupted() -> Iterator[threading.Event]:
    """Set by Ctrl-C, which here interrupts nothing: in the midst of a call to Java it would leave a torn answer."""
    event = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield event
        return
    before = signal.signal(signal.SIGINT, lambda number, frame: event.set())
    try:
        yield event
    finally:
        signal.signal(signal.SIGINT, before)
