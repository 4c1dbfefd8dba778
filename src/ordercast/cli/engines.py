"""What runs the grids of studies: a pool of processes here, or Spark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ordercast.cli.on_spark import SparkChoice

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from ordercast.simulator.observer import MakeMeasure
    from ordercast.studies.framework.grid import Point, Ran, Runner

POOL, SPARK = "pool", "spark"


@contextmanager
def engine(name: str, directory: Path, spark: SparkChoice) -> Iterator[Runner]:
    """A `Runner` by its name. Spark keeps results in the directory, and does not run again what is finished there."""
    from ordercast.studies.framework.grid import run_grid

    if name == POOL:
        yield run_grid
        return
    with spark.session() as session:
        yield on_spark(session, directory)


def on_spark(session: SparkSession, directory: Path) -> Runner:
    """The `Runner` whose runs are tasks of Spark."""
    from ordercast.pipeline.campaign.job import run_campaign
    from ordercast.pipeline.campaign.plan import identity, in_order_of_work
    from ordercast.pipeline.campaign.work import name_of
    from ordercast.simulator.scenario import from_table
    from ordercast.studies.framework.grid import Ran

    def run(points: Sequence[Point], measure: MakeMeasure | None = None) -> Iterator[tuple[int, Ran]]:
        scenarios = {key: from_table(table, f"run {key} of the grid") for key, table in points}
        names = {key: identity(scenario, name_of(measure)) for key, scenario in scenarios.items()}
        distinct = in_order_of_work({names[key]: scenario for key, scenario in scenarios.items()})
        for outcome in run_campaign(session, distinct, directory, measure=measure):
            ran = Ran(outcome.row.whole(), outcome.figures)
            yield from ((key, ran) for key, name in names.items() if name == outcome.row.run)

    return run
