"""A site's ordered log, or a choice of it, as Parquet files in a directory, once or as it grows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from ordercast.core.errors import NotFit, WrongUse
from ordercast.pipeline import register
from ordercast.pipeline.streaming.options import BATCH_POSITIONS_MAX, EARLIEST
from ordercast.pipeline.streaming.sink import exactly_once, manifests

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

CHOICE = "export.json"


class ExportChoice(Struct, frozen=True, kw_only=True):
    """What goes into the directory. It is kept there: whoever goes on must choose the same."""

    log: str
    rows: str = "all"
    group: str | None = None


class Exported(Struct, frozen=True):
    """What a directory holds, as `--json` prints it."""

    directory: str
    batches: int
    files: int
    rows: int
    first: int | None
    """The lowest position in it."""
    last: int | None


@contextmanager
def exporting(
    spark: SparkSession,
    choice: ExportChoice,
    directory: Path,
    *,
    start: str = EARLIEST,
    tasks: int | None = None,
    batch_positions_max: int = BATCH_POSITIONS_MAX,
    every_s: float | None = None,
) -> Iterator[StreamingQuery]:
    """The query that writes what is final now, and ends; or, with `every_s`, looks for more so often and goes on.

    A directory that has been begun is gone on with. `start` counts for a new one only.
    """
    _keep(choice, directory)
    register(spark)
    options: dict[str, Any] = {"startingPosition": start, "maxPositionsPerBatch": batch_positions_max}
    options |= {"rows": choice.rows, "group": choice.group, "numTasks": tasks}
    given = {name: value for name, value in options.items() if value is not None}
    stream = spark.readStream.format("ordercast").options(**given).load(choice.log)
    writer = exactly_once(stream, directory)
    if every_s is None:
        query = writer.trigger(availableNow=True).start()
    else:
        query = writer.trigger(processingTime=f"{every_s} seconds").start()
    try:
        yield query
    finally:
        query.stop()


def exported(directory: Path) -> Exported:
    """What is in, by the manifests."""
    held = list(manifests(directory))
    files = [file for manifest in held for file in manifest.files]
    firsts = [file.first for file in files if file.first is not None]
    lasts = [file.last for file in files if file.last is not None]
    return Exported(
        directory=str(directory),
        batches=len(held),
        files=len(files),
        rows=sum(manifest.rows for manifest in held),
        first=min(firsts, default=None),
        last=max(lasts, default=None),
    )


def _keep(choice: ExportChoice, directory: Path) -> None:
    path = directory / CHOICE
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            if any(directory.iterdir()):
                raise WrongUse(f"{directory}: holds other things; name a directory that is new, or one to go on with")
            path.write_bytes(msgspec.json.format(msgspec.json.encode(choice)))
        kept = msgspec.json.decode(path.read_bytes(), type=ExportChoice)
    except (OSError, msgspec.DecodeError) as error:
        raise NotFit(f"{path}: cannot be used ({error})") from error
    for name in ExportChoice.__struct_fields__:
        was, now = getattr(kept, name), getattr(choice, name)
        if was != now:
            raise WrongUse(f"{directory}: was begun with {name} {was!r}, not {now!r}; use another directory")
