"""How a grid of runs is run: over a pool of processes, one run per process at a time."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any

from ordercast.core.errors import NotFit
from ordercast.simulator.load import mean_rates
from ordercast.simulator.scenario import Scenario, from_table
from ordercast.verify.run import RunResult, run

Point = tuple[int, dict[str, Any]]
"""A key, and the scenario to run, as nested tables."""


def run_grid(points: Sequence[Point], workers: int | None = None) -> Iterator[tuple[int, RunResult]]:
    """Run every point and yield its key and result as soon as it is there: in no particular order."""
    scenarios = [(key, from_table(table, f"run {key} of the grid")) for key, table in points]
    scenarios.sort(key=lambda point: -_work(point[1]))
    workers = min(workers or os.cpu_count() or 1, len(scenarios))
    if workers <= 1:
        yield from map(_run, scenarios)
    else:
        yield from _in_pool(scenarios, workers)


def _work(scenario: Scenario) -> float:
    """Roughly how many messages arrive: long runs go first, so that no process ends with one all alone."""
    topology = scenario.topology()
    return sum(mean_rates(scenario, topology)) * scenario.duration_s * len(topology.names)


def _run(point: tuple[int, Scenario]) -> tuple[int, RunResult]:
    key, scenario = point
    return key, run(scenario)


def _in_pool(scenarios: Sequence[tuple[int, Scenario]], workers: int) -> Iterator[tuple[int, RunResult]]:
    pool = ProcessPoolExecutor(workers, get_context("spawn"), initializer=_leave_interrupts_to_the_parent)
    try:
        for future in as_completed([pool.submit(_run, point) for point in scenarios]):
            yield future.result()
    except BrokenProcessPool as error:
        raise NotFit("a worker process was killed, perhaps for want of memory: run it again with more") from error
    finally:
        pool.shutdown(cancel_futures=True)


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
