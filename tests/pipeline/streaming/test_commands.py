"""`ordercast export` and `ordercast watch`: what they print, their exit codes, what they say of wrong use."""

from __future__ import annotations

import json
import runpy
import sys
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as parquet
import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace

from ordercast.cli.main import main
from ordercast.pipeline.streaming.sink import manifests, read_sink
from ordercast.site.storage.ordered_log import OrderedLog
from tests.pipeline.streaming.logs import add, log_in
from tests.site.storage.entries import bundle, entries, messages, mixed, save_base

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [*map(str, arguments)])


def held(out: Path) -> list[int]:
    """Positions, by the manifests."""
    tables = [parquet.read_table(out / file.path) for manifest in manifests(out) for file in manifest.files]
    return sorted(position for table in tables for position in table["position"].to_pylist())


def log_with(stack: ExitStack, directory: Path, **options: int) -> OrderedLog:
    log = log_in(directory, segment_positions=10, **options)
    stack.enter_context(closing(log))
    return log


def test_an_export_goes_on_where_it_was(spark: SparkSession, tmp_path: Path) -> None:
    with ExitStack() as stack:
        log = log_with(stack, tmp_path / "lis1")
        add(log, [*mixed(), *messages(7, start=8)])
        export = ("export", log.directory, "--out", tmp_path / "out")
        done = run(*export, "--from", 2, "--batch", 9, "--json")
        assert (done.exit_code, done.stderr) == (0, "")
        said = json.loads(done.stdout)
        assert (said["rows"], said["first"], said["last"], said["batches"]) == (13, 2, 14, 2)
        add(log, messages(5, start=15))
        done = run(*export)
        assert (
            done.stdout
            == f"{tmp_path / 'out'}: 18 rows, positions 2 to 19, in {said['files'] + 1} files of 3 batches\n"
        )
        assert held(tmp_path / "out") == list(range(2, 20))
        other = run(*export, "--messages")
        assert (other.exit_code, other.stdout) == (2, "")
        assert other.stderr == f"{tmp_path / 'out'}: was begun with rows 'all', not 'messages'; use another directory\n"


def test_what_is_kept_no_longer_is_told_in_one_line(spark: SparkSession, tmp_path: Path) -> None:
    with ExitStack() as stack:
        log = log_with(stack, tmp_path / "lis1", retention_bytes=0)
        add(log, messages(30))
        save_base(log, 20)
        add(log, messages(1, start=30))
        done = run("export", log.directory, "--out", tmp_path / "out", "--from", 5)
        assert (done.exit_code, done.stderr) == (2, "position 5 is no longer kept: read from 20 on\n")


def test_a_watch_says_whether_the_sites_hold_the_same(spark: SparkSession, tmp_path: Path) -> None:
    order = messages(25)
    with ExitStack() as stack:
        logs = [log_with(stack, tmp_path / name) for name in ("lis1", "por1")]
        for log in logs:
            add(log, order)
        paths = [log.directory for log in logs]
        good = run("watch", *paths, "--once")
        assert (good.exit_code, good.stdout) == (0, "good: lis1, por1 hold the same from 0 up to 25\n")
        add(logs[0], entries(bundle(25, b"x"), start=25))
        add(logs[1], [replace(each, digest=5) for each in entries(bundle(25, b"x"), start=25)])
        bad = run("watch", *paths, "--json")
        assert bad.exit_code == 1
        violation = json.loads(bad.stdout)["violation"]
        assert (violation["property"], violation["position"], violation["sites"]) == ("order", 25, ["lis1", "por1"])
        assert violation["said"].startswith("digest is ")


def test_the_example_of_a_job_runs(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ExitStack() as stack:
        log = log_with(stack, tmp_path / "lis1")
        add(log, mixed())
        monkeypatch.setattr(sys, "argv", ["", str(log.directory), str(tmp_path / "out")])
        runpy.run_path("examples/stream_messages.py", run_name="__main__")
        rows = read_sink(spark, tmp_path / "out").orderBy("position").collect()
        assert [(row.position, row.sender, row.text) for row in rows[:2]] == [(1, "alice", "a"), (2, "alice", "b")]
        assert len(rows) == 6


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("watch", "."), 2, "nothing to compare: name the log directories of two sites or more"),
        (("watch", ".", "./sub"), 3, "is no ordered log (it has no log.sqlite); name a site's log directory"),
        (("export", ".", "--out", "."), 2, "holds other things; name a directory that is new, or one to go on with"),
    ],
)
def test_wrong_use_is_told_in_one_line(
    spark: SparkSession,
    arguments: tuple[str, ...],
    code: int,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path)
    done = run(*arguments)
    assert (done.exit_code, done.stdout) == (code, "")
    assert done.stderr.endswith(f"{said}\n")
    assert done.stderr.count("\n") == 1
