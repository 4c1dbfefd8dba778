"""`spark.read.format("ordercast")` and `spark.readStream.format("ordercast")`: a site's ordered log.

The offset of a stream is a position: all before it has been read. Only final positions are offered, so what a range
holds never changes, and reading it is a pure function of its two ends, whichever task does it, however often.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from ordercast.pipeline.schema import segment_schema
from ordercast.pipeline.streaming.options import LATEST, ReadOptions
from ordercast.pipeline.streaming.ranges import (
    batches,
    cut,
    earliest_position,
    end_of_batch,
    final_position,
    start_of,
    stop_of,
)

FORMAT = "ordercast"


class Range(InputPartition):
    """What one task reads."""

    def __init__(self, start: int, stop: int) -> None:
        self.start = start
        self.stop = stop


class OrderedLog(DataSource):
    """A site's log directory. Its options are those of `ReadOptions`."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._options = ReadOptions.of(options)

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> StructType:
        whole = segment_schema()
        return StructType([whole[name] for name in self._options.columns])

    def reader(self, schema: StructType) -> DataSourceReader:
        return RangeReader(self._options)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        return FollowingReader(self._options)


class RangeReader(DataSourceReader):
    """Reads what is final from `start` up to `stop`, as far as it is at the moment of planning."""

    def __init__(self, options: ReadOptions) -> None:
        self._options = options

    def partitions(self) -> Sequence[InputPartition]:
        start = start_of(self._options)
        stop = stop_of(self._options, start)
        return [Range(*each) for each in cut(self._options, start, stop)] or [Range(start, start)]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        assert isinstance(partition, Range)
        return batches(self._options, partition.start, partition.stop)


class FollowingReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Follows the log. It keeps nothing between two batches but where an available-now query ends."""

    def __init__(self, options: ReadOptions) -> None:
        self._options = options
        self._target: int | None = None

    def initialOffset(self) -> dict[str, int]:
        match self._options.starting_position:
            case int(position):
                return _offset(position)
            case place if place == LATEST:
                return _offset(final_position(self._options.path))
            case _:
                return _offset(earliest_position(self._options.path))

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadMaxRows(self._options.batch_positions_max)

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:
        assert isinstance(limit, ReadMaxRows | ReadAllAvailable)
        positions_max = limit.max_rows if isinstance(limit, ReadMaxRows) else None
        final = final_position(self._options.path) if self._target is None else self._target
        return _offset(end_of_batch(self._options.path, start["position"], final, positions_max))

    def prepareForTriggerAvailableNow(self) -> None:
        self._target = final_position(self._options.path)

    def reportLatestOffset(self) -> dict[str, int]:
        return _offset(final_position(self._options.path))

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        return [Range(*each) for each in cut(self._options, start["position"], end["position"])]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        assert isinstance(partition, Range)
        return batches(self._options, partition.start, partition.stop)


def _offset(position: int) -> dict[str, int]:
    return {"position": position}
