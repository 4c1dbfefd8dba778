"""`format("ordercast")`: batch reads and streams of a log, from a Spark session."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ordercast.core.errors import NotFit, WrongUse
from ordercast.pipeline import register
from ordercast.pipeline.streaming.mistakes import in_one_line
from ordercast.pipeline.streaming.options import ReadOptions
from ordercast.records.segment_tables import SegmentRow
from tests.pipeline.streaming.logs import add, log_in, sealed_and_tail, turn
from tests.site.storage.entries import messages, mixed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def frame(spark: SparkSession, path: Path, **options: Any) -> DataFrame:
    register(spark)
    return spark.read.format("ordercast").options(**options).load(str(path))


def test_a_range_is_a_table_with_the_columns_of_a_segment(spark: SparkSession, tmp_path: Path) -> None:
    with closing(sealed_and_tail(tmp_path, [*mixed(), *mixed(8), *messages(4, start=16)], 8)):
        rows = frame(spark, tmp_path, start=1, stop=19, numTasks=4).collect()
        assert tuple(rows[0].asDict()) == SegmentRow.__struct_fields__
        assert [row.position for row in rows] == list(range(1, 19))
        assert [row.payload for row in rows[:3]] == [b"a", b"b", b"c"]
        assert (rows[7].kind, rows[7].members, rows[7].view) == ("view", [0, 2], 1)
        few = frame(spark, tmp_path, columns="payload,position", rows="messages", stop=6)
        assert [tuple(row) for row in few.collect()] == [(b"a", 1), (b"b", 2), (b"c", 3), (b"d", 5)]


def test_a_stream_gives_each_position_once_while_the_log_grows(spark: SparkSession, tmp_path: Path) -> None:
    register(spark)
    options = {"maxPositionsPerBatch": 7, "numTasks": 2, "startingPosition": 2}
    stream = spark.readStream.format("ordercast").options(**options).load(str(tmp_path / "log"))

    def follow() -> list[int]:
        """What comes up to now, in batches."""
        sink = stream.select("position").writeStream.format("parquet").option("path", str(tmp_path / "out"))
        query = sink.option("checkpointLocation", str(tmp_path / "kept")).trigger(availableNow=True).start()
        query.awaitTermination()
        return [progress.numInputRows for progress in query.recentProgress if progress.numInputRows]

    log = sealed_and_tail(tmp_path / "log", [*mixed(), *mixed(8)], 8)
    with closing(log):
        assert follow() == [7, 7]
        add(log, messages(10, start=16))
        assert follow() == [7, 3]
    found = spark.read.parquet(str(tmp_path / "out")).collect()
    assert sorted(row.position for row in found) == list(range(2, 26))


def test_mistakes_are_told_in_one_line(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(WrongUse, match=r"^there is no option 'begin'; expected one of path, [\w, ]*$"), in_one_line():
        frame(spark, tmp_path, begin=5)
    with pytest.raises(NotFit, match=r"it has no log.sqlite\); name a site's log directory$"), in_one_line():
        frame(spark, tmp_path).count()


def test_reader_and_options_travel_to_the_workers() -> None:
    import pickle

    from ordercast.pipeline.streaming.source import FollowingReader, Range

    reader = pickle.loads(pickle.dumps(FollowingReader(ReadOptions(path=Path("p"), tasks=3))))
    assert isinstance(reader, FollowingReader)
    assert pickle.loads(pickle.dumps(Range(3, 5))).stop == 5


@pytest.mark.parametrize(("place", "expected"), [("earliest", 0), ("latest", 3), ("7", 7)])
def test_a_stream_begins_where_it_is_told(place: str, expected: int, tmp_path: Path) -> None:
    from ordercast.pipeline.streaming.source import FollowingReader

    with closing(log_in(tmp_path)) as log:
        for entry in messages(5):
            log.append(entry)
        log.finalize(3)
        turn(log)
        reader = FollowingReader(ReadOptions.of({"path": str(tmp_path), "startingPosition": place}))
        assert reader.initialOffset() == {"position": expected}
        assert reader.reportLatestOffset() == {"position": 3}
