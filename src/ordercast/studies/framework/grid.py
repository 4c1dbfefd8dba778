"""How a grid of runs is run. A `Runner` is whatever runs one; by default `run_grid`, a pool of processes."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import Any, NamedTuple

from ordercast.core.errors import NotFit
from ordercast.simulator.load import expected_arrivals
from ordercast.simulator.observer import MakeMeasure
from ordercast.simulator.scenario import Scenario, from_table
from ordercast.verify.run import RunResult, run

Point = tuple[int, dict[str, Any]]
"""A key, and the scenario to run, as nested tables."""


class Ran(NamedTuple):
    """What came of one point."""

    result: RunResult
    figures: Mapping[str, float]


Runner = Callable[[Sequence[Point], MakeMeasure | None], Iterator[tuple[int, Ran]]]
"""Runs every point once and yields its key and what came of it, as soon as it is there: in no particular order."""


def run_grid(
    points: Sequence[Point], measure: MakeMeasure | None = None, workers: int | None = None
) -> Iterator[tuple[int, Ran]]:
    """The `Runner` that needs nothing but this machine: so many processes, by default one for each of its cores."""
    scenarios = [(key, from_table(table, f"run {key} of the grid")) for key, table in points]
    scenarios.sort(key=lambda point: -expected_arrivals(point[1]))  # so that no process ends with a long run alone
    workers = min(workers or os.cpu_count() or 1, len(scenarios))
    if workers <= 1:
        yield from (_run(point, measure) for point in scenarios)
    else:
        yield from _in_pool(scenarios, workers, measure)


def _run(point: tuple[int, Scenario], make_measure: MakeMeasure | None) -> tuple[int, Ran]:
    key, scenario = point
    if make_measure is None:
        return key, Ran(run(scenario), {})
    measure = make_measure()
    result = run(scenario, observers=(measure,))
    return key, Ran(result, measure.figures())


def _in_pool(
    scenarios: Sequence[tuple[int, Scenario]], workers: int, measure: MakeMeasure | None
) -> Iterator[tuple[int, Ran]]:
    pool = ProcessPoolExecutor(workers, get_context("spawn"), initializer=_end_with_the_parent)
    try:
        for future in as_completed([pool.submit(_run, point, measure) for point in scenarios]):
            yield future.result()
    except BrokenProcessPool as error:
        raise NotFit("a worker process was killed, perhaps for want of memory: run it again with more") from error
    finally:
        pool.shutdown(cancel_futures=True)


def _end_with_the_parent() -> None:
    """Interrupts are the parent's business, and a worker whose parent is gone would go on, and then wait for ever."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_exit_after_the_parent, daemon=True).start()


def _exit_after_the_parent() -> None:
    parent = parent_process()
    assert parent is not None, "only workers of a pool come here"
    parent.join()
    os._exit(1)
