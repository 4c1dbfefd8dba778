"""What is read again, once it is known which blocks and messages are suspects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ordercast.core.trace import Kind
from ordercast.pipeline.audit.columns import is_kind, is_placed, is_unordered, suspect_messages

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

COURSE = (Kind.RETRACT, Kind.RECOVER, Kind.LEAVE, Kind.CRASH, Kind.END)
"""Beside views: how a life goes. There are few of these, whatever is multicast."""


def courses(records: DataFrame) -> DataFrame:
    """All records that are no messages and tell how a life goes."""
    return records.where(is_kind(Kind.VIEW, *COURSE))


def in_suspect_blocks(records: DataFrame, suspects: DataFrame) -> DataFrame:
    """All that has a position there: what comes up, and what is logged."""
    from pyspark.sql import functions as f

    blocks = suspects.where("block is not null").select("run", "block").distinct()
    positioned = records.where(is_placed() | (is_kind(Kind.ORDER) & f.col("position").isNotNull()))
    return positioned.join(f.broadcast(blocks), ["run", "block"], "semi")


def of_suspect_messages(records: DataFrame, placed: DataFrame, suspects: DataFrame) -> DataFrame:
    """The multicasts of what is in suspect blocks, and all about suspect messages that have no place."""
    from pyspark.sql import functions as f

    messages = suspect_messages(placed.where("message is not null")).unionByName(suspects.where("message is not null"))
    loose = records.where(is_kind(Kind.MULTICAST) | is_unordered())
    return loose.join(f.broadcast(messages.select("run", "message").distinct()), ["run", "message"], "semi")
