"""The data pipeline on Spark: campaigns, audit, telemetry, streaming. pyspark is imported only once a job runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter


def register(spark: SparkSession) -> None:
    """Let a session, also one of Spark Connect, read ordered logs: `spark.readStream.format("ordercast")`."""
    from ordercast.pipeline.streaming.source import OrderedLog

    spark.dataSource.register(OrderedLog)


def exactly_once(frame: DataFrame, directory: Path) -> DataStreamWriter:
    """A writer of a stream to Parquet files, each batch exactly once (`streaming.sink`)."""
    from ordercast.pipeline.streaming import sink

    return sink.exactly_once(frame, directory)


def read_sink(spark: SparkSession, directory: Path) -> DataFrame:
    """What `exactly_once` has written (`streaming.sink`)."""
    from ordercast.pipeline.streaming import sink

    return sink.read_sink(spark, directory)
