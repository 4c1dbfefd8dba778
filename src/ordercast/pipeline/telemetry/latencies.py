"""From a multicast to its deliveries, as histograms with buckets that grow with the latency.

Buckets add up, over files, sites and minutes; quantiles do not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ordercast.core.ids import ORIGIN_SHIFT
from ordercast.core.trace import Kind
from ordercast.pipeline.audit.columns import is_kind, is_placed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

BUCKETS_PER_OCTAVE = 8
"""A bucket ends 9 % above where it begins."""

US_PER_MINUTE = 60_000_000

OWN, LAST, FINAL = STAGES = ("own", "last", "final")
"""Until the sender's own site delivers, until the last site does, until it is final at the sender's site."""


def sent(records: DataFrame) -> DataFrame:
    """`run, message, level, origin, sent_us, minute` of all that is multicast; minutes count from the run's first."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    rows = records.where(is_kind(Kind.MULTICAST) & f.col("message").isNotNull())
    begin = f.min("at_us").over(Window.partitionBy("run"))
    minute = f.floor((f.col("at_us") - begin) / US_PER_MINUTE).alias("minute")
    origin = f.shiftright("message", ORIGIN_SHIFT).alias("origin")
    return rows.select("run", "message", "level", origin, f.col("at_us").alias("sent_us"), minute)


def told(records: DataFrame) -> DataFrame:
    """`run, message, site, life, place, told_us` of all that is delivered."""
    from pyspark.sql import functions as f

    rows = records.where(is_kind(Kind.DELIVER) & f.col("message").isNotNull())
    return rows.select("run", "message", "site", "life", "place", f.col("at_us").alias("told_us"))


def final_at(records: DataFrame) -> DataFrame:
    """`run, message, final_us`: when a message was final at the site that had multicast it."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    own = is_placed() & is_kind(Kind.DELIVER) & (f.col("sender") == f.col("life"))
    says = is_kind(Kind.FINALIZE)
    key = f.when(says, 2 * f.col("position") - 1).otherwise(2 * f.col("place"))
    rows = records.where(says | own).select("*", key.alias("key"), says.alias("says"))
    backwards = Window.partitionBy("run", "life").orderBy(f.desc("key"))  # a frame that grows is fast
    later = backwards.rowsBetween(Window.unboundedPreceding, -1)
    said = f.last(f.when(f.col("says"), f.col("at_us")), ignorenulls=True).over(later)
    final = f.greatest("at_us", said).alias("final_us")
    known = rows.select("run", "message", "says", final, said.isNotNull().alias("known"))
    return known.where("not says and known").select("run", "message", "final_us")


def stages(sent: DataFrame, told: DataFrame, final_at: DataFrame) -> DataFrame:
    """`run, origin, level, minute, stage, latency_us` of each message."""
    from pyspark.sql import functions as f

    until = told.groupBy("run", "message").agg(
        f.max("told_us").alias("last_us"),
        f.min(f.when(f.shiftright("message", ORIGIN_SHIFT) == f.col("site"), f.col("told_us"))).alias("own_us"),
    )
    ends = sent.join(until, ["run", "message"], "left").join(final_at, ["run", "message"], "left")
    after = f.map_from_arrays(
        f.array(*map(f.lit, STAGES)), f.array(*(f.col(f"{stage}_us") - f.col("sent_us") for stage in STAGES))
    )
    rows = ends.select("run", "origin", "level", "minute", f.explode(after).alias("stage", "latency_us"))
    return rows.where("latency_us is not null")


def histogram(stages: DataFrame) -> DataFrame:
    """Messages by site, level, stage, minute and bucket. Bucket 0 holds what took no time, or less."""
    from pyspark.sql import functions as f

    positive = f.greatest(f.col("latency_us"), f.lit(1))
    bucket = f.floor(f.log2(positive) * BUCKETS_PER_OCTAVE).alias("bucket")
    keys = ("run", "origin", "level", "stage", "minute")
    return stages.groupBy(*keys, bucket).agg(
        f.count("*").alias("messages"), f.sum("latency_us").alias("sum_us"), f.max("latency_us").alias("max_us")
    )


def ways(sent: DataFrame, told: DataFrame) -> DataFrame:
    """`run, origin, site, least_us, negative`: the least time from a multicast to its delivery at another site.

    Of fifo messages that is the way; of others an upper bound. Negative ones are the clocks' doing.
    """
    from pyspark.sql import functions as f

    both = told.join(sent.select("run", "message", "origin", "sent_us"), ["run", "message"]).where("site != origin")
    way = f.col("told_us") - f.col("sent_us")
    return both.groupBy("run", "origin", "site").agg(
        f.min(way).alias("least_us"), f.count_if(way < 0).alias("negative"), f.count("*").alias("messages")
    )


def rates(sent: DataFrame, told: DataFrame) -> DataFrame:
    """`run, origin, messages, undelivered, first_us, last_us`: what each site has multicast."""
    from pyspark.sql import functions as f

    delivered = told.select("run", "message", f.lit(True).alias("delivered")).distinct()
    known = sent.join(delivered, ["run", "message"], "left")
    return known.groupBy("run", "origin").agg(
        f.count("*").alias("messages"),
        f.count_if(f.col("delivered").isNull()).alias("undelivered"),
        f.min("sent_us").alias("first_us"),
        f.max("sent_us").alias("last_us"),
    )


def quantile(buckets: Mapping[int, int], share: float) -> float:
    """Where so large a share of the messages is done, in microseconds: the middle of a bucket."""
    wanted = math.ceil(share * sum(buckets.values()))
    seen = 0
    for bucket in sorted(buckets):
        seen += buckets[bucket]
        if seen >= wanted:
            break
    return float(2 ** ((bucket + 0.5) / BUCKETS_PER_OCTAVE))
