"""Nothing is lost: what was multicast comes up in the order, or at least at its own site."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ordercast.core.ids import SEQ_BITS
from ordercast.pipeline.audit.columns import is_unordered, suspect_blocks, suspect_messages

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def validity(order: DataFrame, multicasts: DataFrame) -> DataFrame:
    """Agreed and safe messages that have no place for sure, and the block of the next one of each sender that has."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    sure = order.where("not contested")  # what is contested lies in suspect blocks
    lost = multicasts.join(sure, ["run", "message"], "anti").select("run", "message")
    sender = f.shiftright("message", SEQ_BITS).alias("sender")
    marked = lost.select("run", sender, "message", f.lit(None).cast("bigint").alias("block"))
    losers = marked.select("run", "sender").distinct()
    placed = sure.join(f.broadcast(losers), ["run", "sender"], "semi").select("run", "sender", "message", "block")
    newest_first = Window.partitionBy("run", "sender").orderBy(f.desc("message"))
    newer = newest_first.rowsBetween(Window.unboundedPreceding, -1)  # a frame that shrinks would take the square
    following = placed.unionByName(marked).select(
        "run", "block", f.last("block", ignorenulls=True).over(newer).alias("following")
    )
    behind = following.where("block is null and following is not null").select("run", f.col("following").alias("block"))
    return suspect_messages(lost).unionByName(suspect_blocks(behind))


def validity_without_places(records: DataFrame, multicasts: DataFrame) -> DataFrame:
    """Fifo and causal messages newer than the newest that their own site has delivered."""
    from pyspark.sql import functions as f

    own = records.where(is_unordered() & (f.col("sender") == f.col("life")))
    newest = own.groupBy("run", "life").agg(f.max("message").alias("newest"))
    waiting = multicasts.where("not ordered").join(newest, ["run", "life"], "left")
    return suspect_messages(waiting.where("newest is null or message > newest"))
