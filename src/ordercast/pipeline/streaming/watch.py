"""An auditor on line: follows the logs of several sites, and finds the first position at which they are not the same.

Spark reads the logs and makes a mark of each position, in parallel; the marks are compared where the query runs
(`comparison`), so that what differs is named at once, and not only when a block of positions is complete.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ordercast.core.errors import WrongUse
from ordercast.pipeline import register
from ordercast.pipeline.streaming.comparison import HELD_MAX, NO_MESSAGE, Comparison, Violated, Violation
from ordercast.pipeline.streaming.options import COLUMNS
from ordercast.pipeline.streaming.ranges import CHUNK_BYTES, earliest_position
from ordercast.records.log_reader import Reader

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

OWN = ("wall_us",)
"""What each site has by itself; all other columns are the same everywhere."""

COMPARED = tuple(name for name in COLUMNS if name not in OWN)

SHOWN_MAX = 60
"""Characters of a value that differs."""

BATCH_POSITIONS_MAX = 200_000
"""Of each site."""


class Watch:
    """Follows the logs of the sites named, from a position that all of them have, or from one that is chosen."""

    def __init__(self, sites: Mapping[str, Path], start: int | None = None, held_max: int = HELD_MAX) -> None:
        if len(sites) < 2:
            raise WrongUse("nothing to compare: name the log directories of two sites or more")
        self.paths = tuple(sites.values())
        self.start = max(map(earliest_position, self.paths)) if start is None else start
        self.comparison = Comparison(tuple(sites), self.start, self._difference, held_max)
        self.violation: Violation | None = None
        self.found = threading.Event()
        """Set once there is a violation."""

    @contextmanager
    def following(self, spark: SparkSession, *, once: bool = False) -> Iterator[StreamingQuery]:
        """The query that compares, until a violation is `found`; with `once` it ends at what is final now."""
        if "connect" in type(spark).__module__:
            raise WrongUse(
                "a watch compares where its query runs, which Spark Connect does not let it: use another master"
            )
        register(spark)
        with tempfile.TemporaryDirectory(prefix="ordercast-watch-") as checkpoint:
            writer = marks(spark, self.paths, self.start).writeStream.foreachBatch(self._take)
            trigger: dict[str, Any] = {"availableNow": True} if once else {"processingTime": "0 seconds"}
            query = writer.option("checkpointLocation", checkpoint).trigger(**trigger).start()
            try:
                yield query
            finally:
                query.stop()

    def _take(self, frame: DataFrame, batch: int) -> None:
        """A batch: of each site, what has come."""
        table = frame.toArrow().sort_by([("site", "ascending"), ("position", "ascending")])
        site, *columns = (table[name].to_numpy() for name in ("site", "position", "message", "mark"))
        for number in range(len(self.paths)):
            first, last = site.searchsorted(number), site.searchsorted(number, "right")
            if first < last and not self.found.is_set():
                self._take_site(number, *(column[first:last] for column in columns))

    def _take_site(self, number: int, *columns: Any) -> None:
        try:
            self.comparison.take(number, *columns)
        except Violated as violated:
            self.violation = violated.violation
            self.found.set()

    def _difference(self, one: int, other: int, start: int, stop: int) -> Violation | None:
        names = self.comparison.names
        found = first_difference(self.paths[one], self.paths[other], start, stop)
        return None if found is None else Violation("order", found[0], (names[one], names[other]), found[1])


def marks(spark: SparkSession, paths: tuple[Path, ...], start: int) -> DataFrame:
    """Of each position of each site: its message and its mark, as they become final."""
    from pyspark.sql import functions as f

    def of_site(number: int, path: Path) -> DataFrame:
        stream = spark.readStream.format("ordercast").option("startingPosition", start)
        rows = stream.option("maxPositionsPerBatch", BATCH_POSITIONS_MAX).load(str(path))
        message = f.coalesce("message", f.lit(NO_MESSAGE)).alias("message")
        return rows.select(f.lit(number).alias("site"), "position", message, f.xxhash64(*COMPARED).alias("mark"))

    first, *others = (of_site(number, path) for number, path in enumerate(paths))
    for other in others:
        first = first.unionAll(other)
    return first


def first_difference(one: Path, other: Path, start: int, stop: int) -> tuple[int, str] | None:
    """The first position at which two logs differ, and in what; None if they agree as far as both hold the range."""
    with closing(Reader(one, beside=True)) as mine, closing(Reader(other, beside=True)) as theirs:
        while start < stop:
            left = mine.table(start, stop, CHUNK_BYTES, COMPARED)
            right = theirs.table(start, stop, CHUNK_BYTES, COMPARED)
            rows = min(left.num_rows, right.num_rows)
            if rows == 0:
                return None
            left, right = left.slice(0, rows), right.slice(0, rows)
            if not left.equals(right):
                return _first_row(start, left, right)
            start += rows
    return None


def _first_row(start: int, left: Any, right: Any) -> tuple[int, str] | None:
    for offset, (mine, theirs) in enumerate(zip(left.to_pylist(), right.to_pylist(), strict=True)):
        differing = [name for name in COMPARED if mine[name] != theirs[name]]
        if differing:
            said = ", ".join(f"{name} is {_shown(mine[name])} and {_shown(theirs[name])}" for name in differing)
            return start + offset, said
    return None


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN_MAX else f"{text[:SHOWN_MAX]}…"
