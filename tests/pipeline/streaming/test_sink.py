"""The sink: each batch is in once, whenever the driver ends, and a reader sees what is in and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from ordercast.core.errors import NotFit, WrongUse
from ordercast.pipeline.streaming import sink
from ordercast.pipeline.streaming.sink import manifests, query_of, read_sink, write_batch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Killed(BaseException):
    """In place of the end of the process."""


def checkpoint(directory: Path, query: str = "one") -> None:
    """As Spark makes it when the stream starts."""
    (directory / "checkpoint").mkdir(parents=True, exist_ok=True)
    (directory / "checkpoint" / "metadata").write_bytes(msgspec.json.encode({"id": query}))


def positions(spark: SparkSession, start: int, stop: int) -> DataFrame:
    """A batch, in two files."""
    return spark.range(start, stop, numPartitions=2).withColumnRenamed("id", "position")


def held(spark: SparkSession, directory: Path) -> list[int]:
    return sorted(row.position for row in read_sink(spark, directory).collect())


def parts(directory: Path) -> set[str]:
    """All data files, whoever names them."""
    return {str(path.relative_to(directory)) for path in (directory / "data").rglob("*.parquet")}


def test_a_batch_is_in_once(spark: SparkSession, tmp_path: Path) -> None:
    checkpoint(tmp_path)
    with pytest.raises(WrongUse, match="nothing has been written there yet"):
        read_sink(spark, tmp_path)
    write_batch(tmp_path, positions(spark, 0, 10), 0)
    write_batch(tmp_path, positions(spark, 10, 15), 1)
    before = (parts(tmp_path), list(manifests(tmp_path)))
    write_batch(tmp_path, positions(spark, 10, 15), 1)
    assert (parts(tmp_path), list(manifests(tmp_path))) == before
    assert held(spark, tmp_path) == list(range(15))
    first = before[1][0]
    assert (first.batch, first.rows, first.query) == (0, 10, "one")
    assert [(file.rows, file.first, file.last) for file in first.files] == [(5, 0, 4), (5, 5, 9)]
    assert {file.path for manifest in before[1] for file in manifest.files} == before[0]


@pytest.mark.parametrize("step", ["_files_in", "_publish"])
def test_a_driver_that_ends_within_a_batch_leaves_nothing_that_counts(
    spark: SparkSession, tmp_path: Path, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoint(tmp_path)
    write_batch(tmp_path, positions(spark, 0, 4), 0)

    def end(*_: Any) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(sink, step, end)
        with pytest.raises(Killed):
            write_batch(tmp_path, positions(spark, 4, 8), 1)
    (tmp_path / "manifest" / ".0000000001.json.half").write_text("{")
    assert len(parts(tmp_path)) == 4, "what has been left lies about"
    assert held(spark, tmp_path) == list(range(4))
    write_batch(tmp_path, positions(spark, 4, 8), 1)
    assert held(spark, tmp_path) == list(range(8))
    assert {file.path for manifest in manifests(tmp_path) for file in manifest.files} == parts(tmp_path)
    assert len(list((tmp_path / "manifest").iterdir())) == 2


def test_a_batch_without_rows_is_in_and_has_no_files(spark: SparkSession, tmp_path: Path) -> None:
    checkpoint(tmp_path)
    write_batch(tmp_path, positions(spark, 0, 0), 0)
    write_batch(tmp_path, spark.range(3).selectExpr("'x' AS position"), 1)
    empty, text = manifests(tmp_path)
    assert (empty.rows, empty.files) == (0, ())
    assert (text.rows, text.files[0].first, text.files[0].last) == (3, None, None)


def test_another_stream_into_the_same_directory_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    checkpoint(tmp_path)
    write_batch(tmp_path, positions(spark, 0, 4), 0)
    checkpoint(tmp_path, "another")
    with pytest.raises(WrongUse, match="batch 0 is of another stream, whose checkpoint is gone; use another directory"):
        write_batch(tmp_path, positions(spark, 4, 8), 0)


def test_two_drivers_do_not_both_let_a_batch_in(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoint(tmp_path)
    files_in = sink._files_in

    def meanwhile(attempt: Path, directory: Path) -> Any:
        with monkeypatch.context() as patch:
            patch.setattr(sink, "_files_in", files_in)
            patch.setattr(sink, "remove_attempts", lambda directory, batch: None)
            write_batch(directory, positions(spark, 0, 4), 0)
        return files_in(attempt, directory)

    with monkeypatch.context() as patch:
        patch.setattr(sink, "_files_in", meanwhile)
        with pytest.raises(NotFit, match="came from another process"):
            write_batch(tmp_path, positions(spark, 0, 4), 0)
    assert held(spark, tmp_path) == list(range(4))


def test_a_directory_that_is_no_sink_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFit, match=r"metadata: cannot be read .*; start streams by `exactly_once`"):
        query_of(tmp_path)
    (tmp_path / "manifest").mkdir()
    (tmp_path / "manifest" / "0000000000.json").write_text("{}")
    with pytest.raises(NotFit, match=r"0000000000.json: cannot be read .*; restore it from a copy"):
        list(manifests(tmp_path))
