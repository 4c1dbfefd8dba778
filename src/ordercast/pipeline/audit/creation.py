"""Only what has been multicast is delivered; and what was multicast is delivered (`validity`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ordercast.core.ids import INCARNATION_BITS, SEQS_MAX
from ordercast.core.trace import Kind
from ordercast.pipeline.audit.columns import ORDERED_LEVELS, is_kind, is_unordered

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SEQ_BLOCK_BITS = 12


def delivered(order: DataFrame, records: DataFrame) -> DataFrame:
    """`run, block, message, sender` of all that is delivered; without a block what has no place."""
    from pyspark.sql import functions as f

    loose = records.where(is_unordered()).select("run", f.lit(None).cast("bigint").alias("block"), "message", "sender")
    return order.select("run", "block", "message", "sender").unionByName(loose.distinct())


def multicasts(records: DataFrame) -> DataFrame:
    """`run, life, index, message, ordered` of all that is multicast."""
    from pyspark.sql import functions as f

    rows = records.where(is_kind(Kind.MULTICAST) & f.col("message").isNotNull())
    ordered = f.coalesce(f.col("level").isin(*ORDERED_LEVELS), f.lit(False))
    return rows.select("run", "life", "index", "message", ordered.alias("ordered"))


def unequal(ones: DataFrame, others: DataFrame) -> DataFrame:
    """The blocks of messages, by sequence number, of which not both have the same."""
    from pyspark.sql import functions as f

    def digest(rows: DataFrame, sign: int) -> DataFrame:
        number = f.shiftright("message", SEQ_BLOCK_BITS).alias("messages")
        return rows.select("run", number, f.lit(sign).alias("sign"), f.xxhash64("message").alias("hash"))

    both = digest(ones, 1).unionByName(digest(others, -1)).groupBy("run", "messages")
    found = both.agg(f.sum("sign").alias("more"), f.bit_xor("hash").alias("hash"))
    return found.where("more != 0 or hash != 0").select("run", "messages")


def in_blocks(rows: DataFrame, blocks: DataFrame) -> DataFrame:
    """Those rows whose messages lie in these blocks."""
    from pyspark.sql import functions as f

    keyed = rows.withColumn("messages", f.shiftright("message", SEQ_BLOCK_BITS))
    return keyed.join(f.broadcast(blocks), ["run", "messages"], "semi").drop("messages")


def creation(delivered: DataFrame, multicasts: DataFrame, lives: DataFrame, sites: DataFrame) -> DataFrame:
    """`run, block, message, sender, excused` of what is delivered and nobody is known to have multicast.

    Excused: the trace of the sender's life is cut off or missing. `lives` has `run, sender, above`: of which messages
    on nobody knows; `sites` has `run, site` of all members of views.
    """
    from pyspark.sql import functions as f

    unknown = delivered.join(multicasts, ["run", "message"], "anti").join(f.broadcast(lives), ["run", "sender"], "left")
    site = f.shiftright("sender", INCARNATION_BITS).alias("site")
    unknown = unknown.select("*", site).join(
        f.broadcast(sites.select("run", "site", f.lit(True).alias("member"))), ["run", "site"], "left"
    )
    excused = f.coalesce(f.col("message").bitwiseAND(f.lit(SEQS_MAX - 1)) > f.col("above"), "member", f.lit(False))
    return unknown.select("run", "block", "message", "sender", excused.alias("excused"))
