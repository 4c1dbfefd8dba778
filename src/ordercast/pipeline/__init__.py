"""The data pipeline on Spark: campaigns, audit, telemetry, streaming. pyspark is imported only once a job runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def register(spark: SparkSession) -> None:
    """Let a session, also one of Spark Connect, read ordered logs: `spark.readStream.format("ordercast")`."""
    from ordercast.pipeline.streaming.source import OrderedLog

    spark.dataSource.register(OrderedLog)
