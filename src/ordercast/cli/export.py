"""`ordercast export`: a site's ordered log as Parquet files, each position exactly once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ordercast.cli.following import followed
from ordercast.cli.on_spark import SparkChoice, spark_choice, spark_options
from ordercast.cli.output import print_json

if TYPE_CHECKING:
    from ordercast.pipeline.streaming.export import ExportChoice, Exported


@click.command("export", short_help="Write an ordered log to Parquet, exactly once.")
@click.argument("log", metavar="LOGDIR", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Where the files go.")
@click.option("--follow", is_flag=True, help="Go on as the log grows, until Ctrl-C.")
@click.option("--every", "every_s", default=1.0, show_default=True, metavar="SECONDS",
              type=click.FloatRange(0), help="With --follow: how often to look for more.")  # fmt: skip
@click.option("--from", "start", default="earliest", show_default=True, metavar="POSITION",
              help="Where a new directory begins: a position, earliest or latest.")  # fmt: skip
@click.option("--messages", is_flag=True, help="Only what participants are given: no control entries, nothing void.")
@click.option("--group", help="Only this group of participants.")
@click.option("--tasks", type=click.IntRange(1), help="By how many tasks a batch is read.  [default: by its size]")
@click.option("--batch", "batch_positions_max", default=1_000_000, show_default=True, type=click.IntRange(1),
              help="Positions in a batch, at most.")  # fmt: skip
@spark_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object at the end.")
def command(
    log: Path,
    out: Path,
    follow: bool,
    every_s: float,
    start: str,
    messages: bool,
    group: str | None,
    tasks: int | None,
    batch_positions_max: int,
    master: str | None,
    conf: tuple[str, ...],
    as_json: bool,
) -> None:
    """Write what is final in LOGDIR, a site's ordered log, to Parquet files: a row for each position.

    The site may run. Each position is written exactly once, however often the export is stopped or killed: the same
    command goes on where it was. A batch counts once its manifest is there; programs read the files that OUT/manifest
    names, Spark by ordercast.pipeline.read_sink(spark, OUT).

    \b
    What a site has ordered until now, and later what has come since:
      ordercast export data/lis1 --out orders
      ordercast export data/lis1 --out orders
    The messages of one group, as they come:
      ordercast export data/lis1 --out orders --messages --group orders --follow

    The columns are described in docs/ordered-log.md, the directory in docs/pipeline.md.
    """
    from ordercast.pipeline.streaming.export import ExportChoice, exported

    choice = ExportChoice(log=str(log.absolute()), rows="messages" if messages else "all", group=group)
    pace = {"start": start, "tasks": tasks, "batch_positions_max": batch_positions_max}
    _export(choice, out, pace | {"every_s": every_s if follow else None}, spark_choice(master, conf))
    done = exported(out)
    if as_json:
        print_json(done)
    else:
        _show(done)


def _export(choice: ExportChoice, out: Path, pace: dict[str, Any], spark: SparkChoice) -> None:
    from ordercast.pipeline.streaming.export import exporting
    from ordercast.pipeline.streaming.mistakes import in_one_line

    with spark.session() as session, in_one_line(), exporting(session, choice, out, **pace) as query:
        followed(query, lambda: _progress(query.lastProgress), endless=pace["every_s"] is not None)


def _progress(progress: Any) -> str:
    """How far the newest batch has come."""
    if progress is None:
        return "starting"
    (source,) = progress.sources
    return f"batch {progress.batchId}, up to {source.endOffset}, {progress.processedRowsPerSecond:,.0f} rows/s"


def _show(done: Exported) -> None:
    if done.rows == 0:
        click.echo(f"{done.directory}: nothing yet; nothing of what was asked for is final in the log")
        return
    where = "" if done.first is None else f", positions {done.first:,} to {done.last:,}"
    click.echo(f"{done.directory}: {done.rows:,} rows{where}, in {done.files:,} files of {done.batches:,} batches")
