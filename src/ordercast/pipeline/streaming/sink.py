"""A directory of Parquet files that takes each batch of a stream exactly once.

```
 OUT/checkpoint/                  Spark's own: which offsets each batch has
 OUT/data/000000/0000000017-…/    what an attempt at batch 17 has written
 OUT/manifest/0000000017.json     batch 17 is in: its files, their rows and positions
```

A batch is in once its manifest is, and that appears at once, under its name, if no other is there. What is not named
in a manifest counts for nothing: what an attempt left whose driver was killed goes when the batch comes again. A batch
that comes again after its manifest changes nothing. So the driver may be killed at any moment.
"""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from ordercast.core.errors import NotFit, WrongUse

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

CHECKPOINT = "checkpoint"
DATA = "data"
MANIFEST = "manifest"

BATCHES_PER_FOLDER = 1000


class SinkFile(Struct, frozen=True):
    """A Parquet file of a batch."""

    path: str
    """From the sink's directory."""
    rows: int
    first: int | None
    """Its lowest position; null if its rows have none."""
    last: int | None


class Manifest(Struct, frozen=True):
    """A batch that is in."""

    batch: int
    query: str
    """Of the checkpoint that counts the batches."""
    rows: int
    files: tuple[SinkFile, ...]


def exactly_once(frame: DataFrame, directory: Path) -> DataStreamWriter:
    """A writer of a stream into a directory: choose its trigger, and start it. One stream for each directory."""
    directory = directory.absolute()
    writer = frame.writeStream.foreachBatch(partial(write_batch, directory))
    return writer.option("checkpointLocation", str(directory / CHECKPOINT))


def read_sink(spark: SparkSession, directory: Path) -> DataFrame:
    """What is in: the files that the manifests name, and no other. Raises `WrongUse` while nothing is."""
    directory = directory.absolute()
    paths = [str(directory / file.path) for manifest in manifests(directory) for file in manifest.files]
    if not paths:
        raise WrongUse(f"{directory}: nothing has been written there yet")
    return spark.read.parquet(*paths)


def manifests(directory: Path) -> Iterator[Manifest]:
    """Of all batches that are in, in order."""
    for path in sorted((directory / MANIFEST).glob("[!.]*.json")):
        yield _manifest_at(path)


# --- a batch ---


def write_batch(directory: Path, frame: DataFrame, batch: int) -> None:
    """Let a batch in, unless it is in already."""
    query = query_of(directory)
    path = directory / MANIFEST / f"{batch:010}.json"
    folder = _folder(directory, batch)
    if path.exists():
        _check_same_query(_manifest_at(path), query, directory)
        return
    remove_attempts(directory, batch)
    attempt = folder / f"{batch:010}-{uuid.uuid4().hex}"
    frame.write.option("mapreduce.fileoutputcommitter.marksuccessfuljobs", "false").parquet(str(attempt))
    files = tuple(_files_in(attempt, directory))
    _publish(path, Manifest(batch, query, sum(file.rows for file in files), files))


def remove_attempts(directory: Path, batch: int) -> None:
    """What earlier attempts at a batch have left that did not come to its manifest."""
    for attempt in _folder(directory, batch).glob(f"{batch:010}-*"):
        shutil.rmtree(attempt, ignore_errors=True)
    for unfinished in (directory / MANIFEST).glob(f".{batch:010}.json.*"):
        unfinished.unlink(missing_ok=True)


def _folder(directory: Path, batch: int) -> Path:
    """No folder holds so many that looking into it takes long."""
    return directory / DATA / f"{batch // BATCHES_PER_FOLDER:06}"


def query_of(directory: Path) -> str:
    """The identity that Spark gave to the stream when it was first started."""
    path = directory / CHECKPOINT / "metadata"
    try:
        return str(msgspec.json.decode(path.read_bytes())["id"])
    except (OSError, msgspec.DecodeError, KeyError) as error:
        raise NotFit(f"{path}: cannot be read ({error}); start streams by `exactly_once`") from error


def _check_same_query(manifest: Manifest, query: str, directory: Path) -> None:
    if manifest.query != query:
        raise WrongUse(
            f"{directory}: batch {manifest.batch} is of another stream, whose checkpoint is gone; use another directory"
        )


def _files_in(attempt: Path, directory: Path) -> Iterator[SinkFile]:
    """Those with rows."""
    import pyarrow.parquet as parquet

    for path in sorted(attempt.glob("*.parquet")):
        metadata = parquet.read_metadata(path)
        if metadata.num_rows:
            yield SinkFile(str(path.relative_to(directory)), metadata.num_rows, *_positions_of(metadata))


def _positions_of(metadata: Any) -> tuple[int | None, int | None]:
    """The lowest and the highest position in a file, by its statistics."""
    columns = [metadata.schema.column(index) for index in range(len(metadata.schema))]
    index = next((index for index, column in enumerate(columns) if column.path == "position"), None)
    if index is None or columns[index].physical_type != "INT64":
        return None, None
    groups = [metadata.row_group(group).column(index).statistics for group in range(metadata.num_row_groups)]
    return min(group.min for group in groups), max(group.max for group in groups)


def _publish(path: Path, manifest: Manifest) -> None:
    """At once, and only if there is none yet: two drivers on one directory do not both let a batch in."""
    path.parent.mkdir(exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    unfinished.write_bytes(msgspec.json.format(msgspec.json.encode(manifest)))
    try:
        os.link(unfinished, path)
    except FileExistsError as error:
        raise NotFit(f"{path}: came from another process; only one at a time writes into a directory") from error
    finally:
        unfinished.unlink()


def _manifest_at(path: Path) -> Manifest:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Manifest)
    except (OSError, msgspec.DecodeError) as error:
        raise NotFit(f"{path}: cannot be read ({error}); restore it from a copy") from error
