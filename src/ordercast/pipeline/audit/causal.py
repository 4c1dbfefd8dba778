"""A message is delivered after everything that precedes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ordercast.core.ids import SEQ_BITS
from ordercast.core.trace import Kind
from ordercast.pipeline.audit.columns import is_kind, is_placed, is_unordered, suspect_blocks, suspect_messages

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def causal(records: DataFrame, multicasts: DataFrame, order: DataFrame) -> DataFrame:
    """`run, block, life, index` of messages whose own site had their place, or what is behind it, when it multicast.

    It had, if it delivers the message before it multicasts it; or if it began behind that place, by a snapshot.
    """
    from pyspark.sql import functions as f

    own = records.where(is_placed() & (f.col("sender") == f.col("life")) & is_kind(Kind.DELIVER))
    told = own.select("run", "life", "message", "block", f.col("index").alias("told_at"))
    sent = multicasts.where("ordered")
    early = sent.join(told, ["run", "life", "message"]).where("told_at < index")
    begun = records.where(is_kind(Kind.RECOVER) & f.col("position").isNotNull()).select(
        "run", "life", f.col("index").alias("begun_at"), f.col("position").alias("begun")
    )
    after = sent.join(f.broadcast(begun), ["run", "life"]).where("index > begun_at")
    places = order.select("run", "message", "block", "place")
    behind = after.join(places, ["run", "message"]).where("place < begun")
    columns = ("run", "block", "life", "index")
    return early.select(*columns).unionByName(behind.select(*columns))


def causal_without_places(records: DataFrame) -> DataFrame:
    """What is delivered before a fifo or causal message that it follows, with both; or while the newest of that one's
    sender is an older one, which has come late.
    """
    from pyspark.sql import functions as f

    sent = records.where(is_kind(Kind.MULTICAST) & (f.size("depends") > 0))
    pairs = sent.select("run", "message", f.explode("depends").alias("before"))
    told = records.where(is_placed() | is_unordered()).where("message is not null")
    told = told.select("run", "life", "message", "index", f.when(is_placed(), f.col("block")).alias("block"))
    first = told.groupBy("run", "life", "message").agg(f.min("index").alias("told_at"))
    first = first.withColumnRenamed("message", "before")
    both = told.join(pairs, ["run", "message"])
    early = both.join(first, ["run", "life", "before"], "left").where("told_at is null or told_at > index")
    late = both.withColumn("sender", f.shiftright("before", SEQ_BITS))
    late = late.join(f.broadcast(_late(records)), ["run", "life", "sender"])
    columns = ("run", "message", "before", "block")
    found = early.select(*columns).unionByName(
        late.where("before > late and index > late_at and (next_at is null or index < next_at)").select(*columns)
    )
    loose = suspect_messages(found.where("block is null")).unionByName(suspect_messages(found, "before"))
    return loose.unionByName(suspect_blocks(found.where("block is not null")))


def _late(records: DataFrame) -> DataFrame:
    """`run, life, sender, late, late_at, next_at`: a message behind a later one, until there is another."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    order = Window.partitionBy("run", "life", "sender").orderBy("index")
    told = records.where(is_unordered()).select(
        "run",
        "life",
        "sender",
        f.col("message").alias("late"),
        f.col("index").alias("late_at"),
        f.lead("index").over(order).alias("next_at"),
        f.max("message").over(order).alias("newest"),
    )
    return told.where("late < newest").drop("newest")
