"""A campaign's results as a DataFrame, and summaries of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ordercast.core.errors import NotFit, WrongUse
from ordercast.pipeline.campaign.plan import Label, Plan
from ordercast.pipeline.campaign.results import RESULTS, result_schema
from ordercast.records.whole_files import whole_file

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

GRID = "grid.parquet"
"""Which runs a campaign consists of, by label: the results alone do not know."""

PLACE = "place"

NORMAL_95 = 1.96
"""Standard errors to either side of a mean within which the true one lies 19 times out of 20."""


def write_grid(directory: Path, plan: Plan) -> None:
    """Say which runs belong to the campaign, in which order, under which labels."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    columns: dict[str, Any] = {
        column: _typed([each.labels.get(label) for each in plan.runs]) for label, column in label_columns(plan).items()
    }
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with whole_file(directory / GRID) as unfinished:
            runs = [each.run for each in plan.runs]
            parquet.write_table(pa.table({"run": runs, PLACE: range(len(runs)), **columns}), unfinished)
    except OSError as error:
        raise NotFit(f"{directory / GRID}: cannot be written ({error.strerror or error})") from error


def label_columns(plan: Plan) -> dict[str, str]:
    """The labels of the grid, and the columns that they are in: one that the results have, too, is told apart."""
    taken = (PLACE, *result_schema().names)
    labels = dict.fromkeys(label for each in plan.runs for label in each.labels)
    return {label: f"grid_{label}" if label in taken else label for label in labels}


def _typed(values: Sequence[Label | None]) -> list[Any]:
    """Values of one type, so that they make a column: numbers if all are, else text."""
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) <= 1:
        return list(values)
    if kinds == {int, float}:
        return [None if value is None else float(value) for value in values]
    return [None if value is None else str(value) for value in values]


def read_campaign(session: SparkSession, directory: Path) -> DataFrame:
    """A row for each run of the grid that is finished, in the order of the grid: labels, then figures and verdict."""
    if not (directory / GRID).exists():
        raise WrongUse(f"{directory}: no campaign is there; ordercast campaign GRID.toml --out {directory} runs one")
    grid = session.read.parquet(str(directory / GRID))
    results = session.read.schema(_spark_schema()).parquet(str(directory / RESULTS))
    return grid.join(results, "run").orderBy(PLACE)


def _spark_schema() -> Any:
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(result_schema())


# --- summaries ---


def summary(runs: DataFrame, *labels: str) -> DataFrame:
    """For each combination of labels: how many runs, how many are not good, the mean latency with the half-width of
    its 95 % interval over the runs, the worst 99th percentile, and how many times the limit the mean is."""
    from pyspark.sql import functions as f

    mean = f.avg("last_mean_ms")
    figures: list[Column] = [
        f.min(PLACE).alias(PLACE),
        f.count("*").alias("runs"),
        f.count_if(~f.col("good")).alias("bad"),
        mean.alias("last_mean_ms"),
        (NORMAL_95 * f.stddev("last_mean_ms") / f.sqrt(f.count("last_mean_ms"))).alias("last_mean_ms_within"),
        f.max("last_p99_ms").alias("last_p99_ms"),
        (mean / f.avg("limit_last_ms")).alias("times_limit"),
    ]
    return runs.groupBy(*labels).agg(*figures).orderBy(PLACE).drop(PLACE)


def bad_runs(runs: DataFrame) -> DataFrame:
    """The runs in which something was violated or stalled."""
    from pyspark.sql import functions as f

    return runs.where(~f.col("good"))
