"""The same message at the same position at every site."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ordercast.pipeline.audit.columns import is_placed, suspect_blocks

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def total_order(blocks: DataFrame) -> DataFrame:
    """Blocks of which the sites have not all the same: other contents, or only a part."""
    from pyspark.sql import functions as f

    same = f.struct("rows", "digest", "place_min", "place_max")
    compared = blocks.groupBy("run", "block").agg((f.min(same) != f.max(same)).alias("bad"))
    return suspect_blocks(compared.where("bad"))


def total_order_exactly(records: DataFrame) -> DataFrame:
    """Blocks with a position at which not all sites have the same; every record is compared."""
    from pyspark.sql import functions as f

    places = records.where(is_placed()).groupBy("run", "block", "place")
    return suspect_blocks(places.agg((f.min("code") != f.max("code")).alias("bad")).where("bad"))
