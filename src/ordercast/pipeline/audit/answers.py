"""An answer to what has been retracted comes up after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ordercast.core.trace import Kind
from ordercast.pipeline.audit.columns import is_kind, is_placed, suspect_blocks

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def answers(records: DataFrame, multicasts: DataFrame, order: DataFrame) -> DataFrame:
    """Blocks of what a site has multicast since it delivered something that it retracts: what was multicast before the
    retraction, and what comes up before all that is retracted has come up again.

    Retractions are few, and so is what each takes back.
    """
    from pyspark.sql import functions as f

    retractions = records.where(is_kind(Kind.RETRACT)).select(
        "run", "life", f.col("index").alias("retracted_at"), f.col("position").alias("from")
    )
    told = records.where(is_placed()).select("run", "life", "index", "place", "message")
    void = told.join(f.broadcast(retractions), ["run", "life"]).where("index < retracted_at and place >= from")
    again = order.select("run", "message", f.col("place").alias("again"))
    since = void.join(again, ["run", "message"], "left").groupBy("run", "life", "retracted_at")
    spans = since.agg(f.min("index").alias("since"), f.max("again").alias("again"))
    sent = multicasts.where("ordered").join(f.broadcast(spans), ["run", "life"]).where("index > since")
    placed = sent.join(order.select("run", "message", "block", "place"), ["run", "message"])
    return suspect_blocks(placed.where("index < retracted_at or place < again"))
