"""A job of your own over a site's ordered log: the messages as a table, each of them exactly once.

    python examples/stream_messages.py data/lis1 messages

Run it again for what has come since; or choose `.trigger(processingTime="1 second")`, and it goes on.
"""

import sys
from pathlib import Path

from pyspark.sql import SparkSession

from ordercast.pipeline import exactly_once, register

if __name__ == "__main__":
    log, out = sys.argv[1:]
    spark = SparkSession.builder.getOrCreate()
    register(spark)
    stream = spark.readStream.format("ordercast").option("rows", "messages").load(log)
    text = stream.selectExpr("position", "timestamp_micros(wall_us) AS at", "sender", "CAST(payload AS STRING) AS text")
    exactly_once(text, Path(out)).trigger(availableNow=True).start().awaitTermination()
