"""What takes DataFrames also works under Spark Connect; in a process of its own, for a process is of one kind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pipeline.grids import write_grid_file

JOB = """
import sys
from pathlib import Path
from pyspark.sql import SparkSession
from ordercast.pipeline.campaign.grid_file import load_grid
from ordercast.pipeline.campaign.job import run_campaign
from ordercast.pipeline.campaign.tables import bad_runs, read_campaign, summary, write_grid
from ordercast.pipeline.packing import shipped
from ordercast.verify.run import run

session = SparkSession.builder.remote("local[2]").getOrCreate()
assert "connect" in type(session).__module__
directory, plan = Path(sys.argv[2]), load_grid(Path(sys.argv[1]))
write_grid(directory, plan)
work = run_campaign(session, plan.distinct, directory)
next(work)
work.close()
with shipped(session):
    found = {each.row.run: each.row.whole() for each in run_campaign(session, plan.distinct, directory)}
assert found == {name: run(scenario) for name, scenario in plan.distinct.items()}
table = read_campaign(session, directory)
assert [row.runs for row in summary(table, "protocol_name").collect()] == [4, 4]
assert bad_runs(table).count() == 0
session.stop()
print("done")
"""


@pytest.mark.slow
def test_campaigns_run_under_connect(tmp_path: Path) -> None:
    pytest.importorskip("grpc", reason="Spark Connect's client is not installed")
    arguments = [sys.executable, "-c", JOB, str(write_grid_file(tmp_path / "files")), str(tmp_path / "out")]
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(arguments, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == "done\n", done.stderr
