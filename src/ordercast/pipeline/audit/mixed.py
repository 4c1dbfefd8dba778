"""An agreed message that follows another one by way of fifo and causal messages is ordered after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ordercast.core.trace import Kind
from ordercast.pipeline.audit.columns import is_kind, suspect_blocks, suspect_messages

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def mixed(records: DataFrame, order: DataFrame) -> DataFrame:
    """What comes up before something that it follows, with that, and the messages by whose way it follows it."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    own = _own(records, order)
    so_far = Window.partitionBy("run", "life", "view").orderBy("message")
    followed = own.join(_followed(own), ["run", "message"], "left").select(
        "*", f.max("follows").over(so_far.rowsBetween(Window.unboundedPreceding, Window.currentRow)).alias("newest")
    )
    early = followed.where("stands.place < newest.stands.place")
    by_way = early.select(
        "run",
        f.explode(f.array("stands.block", "newest.stands.block", "newest.way_block")).alias("block"),
        f.col("newest.before").alias("before"),
        f.col("newest.way").alias("way"),
    )
    messages = suspect_messages(by_way, "before").unionByName(suspect_messages(by_way.where("block is null"), "way"))
    return messages.unionByName(suspect_blocks(by_way.where("block is not null")))


def _own(records: DataFrame, order: DataFrame) -> DataFrame:
    """All multicasts, with where each stands in the order, and where the one before it does."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    stands = f.max(f.struct("place", "message", "block")).alias("stands")
    places = order.groupBy("run", "message").agg(stands)
    sent = records.where(is_kind(Kind.MULTICAST)).select("run", "life", "message", "view", "depends")
    earlier = Window.partitionBy("run", "life").orderBy("message").rowsBetween(Window.unboundedPreceding, -1)
    before = f.last("stands", ignorenulls=True).over(earlier).alias("stands_before")
    return sent.join(places, ["run", "message"], "left").select("*", before)


def _followed(own: DataFrame) -> DataFrame:
    """`run, message, follows`: the newest in the order that a multicast follows by the messages which it names."""
    from pyspark.sql import functions as f

    named = own.select("run", "message", "stands", "view", f.explode("depends").alias("before"))
    past = own.where("stands_before is not null").select(
        "run", f.col("message").alias("before"), "view", f.col("stands_before").alias("past")
    )
    follows = f.struct(
        f.col("past").alias("stands"), "before", f.col("message").alias("way"), f.col("stands.block").alias("way_block")
    )
    found = named.join(past, ["run", "before", "view"])
    return found.groupBy("run", "message").agg(f.max(follows).alias("follows"))
