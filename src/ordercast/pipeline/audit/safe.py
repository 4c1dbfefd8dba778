"""A safe message is delivered only once enough members of the view hold it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ordercast.core.ids import INCARNATION_BITS
from ordercast.core.trace import Kind
from ordercast.pipeline.audit.columns import is_kind, is_placed, suspect_blocks

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def logged(records: DataFrame) -> DataFrame:
    """For each life and block what safe messages it had in its log before it delivered them."""
    from pyspark.sql import functions as f

    rows = records.where(is_kind(Kind.ORDER) & ~is_placed() & f.col("position").isNotNull())
    rows = rows.where("message is not null")
    return rows.groupBy("run", "life", "block").agg(
        f.count("*").alias("held"), f.bit_xor(f.xxhash64("position", "message")).alias("held_digest")
    )


def safe(blocks: DataFrame, logged: DataFrame, members: DataFrame) -> DataFrame:
    """Blocks with safe messages that not every member of the view has held, each all of them in one life.

    `members` has `run, view, site, size`, of views of which all say the same. Fewer holders are often enough; the check
    itself counts.
    """
    from pyspark.sql import functions as f

    told = (
        blocks.where("safe > 0")
        .groupBy("run", "block")
        .agg(f.max("safe").alias("safe"), f.max("safe_digest").alias("safe_digest"), f.max("view_max").alias("view"))
    )
    holding = told.join(logged, ["run", "block"]).where("held = safe and held_digest = safe_digest")
    site = f.shiftright("life", INCARNATION_BITS).alias("site")
    holders = holding.select("run", "block", "view", site).join(f.broadcast(members), ["run", "view", "site"])
    counted = holders.groupBy("run", "block").agg((f.count_distinct("site") == f.max("size")).alias("by_all"))
    held = counted.where("by_all")
    return suspect_blocks(told.join(held, ["run", "block"], "anti"))
