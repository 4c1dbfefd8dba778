"""`ordercast campaign` and `ordercast pack`: what they print, their exit codes, and what an interrupt leaves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path
from time import monotonic, sleep

import pytest
from bench.__main__ import main as bench
from click.testing import CliRunner, Result
from pyspark.sql import SparkSession

from ordercast.cli.engines import on_spark
from ordercast.cli.main import main
from ordercast.pipeline.campaign.results import read_outcome
from ordercast.pipeline.packing import code_digest
from ordercast.records.traces import read_trace
from ordercast.studies.framework.grid import Point, Ran, run_grid
from ordercast.studies.framework.measures import Silence
from ordercast.verify.run import RunResult
from tests.pipeline.grids import GRID, SCENARIO, write_grid_file
from tests.studies.test_grid import point

START_S = 180.0


def campaign(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["campaign", *map(str, arguments)])


def test_it_prints_a_summary_for_people_and_one_object_for_programs(spark: SparkSession, tmp_path: Path) -> None:
    grid, out = write_grid_file(tmp_path / "files"), tmp_path / "out"
    shown = campaign(grid, "--out", out)
    assert shown.exit_code == 0
    assert "grid.toml: 8 runs, 0 bad; digest " in shown.stdout
    assert "token-site" in shown.stdout
    assert shown.stderr == ""
    told = campaign(grid, "--out", out, "--json")
    findings = json.loads(told.stdout)
    assert findings["digest"] in shown.stdout
    assert [(row["protocol_name"], row["wan_0_delay_ms"], row["runs"], row["bad"]) for row in findings["summary"]] == [
        ("hybrid", 30.0, 2, 0),
        ("hybrid", 60.5, 2, 0),
        ("token-site", 30.0, 2, 0),
        ("token-site", 60.5, 2, 0),
    ]


def test_a_bad_run_is_named_with_exit_code_1(spark: SparkSession, tmp_path: Path) -> None:
    lossy = SCENARIO + '[[fault]]\nkind = "loss"\nat_s = 0\nprobability = 0.3\n'
    inside = 'scenario = "small.toml"\n[grid]\nseed = [7]\n'
    shown = campaign(write_grid_file(tmp_path / "files", inside, lossy), "--out", tmp_path / "out", "--trace")
    assert shown.exit_code == 1
    assert "bad: scenario small.toml, seed 7: " in shown.stdout
    assert "waits for" in shown.stdout
    assert len(list(tmp_path.glob("out/traces/*.parquet"))) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["none.toml", "--out", "out"], "none.toml: cannot be read (No such file or directory)\n"),
        (["grid.toml", "--out", "out", "--conf", "memory"], "--conf memory: expected KEY=VALUE, like spark"),
    ],
)
def test_wrong_use_is_one_line(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_grid_file(tmp_path)
    monkeypatch.chdir(tmp_path)
    done = campaign(*arguments)
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith(said)
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_an_interrupt_leaves_whole_files_and_says_how_to_go_on(tmp_path: Path) -> None:
    grid = write_grid_file(tmp_path / "files", GRID.replace("count = 2", "count = 500") + "duration_s = [4]\n")
    out = tmp_path / "out"
    command = [sys.executable, "-m", "ordercast", "campaign", str(grid), "--out", str(out), "--trace"]
    command += ["--master", "local[1,4]", "--conf", "spark.driver.memory=1g"]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    end_s = monotonic() + START_S
    while not list(out.glob("results/*.parquet")) and process.poll() is None and monotonic() < end_s:
        sleep(0.05)
    process.send_signal(signal.SIGINT)
    told, said = process.communicate(timeout=START_S)
    assert (process.returncode, told) == (130, "")
    lines = said.splitlines()
    assert lines[0].startswith("stopped: ")
    assert lines[0].endswith(f" of 2,000 runs are in {out}")
    assert lines[1:] == ["the same command goes on from there"]
    finished = [path.stem for path in out.glob("results/[!.]*")]
    assert 0 < len(finished) < 2000
    assert all(read_outcome(out, run) is not None for run in finished)
    for trace in out.glob(
        "traces/[!.]*"
    ):  # a worker on its way out may leave a hidden one, which the next start sweeps
        assert list(read_trace(trace))


def test_studies_can_run_on_spark_too(spark: SparkSession, tmp_path: Path) -> None:
    points: list[Point] = [(key, {**point(seed, 0.5), "warmup_s": 0.1}) for key, seed in ((5, 1), (6, 2), (7, 1))]
    usual = dict(run_grid(points, Silence, workers=1))
    runner = on_spark(spark, tmp_path)
    assert _results(dict(runner(points, Silence))) == _results(usual)
    written = sorted(tmp_path.glob("results/*"))
    assert len(written) == 2
    first = [path.stat().st_mtime_ns for path in written]
    assert _results(dict(runner(points, Silence))) == _results(usual)
    assert [path.stat().st_mtime_ns for path in written] == first


def _results(found: dict[int, Ran]) -> dict[int, tuple[RunResult, str]]:
    """Figures as text, for one that does not apply is not equal to itself."""
    return {key: (ran.result, str(sorted(ran.figures.items()))) for key, ran in found.items()}


def test_the_benchmark_compares_both(spark: SparkSession) -> None:
    arguments = ["campaign", "--runs", "4", "--rounds", "1", "--duration-s", "0.2", "--workers", "1"]
    done = CliRunner().invoke(bench, arguments)
    assert done.exit_code == 0, done.output
    session, each, figures = done.stdout.splitlines()
    assert session.startswith("session: ")
    assert each.startswith("pool ")
    assert json.loads(figures)["runs"] == 4


# --- the package as one file ---


def test_the_packed_package_can_be_imported_and_is_the_same_every_time(tmp_path: Path) -> None:
    for name in ("one.zip", "two.zip"):
        done = CliRunner().invoke(main, ["pack", str(tmp_path / name)])
        assert (done.exit_code, done.stdout) == (0, f"{tmp_path / name}\n")
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    names = zipfile.ZipFile(tmp_path / "one.zip").namelist()
    assert "ordercast/pipeline/campaign/work.py" in names
    assert not [name for name in names if "__pycache__" in name]
    code = (
        "import ordercast.pipeline.campaign.work as work; print(work.__file__); "
        "from ordercast.pipeline.packing import code_digest; print(code_digest('studies'))"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "one.zip")}
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    inside = tmp_path / "one.zip" / "ordercast" / "pipeline" / "campaign" / "work.py"
    assert told.stdout.splitlines() == [str(inside), code_digest("studies")]


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = CliRunner().invoke(main, ["pack", str(tmp_path / "file" / "x.zip")])
    assert (done.exit_code, done.stderr.count("\n")) == (3, 1)
