"""Each sender's messages in its order: once on the agreed order, and at each site for those without a place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ordercast.pipeline.audit.columns import is_unordered, suspect_blocks, suspect_messages

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def fifo(order: DataFrame) -> DataFrame:
    """Blocks with a message that comes up behind a later one of its sender, or again; and where that stands."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    behind = Window.partitionBy("run", "sender").orderBy("place", "message")
    newest = f.max(f.struct("message", "block")).over(behind.rowsBetween(Window.unboundedPreceding, -1))
    late = order.select("run", "block", "message", newest.alias("newest")).where("message <= newest.message")
    return suspect_blocks(late).unionByName(suspect_blocks(late.select("run", f.col("newest.block").alias("block"))))


def fifo_without_places(records: DataFrame) -> DataFrame:
    """Fifo and causal messages that a site delivers behind a later one of their sender, or again; and that one."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    behind = Window.partitionBy("run", "life", "sender").orderBy("index")
    newest = f.max("message").over(behind.rowsBetween(Window.unboundedPreceding, -1))
    told = records.where(is_unordered()).select("run", "message", newest.alias("newest"))
    late = told.where("message <= newest")
    return suspect_messages(late).unionByName(suspect_messages(late, "newest"))
