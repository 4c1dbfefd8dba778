"""The agreed order: each block as one site has it; where sites disagree, as all of them do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ordercast.pipeline.audit.columns import is_placed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def agreed_order(telling: DataFrame, disputed: DataFrame, blocks: DataFrame, suspects: DataFrame) -> DataFrame:
    """`run, block, place, message, sender` of all messages with a place, each once for each place it has.

    And whether it is `contested`: some site has something else there. `telling` are records that hold all of the sites
    that tell of the other blocks, `disputed` those that hold the suspect blocks; each may hold more.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    told_by = blocks.groupBy("run", "block").agg(
        f.min_by("life", f.struct(-f.col("rows"), f.col("life"))).alias("life")
    )
    bad = suspects.where(f.col("block").isNotNull()).select("run", "block").distinct()
    good = told_by.join(bad, ["run", "block"], "anti")
    agreed = _messages(telling).join(f.broadcast(good), ["run", "block", "life"], "semi").drop("life")
    others = _messages(disputed).join(f.broadcast(bad), ["run", "block"], "semi").drop("life").distinct()
    several = f.count("*").over(Window.partitionBy("run", "place")) > 1
    nobody = f.lit(False).alias("contested")
    return agreed.select("*", nobody).unionByName(others.select("*", several.alias("contested")))


def _messages(records: DataFrame) -> DataFrame:
    from pyspark.sql import functions as f

    placed = records.where(is_placed() & (f.col("code") >= 0))
    return placed.select("run", "life", "block", "place", "message", "sender")
