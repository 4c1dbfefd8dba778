"""No message has two places in the order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ordercast.pipeline.audit.columns import suspect_blocks

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def duplicates(order: DataFrame) -> DataFrame:
    """All blocks in which a message stands that stands at another place too."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    same = Window.partitionBy("run", "message")
    several = order.select("run", "block", (f.min("place").over(same) != f.max("place").over(same)).alias("several"))
    return suspect_blocks(several.where("several"))
