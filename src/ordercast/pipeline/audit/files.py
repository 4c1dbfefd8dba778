"""Trace files as a table of records; and those of them that are torn in their midst, which no footer tells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from ordercast.core.trace import Kind
from ordercast.pipeline.schema import trace_schema
from ordercast.records.traces import BadTraceFile, opened

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS_PER_CHECK = 1 << 16


def records_in(session: SparkSession, paths: Iterable[Path]) -> DataFrame:
    """All records, with the `file` and the `row` in which each lies."""
    from pyspark.sql import functions as f

    files = session.read.schema(trace_schema()).parquet(*(str(path.resolve()) for path in paths))
    return files.select("*", f.col("_metadata.file_path").alias("file"), f.col("_metadata.row_index").alias("row"))


def path_in(uri: str) -> str:
    """The path that Spark's name of a file means."""
    return unquote(urlsplit(uri).path)


def torn_files(session: SparkSession, paths: Sequence[Path]) -> dict[str, str]:
    """Files that cannot be read to their end, with the reason; each is read by one task, page by page."""
    rows = [(number, str(path)) for number, path in enumerate(paths)]
    names = session.createDataFrame(rows, "number int, path string").repartitionByRange(len(rows), "number")
    found = names.select("path").mapInArrow(_check, "path string, reason string").collect()
    return {row["path"]: row["reason"] for row in found}


def _check(batches: Iterable[Any]) -> Iterator[Any]:
    import pyarrow as pa

    for batch in batches:
        for path in batch["path"].to_pylist():
            reason = reason_why_torn(Path(path))
            if reason is not None:
                yield pa.RecordBatch.from_pydict({"path": [path], "reason": [reason]})


def reason_why_torn(path: Path) -> str | None:
    """In words; None if every page of a trace file can be read."""
    import pyarrow.compute as pc

    kinds = {str(kind) for kind in Kind}
    try:
        with opened(path) as file:
            for batch in file.iter_batches(ROWS_PER_CHECK):
                unknown = set(pc.unique(batch["kind"]).to_pylist()) - kinds
                if unknown:
                    raise BadTraceFile(path, f"holds something that is no trace record (kind {min(unknown)!r})")
    except BadTraceFile as error:
        return str(error)
    return None
