"""The job: from a table of trace records to the verdicts on its runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from typing import TYPE_CHECKING, Any

import msgspec

from ordercast.core.trace import TraceRecord
from ordercast.pipeline.audit import (
    answers,
    causal,
    creation,
    duplicates,
    fifo,
    finality,
    gaps,
    mixed,
    reading,
    safe,
    total_order,
    validity,
    virtual_synchrony,
)
from ordercast.pipeline.audit.columns import prepared
from ordercast.pipeline.audit.digests import digests, merged
from ordercast.pipeline.audit.judge import Kept, judge
from ordercast.pipeline.audit.known import Life, Row, Runs
from ordercast.pipeline.audit.order import agreed_order
from ordercast.pipeline.audit.stretches import Block
from ordercast.verify.audit.check import SHOWN_MAX
from ordercast.verify.audit.run import Verdict

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

BLOCKS_MAX = 1 << 16
"""About so many digests there are; they are collected."""

BLOCK_BITS_MIN = 10

RANGES_MAX = 32
"""Of more ranges of positions reading a table takes longer than reading all of it."""

Columns = dict[str, str]

SUSPECTS = {"run": "string", "block": "bigint", "message": "bigint"}
MEMBERS = {"run": "string", "view": "bigint", "site": "bigint", "size": "bigint"}
SITES = {"run": "string", "site": "bigint"}
SENDERS = {"run": "string", "sender": "bigint", "above": "bigint"}
INSTALLED = {
    "run": "string",
    "life": "bigint",
    "view": "bigint",
    "begin": "bigint",
    "end": "bigint",
    "continues": "boolean",
}

LIFE = ("records", "delivered", "unordered", "finalized", "newest_sent")
RECORD = TraceRecord.__struct_fields__
HERE = (*RECORD, "life", "file", "row")
ROWS_AT_ONCE = 1 << 14

Rank = Callable[[str], int]
"""Of a file, by Spark's name for it."""

Place = tuple[str, int, int]
"""Where a record lies: file, row, and its life, which tells records apart that lie in no file."""


def block_bits(rows: int) -> int:
    """Blocks of 1,024 positions; longer ones where there are many records."""
    return max(BLOCK_BITS_MIN, (rows // BLOCKS_MAX).bit_length())


class AuditJob:
    """Judges all runs in a table of trace records. Everything goes through the DataFrame API.

    The table has the columns of a trace, and `file` and `row`, where each record lies; `rank` says which of two
    files comes first: a verdict names the first site that says something.
    """

    def __init__(self, records: DataFrame, bits: int, exact: bool = False, rank: Rank | None = None) -> None:
        self._session = records.sparkSession
        self._held: list[DataFrame] = []
        self._records = prepared(records, bits)
        self._bits = bits
        self._exact = exact
        self._rank = rank
        self._runs = Runs()
        self._parts = self._hold(digests(self._records, bits))
        self._blocks = merged(self._parts)

    def verdicts(self, shown_max: int = SHOWN_MAX) -> list[Verdict]:
        """Of all runs, by name."""
        try:
            self._collect_lives()
            self._collect_blocks()
            self._look_for_suspects()
            kept = self._read_again()
        finally:
            for table in self._held:
                table.unpersist()
        return [judge(name, run.tally(), kept.get(name, []), shown_max) for name, run in sorted(self._runs.items())]

    def _collect_lives(self) -> None:
        from pyspark.sql import functions as f

        totals = self._parts.groupBy("run", "life").agg(
            f.sum("rows").alias("records"),
            f.sum("delivered").alias("delivered"),
            f.coalesce(f.sum(f.when(f.col("block").isNull(), f.col("delivered"))), f.lit(0)).alias("unordered"),
            f.coalesce(f.max("finalized"), f.lit(0)).alias("finalized"),
            f.max("newest_sent").alias("newest_sent"),
        )
        for row in _rows(totals):
            self._runs[row["run"]].lives[row["life"]] = Life(**{name: row[name] for name in LIFE})
        for row in _rows(reading.courses(self._records).orderBy("run", "life", "index", "row")):
            self._runs[row["run"]].life(row["life"]).course.append(_record(row))

    def _collect_blocks(self) -> None:
        for row in _rows(self._blocks.select("run", *Block.__struct_fields__)):
            self._runs[row["run"]].blocks.append(msgspec.convert(row, Block))
        found = [total_order.total_order(self._blocks), gaps.gaps(self._blocks)]
        if self._exact:
            found += [total_order.total_order_exactly(self._records), gaps.gaps_exactly(self._records)]
        for row in _rows(_union(found)):
            self._runs[row["run"]].suspects.add(row["block"])

    # --- suspects ---

    def _look_for_suspects(self) -> None:
        from pyspark.sql import functions as f

        records = self._records
        telling = records.where(f.col("site").isin(self._runs.telling()))
        order = self._hold(agreed_order(telling, self._near_suspects(), self._blocks, self._suspects()))
        by_sender = duplicates.by_sender(order)
        multicasts = creation.multicasts(records)
        found = [
            duplicates.duplicates(self._of_doubtful(order, by_sender)),
            fifo.fifo(order),
            finality.finality(records, self._bits),
            validity.validity(*self._unequal(order, multicasts)),
            validity.validity_without_places(records, multicasts),
        ]
        if self._runs.have_safe:
            members = self._table(MEMBERS, self._runs.members())
            found.append(safe.safe(self._blocks, safe.logged(records), members))
        if self._runs.have_retracted:
            found.append(answers.answers(records, multicasts, order))
        if self._runs.have_unordered:
            found += [mixed.mixed(records, order), *self._without_places()]
        for row in _rows(_union(found)):
            run = self._runs[row["run"]]
            if row["block"] is not None:
                run.layout.suspects.add(row["block"])
            else:
                run.messages.add(row["message"])
        self._look_for_causes(multicasts, order)
        self._look_for_created(order, multicasts)
        for row in _rows(by_sender):
            self._runs[row["run"]].newest.setdefault(row["block"], {})[row["sender"]] = row["newest"]

    def _of_doubtful(self, order: DataFrame, by_sender: DataFrame) -> DataFrame:
        from pyspark.sql import functions as f

        if self._exact:
            return order
        return order.join(f.broadcast(duplicates.doubtful(by_sender)), ["run", "sender"], "semi")

    def _unequal(self, order: DataFrame, multicasts: DataFrame) -> tuple[DataFrame, DataFrame]:
        """The agreed order, and the multicasts that may have no place in it."""
        sent, sure = multicasts.where("ordered"), order.where("not contested")
        return order, sent if self._exact else creation.in_blocks(sent, creation.unequal(sure, sent))

    def _without_places(self) -> list[DataFrame]:
        """Of fifo and causal messages."""
        records = self._records
        made = virtual_synchrony.unordered_digests(records)
        unequal = virtual_synchrony.unequal_blocks(made, self._table(INSTALLED, self._runs.installed()))
        return [
            fifo.fifo_without_places(records),
            causal.causal_without_places(records),
            virtual_synchrony.messages_in(records, unequal),
            virtual_synchrony.newest_in_views(made),
        ]

    def _look_for_causes(self, multicasts: DataFrame, order: DataFrame) -> None:
        for row in _rows(causal.causal(self._records, multicasts, order)):
            layout = self._runs[row["run"]].layout
            layout.suspects.add(row["block"])
            layout.suspects.update(layout.around(row["life"], row["index"]))

    def _look_for_created(self, order: DataFrame, multicasts: DataFrame) -> None:
        from pyspark.sql import functions as f

        delivered = creation.delivered(order, self._records)
        if not self._exact:
            delivered = creation.in_blocks(delivered, creation.unequal(delivered, multicasts))
        senders, sites = self._table(SENDERS, self._runs.senders()), self._table(SITES, self._runs.sites())
        unknown = creation.creation(delivered, multicasts, senders, sites)
        for row in _rows(unknown.where("excused").groupBy("run", "sender").agg(f.count_distinct("message").alias("n"))):
            self._runs[row["run"]].unknown[row["sender"]] = row["n"]
        for row in _rows(unknown.where("not excused").select("run", "block", "message")):
            run = self._runs[row["run"]]
            if row["block"] is None:
                run.messages.add(row["message"])
            else:
                run.layout.suspects.add(row["block"])

    # --- reading again ---

    def _read_again(self) -> dict[str, list[Kept]]:
        """What was kept of each run, in the order in which it lies in the files."""
        suspects = self._suspects()
        placed = reading.in_suspect_blocks(self._near_suspects(), suspects)
        whole = [
            reading.courses(self._records),
            placed,
            reading.of_suspect_messages(self._records, placed, suspects),
            finality.finalizations(self._records, suspects),
        ]
        after_gaps = gaps.after_gaps(self._records, gaps.incomplete(self._parts))
        follows = {_place_of(row): row for row in _rows(after_gaps)}
        found = {_place_of(row): row for row in _rows(_union([table.select(*HERE) for table in whole]))}
        kept: dict[str, list[Kept]] = {}
        for place in sorted({**found, **follows}, key=self._when_read):
            row = found.get(place) or follows[place]
            previous = follows[place]["previous"] if place in follows else None
            kept.setdefault(row["run"], []).append(Kept(_record(row), previous, place in found))
        return kept

    def _when_read(self, place: Place) -> tuple[int, Place]:
        return (0 if self._rank is None else self._rank(place[0])), place

    def _near_suspects(self) -> DataFrame:
        """Records that hold all suspect blocks, and few others: files know the positions of each group of rows."""
        from pyspark.sql import functions as f

        ranges = self._runs.ranges(self._bits)
        if ranges is None or len(ranges) > RANGES_MAX:
            return self._records
        near = reduce(
            lambda one, other: one | other, (f.col("position").between(*each) for each in ranges), f.lit(False)
        )
        return self._records.where(near)

    # --- tables ---

    def _suspects(self) -> DataFrame:
        return self._table(SUSPECTS, self._runs.suspects())

    def _table(self, columns: Columns, rows: list[Row]) -> DataFrame:
        import pyarrow as pa

        types = {"bigint": pa.int64(), "string": pa.string(), "boolean": pa.bool_()}
        arrays = [pa.array([row[at] for row in rows], types[kind]) for at, kind in enumerate(columns.values())]
        return self._session.createDataFrame(pa.Table.from_arrays(arrays, names=list(columns)))

    def _hold(self, table: DataFrame) -> DataFrame:
        """What is needed again and again is made once."""
        self._held.append(table.persist())
        return self._held[-1]


def _union(tables: list[DataFrame]) -> DataFrame:
    """All rows, each once."""
    return reduce(lambda one, other: one.unionByName(other), tables).distinct()


def _rows(table: DataFrame) -> Iterator[dict[str, Any]]:
    for batch in table.toArrow().to_batches(max_chunksize=ROWS_AT_ONCE):
        yield from batch.to_pylist()


def _record(row: dict[str, Any]) -> TraceRecord:
    return msgspec.convert({name: row[name] for name in RECORD}, TraceRecord)


def _place_of(row: dict[str, Any]) -> Place:
    return row["file"], row["row"], row["life"]
