"""The same jobs on a cluster of two workers that do not have ordercast: the same results as here."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from tools.spark_cluster import Cluster, campaign_digest, spark_cluster

from ordercast.pipeline.campaign.grid_file import load_grid
from ordercast.pipeline.campaign.results import Outcome, digest_of, row_of
from ordercast.pipeline.session import WORKERS_PYTHON
from ordercast.pipeline.streaming.options import ReadOptions
from ordercast.pipeline.streaming.ranges import batches
from ordercast.pipeline.streaming.sink import manifests
from ordercast.verify.run import run
from tests.pipeline.grids import write_grid_file
from tests.pipeline.streaming.logs import sealed_and_tail
from tests.site.storage.entries import messages

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with spark_cluster(tmp_path_factory.mktemp("cluster")) as started:
        yield started


def python(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **more}
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=environment, check=False)


NOT_INSTALLED = """
import sys
from pyspark.sql import SparkSession

def tell(batches):
    import importlib.util
    import pyarrow as pa
    for batch in batches:
        found = [importlib.util.find_spec(name) is not None for name in ("ordercast", "msgspec", "scipy")]
        yield pa.RecordBatch.from_pylist([{"found": str(found)}])

builder = SparkSession.builder.master(sys.argv[1])
for setting in sys.argv[2:]:
    builder = builder.config(*setting.split("=", 1))
session = builder.getOrCreate()
print({row.found for row in session.range(0, 4, 1, 4).mapInArrow(tell, "found string").collect()})
"""


def test_a_campaign_gives_the_same_digest_on_workers_without_ordercast(cluster: Cluster, tmp_path: Path) -> None:
    settings = [f"{key}={value}" for key, value in cluster.settings.items()]
    told = python("-c", NOT_INSTALLED, cluster.master, *settings, PYSPARK_PYTHON=cluster.settings[WORKERS_PYTHON])
    assert told.stdout == "{'[False, True, True]'}\n", told.stderr
    grid = write_grid_file(tmp_path / "files")
    local = [
        Outcome(row_of(name, "", scenario, run(scenario)), {}) for name, scenario in load_grid(grid).distinct.items()
    ]
    assert campaign_digest(grid, tmp_path / "out", cluster.arguments()) == digest_of(local)


def test_a_log_is_exported_and_watched_with_the_same_rows_on_workers_without_ordercast(
    cluster: Cluster, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    order = messages(40)
    with (
        closing(sealed_and_tail(tmp_path / "lis1", order, 10)),
        closing(sealed_and_tail(tmp_path / "por1", order[:35], 8)),
    ):
        spread = ("--tasks", "3", "--batch", "25")
        export = ("-m", "ordercast", "export", str(tmp_path / "lis1"), "--out", str(out))
        told = python(*export, *spread, *cluster.arguments())
        assert told.stdout.startswith(f"{out}: 40 rows, positions 0 to 39, in "), told.stderr
        tables = [parquet.read_table(out / file.path) for manifest in manifests(out) for file in manifest.files]
        here = [row for batch in batches(ReadOptions(path=tmp_path / "lis1"), 0, 40) for row in batch.to_pylist()]
        assert pa.concat_tables(tables).sort_by("position").to_pylist() == here
        logs = [str(tmp_path / name) for name in ("lis1", "por1")]
        told = python("-m", "ordercast", "watch", *logs, "--once", *cluster.arguments())
        assert told.stdout == "good: lis1, por1 hold the same from 0 up to 35\n", told.stderr
