"""How soon a watch reports a violation that is planted into the log of one of three sites."""

from __future__ import annotations

import time
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING

from bench.log import Load
from ordercast.core.entries import Entry
from ordercast.site.storage.ordered_log import OrderedLog

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOAD = Load(10, 64)
SITES = 3
PATIENCE_S = 120.0


def report_s(spark: SparkSession, before: int, place: Path) -> float:
    """From the moment when the odd entry is durable, after so many that agree, to the report."""
    from ordercast.pipeline.streaming.watch import Watch

    with ExitStack() as stack:
        logs = [stack.enter_context(closing(OrderedLog.open(place / f"site{number}"))) for number in range(SITES)]
        for log in logs:
            for index in range(before):
                _append(log, LOAD.entry(index))
        watch = Watch({log.directory.name: log.directory for log in logs})
        with watch.following(spark) as query:
            query.processAllAvailable()
            assert watch.comparison.compared == before * LOAD.bodies
            odd = b"not what the others have"
            for log in logs:
                _append(log, LOAD.entry(before, odd if log is logs[-1] else None))
            begin_s = time.perf_counter()
            assert watch.found.wait(PATIENCE_S), "the violation is not found"
            return time.perf_counter() - begin_s


def _append(log: OrderedLog, entry: Entry) -> None:
    log.append(entry)
    log.finalize(entry.end)
    assert log.wait(log.written, PATIENCE_S)
