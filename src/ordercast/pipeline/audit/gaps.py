"""Nothing is missing: neither records of a life, nor positions in what it delivers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ordercast.pipeline.audit.columns import is_placed, suspect_blocks

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def gaps(blocks: DataFrame) -> DataFrame:
    """Blocks in which a life does not count on one by one.

    That each goes on where the one before has ended is looked at when stretches are laid out.
    """
    from pyspark.sql import functions as f

    rows = f.col("rows")
    in_step = f.col("shift_min") == f.col("shift_max")
    numbers = f.col("number_max") - f.col("number_min") + 1
    return suspect_blocks(blocks.where(~(in_step & (numbers == rows))))


def gaps_exactly(records: DataFrame) -> DataFrame:
    """Blocks with a delivery that does not count on from the one before at its site; every record is compared."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    before = Window.partitionBy("run", "life").orderBy("index")
    number, place = f.col("delivery_index"), f.col("place")
    steps = records.where(is_placed()).select(
        "run",
        "block",
        ((number - f.lag(number).over(before) != 1) | (place - f.lag(place).over(before) != 1)).alias("bad"),
    )
    return suspect_blocks(steps.where("bad"))


def incomplete(parts: DataFrame) -> DataFrame:
    """Of each life the blocks of indices in which, or before which, a record is missing; or is there twice."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    whole = parts.groupBy("run", "life", "index_block").agg(
        f.sum("rows").alias("rows"),
        f.min("index_min").alias("first"),
        f.max("index_max").alias("last"),
        f.sum("index_sum").alias("sum"),
    )
    before = f.coalesce(f.lag("last").over(Window.partitionBy("run", "life").orderBy("index_block")), f.lit(-1))
    rows, first, last = f.col("rows"), f.col("first"), f.col("last")
    counts = (rows == last - first + 1) & (2 * f.col("sum") == (first + last) * rows)
    checked = whole.select("run", "life", "first", "last", before.alias("before"), counts.alias("counts"))
    return checked.where(~f.col("counts") | (first != f.col("before") + 1)).drop("counts")


def after_gaps(records: DataFrame, blocks: DataFrame) -> DataFrame:
    """The records in these blocks whose index does not follow on the one before, and that index."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    inside = f.col("index").between(f.col("first"), f.col("last"))
    found = records.join(f.broadcast(blocks), ["run", "life"]).where(inside)
    order = Window.partitionBy("run", "life", "first").orderBy("index")
    previous = f.coalesce(f.lag("index").over(order), f.col("before"))
    return found.select("*", previous.alias("previous")).where(f.col("index") != f.col("previous") + 1)
