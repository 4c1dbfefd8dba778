"""Source and sink through Spark Connect: in a process of its own, since a session of the other kind excludes it."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.pipeline.streaming.logs import sealed_and_tail
from tests.site.storage.entries import messages

JOB = """
import sys
from pathlib import Path
from pyspark.sql import SparkSession
from ordercast.pipeline import exactly_once, read_sink, register

log, out = sys.argv[1:]
spark = SparkSession.builder.remote("local[2]").getOrCreate()
register(spark)
assert spark.read.format("ordercast").option("start", 3).option("numTasks", 2).load(log).count() == 22
stream = spark.readStream.format("ordercast").option("maxPositionsPerBatch", 10).load(log)
query = exactly_once(stream, Path(out)).trigger(availableNow=True).start()
query.awaitTermination()
rows = read_sink(spark, Path(out)).select("position").collect()
print(sorted(row.position for row in rows) == list(range(25)), len(list(Path(out).glob("manifest/*.json"))))
spark.stop()
"""


@pytest.mark.slow
def test_a_log_is_read_and_streamed_by_way_of_spark_connect(tmp_path: Path) -> None:
    with closing(sealed_and_tail(tmp_path / "lis1", messages(25), 10)):
        command = [sys.executable, "-c", JOB, str(tmp_path / "lis1"), str(tmp_path / "out")]
        environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_TESTING": "1"}  # any port that is free
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == "True 3\n", done.stderr
