"""The one pass over all records: what a life has in each block, in a few numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ordercast.core.trace import Kind
from ordercast.pipeline.audit.columns import is_kind, is_placed

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def digests(records: DataFrame, bits: int) -> DataFrame:
    """For each life, block of positions (null: records without a place) and block of indices what there is.

    Both kinds of blocks at once, so that one pass is enough; `merged` puts together what is of one block.
    """
    from pyspark.sql import functions as f

    placed = is_placed()
    block = f.when(placed, f.col("block")).alias("block")
    return records.groupBy("run", "life", block, f.shiftright("index", bits).alias("index_block")).agg(
        f.count("*").alias("rows"),
        f.min("index").alias("index_min"),
        f.max("index").alias("index_max"),
        f.sum("index").alias("index_sum"),
        f.min("delivery_index").alias("number_min"),
        f.max("delivery_index").alias("number_max"),
        f.min("place").alias("place_min"),
        f.max("place").alias("place_max"),
        f.min(f.col("place") - f.col("delivery_index")).alias("shift_min"),
        f.max(f.col("place") - f.col("delivery_index")).alias("shift_max"),
        f.bit_xor(f.when(placed, f.xxhash64("place", "code"))).alias("digest"),
        f.min(f.when(placed, f.coalesce("view", f.lit(-1)))).alias("view_min"),
        f.max(f.when(placed, f.coalesce("view", f.lit(-1)))).alias("view_max"),
        f.count_if(placed & ~is_kind(Kind.DELIVER)).alias("control"),
        f.count_if(is_kind(Kind.DELIVER)).alias("delivered"),
        f.count("position").alias("positioned"),
        f.max(f.when(is_kind(Kind.FINALIZE), f.col("position"))).alias("finalized"),
        f.max(f.when(is_kind(Kind.MULTICAST), f.col("message"))).alias("newest_sent"),
        *_of_safe(),
    )


def _of_safe() -> tuple[Column, ...]:
    """How many safe messages, and which."""
    from pyspark.sql import functions as f

    safe = is_placed() & (f.col("level") == "safe")
    return f.count_if(safe).alias("safe"), f.bit_xor(f.when(safe, f.xxhash64("place", "code"))).alias("safe_digest")


def merged(parts: DataFrame) -> DataFrame:
    """What each life has in each block of positions."""
    from pyspark.sql import functions as f

    least = [f.min(name).alias(name) for name in ("index_min", "number_min", "place_min", "shift_min", "view_min")]
    most = [f.max(name).alias(name) for name in ("index_max", "number_max", "place_max", "shift_max", "view_max")]
    total = [f.sum(name).alias(name) for name in ("rows", "control", "delivered", "positioned", "safe")]
    both = [f.bit_xor(name).alias(name) for name in ("digest", "safe_digest")]
    placed = parts.where(f.col("block").isNotNull())
    return placed.groupBy("run", "life", "block").agg(*least, *most, *total, *both)
