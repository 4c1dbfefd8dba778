"""What is final stays so, and a delivery says rightly whether it is final."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ordercast.core.trace import Kind
from ordercast.pipeline.audit.columns import is_kind, is_placed, suspect_blocks

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def finality(records: DataFrame, bits: int) -> DataFrame:
    """Blocks with a delivery that is called final before it is, or tentative after, or is safe too early; and the
    blocks up to which all was final then."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    says = is_kind(Kind.FINALIZE) | (is_kind(Kind.RECOVER) & ~is_placed())
    wanted = records.where(says | (is_placed() & f.col("final").isNotNull()))
    before = Window.partitionBy("run", "life").orderBy("index")
    said = f.last(f.when(says, f.struct("position")), ignorenulls=True).over(before)
    below = f.when(said.isNull(), f.lit(0)).otherwise(said["position"])
    told = wanted.select("run", "block", "place", "final", "level", below.alias("below")).where("place is not null")
    wrong = told.where("final != (place < below) or (level = 'safe' and place >= coalesce(below, 0))")
    ends = f.array(f.shiftright("below", bits), f.shiftright(f.col("below") - 1, bits))
    around = wrong.select("run", f.explode(ends))
    return suspect_blocks(wrong).unionByName(suspect_blocks(around.toDF("run", "block")))


def finalizations(records: DataFrame, suspects: DataFrame) -> DataFrame:
    """The records that say what is final, as far as they are needed: in suspect blocks all of them; of other blocks
    the first and the last, and whatever is followed by something other than a greater one.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    says = is_kind(Kind.FINALIZE)
    telling = records.where(says | is_kind(Kind.RETRACT, Kind.RECOVER, Kind.CRASH, Kind.END))
    order = Window.partitionBy("run", "life").orderBy("index")
    next_position = f.lead(f.when(says, f.col("position"))).over(order)
    neighbours = telling.select(
        "*",
        f.lag("block").over(order).alias("block_before"),
        f.lead("block").over(order).alias("block_after"),
        f.lag("position").over(order).alias("position_before"),
        next_position.alias("position_after"),
    ).where(says)
    blocks = suspects.where("block is not null").select("run", "block", f.lit(True).alias("suspect")).distinct()
    known = neighbours.join(f.broadcast(blocks), ["run", "block"], "left")
    steady = (
        (f.col("block_before") == f.col("block"))
        & (f.col("block_after") == f.col("block"))
        & (f.col("position_before") <= f.col("position"))
        & (f.col("position") <= f.col("position_after"))
    )
    needless = f.coalesce(steady, f.lit(False)) & f.col("suspect").isNull()
    return known.where(~needless).drop("block_before", "block_after", "position_before", "position_after", "suspect")
