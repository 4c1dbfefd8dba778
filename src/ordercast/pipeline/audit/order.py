"""The agreed order: each block as one site has it; where sites disagree, as all of them do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ordercast.pipeline.audit.columns import is_placed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def agreed_order(records: DataFrame, blocks: DataFrame, suspects: DataFrame) -> DataFrame:
    """`run, block, place, message, sender` of all messages with a place, each once for each place it has.

    And whether it is `contested`: some site has something else there.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    told_by = blocks.groupBy("run", "block").agg(
        f.min_by("life", f.struct(-f.col("rows"), f.col("life"))).alias("life")
    )
    bad = suspects.where(f.col("block").isNotNull()).select("run", "block").distinct()
    messages = records.where(is_placed() & (f.col("code") >= 0)).select(
        "run", "life", "block", "place", "message", "sender"
    )
    agreed = messages.join(f.broadcast(told_by.join(bad, ["run", "block"], "anti")), ["run", "block", "life"], "semi")
    disputed = messages.join(f.broadcast(bad), ["run", "block"], "semi").drop("life").distinct()
    several = f.count("*").over(Window.partitionBy("run", "place")) > 1
    nobody = f.lit(False).alias("contested")
    return agreed.drop("life").select("*", nobody).unionByName(disputed.select("*", several.alias("contested")))
