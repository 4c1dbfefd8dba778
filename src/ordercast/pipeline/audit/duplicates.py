"""No message has two places in the order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ordercast.core.ids import SEQS_MAX
from ordercast.pipeline.audit.columns import suspect_blocks

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def by_sender(order: DataFrame) -> DataFrame:
    """Of each sender in each block: how many messages, the oldest, the newest, and the sum of their numbers."""
    from pyspark.sql import functions as f

    seq = f.col("message").bitwiseAND(f.lit(SEQS_MAX - 1))
    return order.groupBy("run", "block", "sender").agg(
        f.count("*").alias("messages"),
        f.min("message").alias("oldest"),
        f.max("message").alias("newest"),
        f.sum(seq).alias("seqs"),
        f.max(seq).alias("last"),
    )


def doubtful(by_sender: DataFrame) -> DataFrame:
    """`run, sender` of senders whose messages do not go on one by one, from block to block and within each."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    blocks = Window.partitionBy("run", "sender").orderBy("block")
    count, last = f.col("messages"), f.col("last")
    in_step = (f.col("newest") - f.col("oldest") + 1 == count) & (2 * f.col("seqs") == (2 * last - count + 1) * count)
    goes_on = f.coalesce(f.lag("newest").over(blocks) < f.col("oldest"), f.lit(True))
    judged = by_sender.select("run", "sender", (in_step & goes_on).alias("sure"))
    return judged.where("not sure").select("run", "sender").distinct()


def duplicates(order: DataFrame) -> DataFrame:
    """All blocks in which a message stands that stands at another place too."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    same = Window.partitionBy("run", "message")
    several = order.select("run", "block", (f.min("place").over(same) != f.max("place").over(same)).alias("several"))
    return suspect_blocks(several.where("several"))
