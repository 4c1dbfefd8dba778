"""Members that go together from one view to the next have delivered the same fifo and causal messages in between.

And in the same view wherever they are delivered (`same_view`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ordercast.pipeline.audit.columns import is_unordered, suspect_messages

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MESSAGES_BITS = 10


def unordered_digests(records: DataFrame, bits: int = MESSAGES_BITS) -> DataFrame:
    """For each life and view, and block of fifo and causal messages of one sender, what was delivered and when."""
    from pyspark.sql import functions as f

    rows = records.where(is_unordered())
    return rows.groupBy("run", "life", f.shiftright("message", bits).alias("messages"), "view").agg(
        f.count("*").alias("rows"),
        f.bit_xor(f.xxhash64("message")).alias("digest"),
        f.min("index").alias("index_min"),
        f.max("index").alias("index_max"),
        f.max("message").alias("newest"),
    )


def unequal_blocks(digests: DataFrame, installed: DataFrame) -> DataFrame:
    """`run, messages` of blocks that not all have in one view, and alike, as far as they had installed that view.

    `installed` has `run, life, view, begin, end, continues`: from and to which record a life was in a view, and whether
    it has gone on from it to another one.
    """
    from pyspark.sql import functions as f

    inside = (f.col("begin") < f.col("index_min")) & (f.col("index_max") < f.col("end"))
    known = digests.join(f.broadcast(installed), ["run", "life", "view"], "left")
    rows = known.groupBy("run", "messages").agg(
        f.min(f.struct("view", "rows", "digest")).alias("least"),
        f.max(f.struct("view", "rows", "digest")).alias("most"),
        f.min(f.coalesce(inside, f.lit(False))).alias("inside"),
        f.sum(f.coalesce(f.col("continues").cast("int"), f.lit(0))).alias("going"),
        f.max("view").alias("view"),
    )
    going = installed.where("continues").groupBy("run", "view").agg(f.count_distinct("life").alias("all_going"))
    told = rows.join(f.broadcast(going), ["run", "view"], "left")
    alike = (f.col("least") == f.col("most")) & f.col("inside")
    complete = f.col("going") == f.coalesce("all_going", f.lit(0))
    return told.where(~f.coalesce(alike & complete, f.lit(False))).select("run", "messages")


def messages_in(records: DataFrame, blocks: DataFrame, bits: int = MESSAGES_BITS) -> DataFrame:
    """The fifo and causal messages of these blocks."""
    from pyspark.sql import functions as f

    rows = records.where(is_unordered()).select("run", "message", f.shiftright("message", bits).alias("messages"))
    return suspect_messages(rows.join(f.broadcast(blocks), ["run", "messages"], "semi").distinct())


def newest_in_views(digests: DataFrame) -> DataFrame:
    """The newest message of each sender that a life has delivered in each view: always looked at."""
    from pyspark.sql import functions as f

    from ordercast.core.ids import SEQ_BITS

    sender = f.shiftright("newest", SEQ_BITS).alias("sender")
    return suspect_messages(digests.groupBy("run", "life", "view", sender).agg(f.max("newest").alias("message")))
