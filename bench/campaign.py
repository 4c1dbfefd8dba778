"""How many simulations a minute Spark does, beside a plain pool of processes that does the same ones in the same run.

Both run the same grid, again and again in turns, on the same number of cores; each starts its workers anew in every
round, and that counts. Spark also writes every result to disk; the pool returns it. What it takes to start the
session is told apart: a program pays it once. What is left of Spark's throughput beside the pool's is its
*efficiency*, and the median over the rounds is what counts.
"""

from __future__ import annotations

import json
import os
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from msgspec import to_builtins
from tools.spark_workers import kill_a_worker

from ordercast.pipeline.campaign.job import run_campaign
from ordercast.pipeline.campaign.plan import Plan, planned
from ordercast.pipeline.campaign.results import digest_of
from ordercast.pipeline.session import spark_session
from ordercast.simulator.scenario import from_table
from ordercast.studies.framework.grid import run_grid

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PROTOCOLS = ("token-site", "symmetric", "hybrid", "dynamic-hybrid")
RATES = (20, 50, 100, 200, 400)
"""Messages per second of a busy site: so runs differ by a factor of twenty."""


class Round(NamedTuple):
    """One grid by both, in seconds."""

    pool_s: float
    spark_s: float

    @property
    def efficiency(self) -> float:
        """Spark's throughput beside the pool's."""
        return self.pool_s / self.spark_s


def plan_of(runs: int, duration_s: float) -> Plan:
    """So many runs, of every protocol at every rate, each with a seed of its own."""
    cases = [(protocol, rate) for protocol in PROTOCOLS for rate in RATES]
    made = []
    for number in range(runs):
        protocol, rate = cases[number % len(cases)]
        made.append(planned(from_table(_table(protocol, rate, duration_s)), {}, number // len(cases)))
    return Plan(tuple(made))


def _table(protocol: str, rate: float, duration_s: float) -> dict[str, Any]:
    lans = [{"name": "west", "sites": ["A", "B", "C"], "delay_ms": 20.0, "variance": 0.05}]
    lans.append({"name": "east", "sites": ["D", "E"], "delay_ms": 20.0, "variance": 0.05})
    return {
        "duration_s": duration_s,
        "protocol": {"name": protocol},
        "lan": lans,
        "wan": [{"between": ["west", "east"], "delay_ms": 100.0, "variance": 0.4}],
        "traffic": [{"sites": ["A", "D"], "rate": rate}, {"sites": ["B", "C", "E"], "rate": 5.0}],
    }


def timed(work: Callable[[], object]) -> float:
    """Real time: that is what the user waits."""
    began_s = time.perf_counter()
    work()
    return time.perf_counter() - began_s


def by_pool(plan: Plan, workers: int) -> None:
    """The plain way."""
    points = [(key, to_builtins(scenario)) for key, scenario in enumerate(plan.distinct.values())]
    assert sum(1 for _ in run_grid(points, workers=workers)) == len(points)


def by_spark(session: SparkSession, plan: Plan) -> str:
    """Into a new directory, so that nothing is finished yet; the digest of all results."""
    with TemporaryDirectory(prefix="campaign-") as directory:
        return digest_of(run_campaign(session, plan.distinct, Path(directory)))


@contextmanager
def losing_workers(every_s: float, killed: list[int]) -> Iterator[None]:
    """Kill a Python worker every so often, as long as this lasts."""
    ended = Event()

    def kill() -> None:
        while not ended.wait(every_s):
            pid = kill_a_worker(os.getpid())
            killed.extend([pid] if pid is not None else [])

    thread = Thread(target=kill, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@click.command(short_help="Simulations on Spark beside a plain pool of processes; with --kill-every-s, under losses.")
@click.option("--runs", default=2000, show_default=True)
@click.option("--rounds", default=3, show_default=True)
@click.option("--duration-s", default=10.0, show_default=True, help="Of each run, in virtual time.")
@click.option("--workers", default=os.cpu_count() or 1, show_default=True)
@click.option("--kill-every-s", type=float, help="Instead: kill a Python worker so often, and compare the results.")
def command(runs: int, rounds: int, duration_s: float, workers: int, kill_every_s: float | None) -> None:
    """Run the same grid by a pool and by Spark in turns; print every round, and the median efficiency."""
    plan = plan_of(runs, duration_s)
    began_s = time.perf_counter()
    with spark_session(master=f"local[{workers},4]") as session:
        session.range(1).count()
        click.echo(f"session: {time.perf_counter() - began_s:.1f} s until its first job is done")
        if kill_every_s is not None:
            _under_losses(session, plan, kill_every_s)
            return
        by_spark(session, plan_of(2 * workers, duration_s))
        measured = [_round(session, plan, workers, number) for number in range(rounds)]
    _print(measured, runs)


def _round(session: SparkSession, plan: Plan, workers: int, number: int) -> Round:
    """Whoever goes first in one round goes second in the next."""
    works: dict[str, Callable[[], object]] = {
        "pool_s": partial(by_pool, plan, workers),
        "spark_s": partial(by_spark, session, plan),
    }
    names = list(works) if number % 2 == 0 else list(reversed(works))
    took_s = {name: timed(works[name]) for name in names}
    measured = Round(took_s["pool_s"], took_s["spark_s"])
    click.echo(f"pool {measured.pool_s:.1f} s, Spark {measured.spark_s:.1f} s: {measured.efficiency:.0%}")
    return measured


def _under_losses(session: SparkSession, plan: Plan, kill_every_s: float) -> None:
    usual = by_spark(session, plan)
    killed: list[int] = []
    with losing_workers(kill_every_s, killed):
        lossy = by_spark(session, plan)
    click.echo(f"{len(killed)} workers killed; digests {usual} and {lossy}")
    if not killed or usual != lossy:
        raise SystemExit("no worker was killed" if not killed else "the results differ")


def _print(measured: list[Round], runs: int) -> None:
    pool_s = statistics.median(each.pool_s for each in measured)
    spark_s = statistics.median(each.spark_s for each in measured)
    figures = {
        "runs": runs,
        "pool_runs_per_s": round(runs / pool_s, 1),
        "spark_runs_per_s": round(runs / spark_s, 1),
        "efficiency": round(statistics.median(each.efficiency for each in measured), 3),
    }
    click.echo(json.dumps(figures))
