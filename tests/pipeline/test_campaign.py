"""Campaigns on Spark: the results of plain runs, whatever happens to workers, files and the driver."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from threading import Thread
from time import sleep

import pytest
from msgspec.structs import replace
from pyspark.sql import SparkSession
from tools.spark_workers import kill_a_worker

from ordercast.core.errors import NotFit, WrongUse
from ordercast.pipeline.campaign.grid_file import load_grid
from ordercast.pipeline.campaign.job import run_campaign
from ordercast.pipeline.campaign.plan import Plan
from ordercast.pipeline.campaign.results import Outcome, digest_of, result_path, row_of, trace_path, write_outcome
from ordercast.pipeline.campaign.tables import bad_runs, read_campaign, summary, write_grid
from ordercast.pipeline.packing import code_digest
from ordercast.studies.framework.measures import Silence
from ordercast.verify.run import run
from tests.pipeline.grids import GRID, write_grid_file


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return load_grid(write_grid_file(tmp_path / "files"))


def outcomes(session: SparkSession, plan: Plan, directory: Path, *, trace: bool = False) -> dict[str, Outcome]:
    return {each.row.run: each for each in run_campaign(session, plan.distinct, directory, trace=trace)}


def modified(directory: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in directory.glob("results/*.parquet")}


def test_results_are_those_of_plain_runs_and_what_is_whole_is_not_run_again(
    spark: SparkSession, plan: Plan, tmp_path: Path
) -> None:
    found = outcomes(spark, plan, tmp_path, trace=True)
    assert {name: each.row.whole() for name, each in found.items()} == {
        name: run(scenario) for name, scenario in plan.distinct.items()
    }
    first = modified(tmp_path)
    torn, stale, traceless, *others = first
    os.truncate(tmp_path / "results" / torn, 100)
    other = found[stale.removesuffix(".parquet")]
    write_outcome(tmp_path, replace(other, row=replace(other.row, code="of yesterday")))
    trace_path(tmp_path, traceless.removesuffix(".parquet")).unlink()
    (tmp_path / "results" / f".{torn}.gone.unfinished").touch()
    again = outcomes(spark, plan, tmp_path, trace=True)
    assert digest_of(again.values()) == digest_of(found.values())
    assert all(each.row.code == code_digest() for each in again.values())
    second = modified(tmp_path)
    assert [name for name in first if second[name] == first[name]] == others
    assert len(list(tmp_path.glob("traces/*.parquet"))) == len(found)
    assert not list(tmp_path.rglob("*.unfinished"))


def test_a_campaign_is_a_table_with_labels(spark: SparkSession, plan: Plan, tmp_path: Path) -> None:
    with pytest.raises(WrongUse, match="no campaign is there"):
        read_campaign(spark, tmp_path)
    write_grid(tmp_path, plan)
    bad = plan.runs[0]
    (tmp_path / "results").mkdir()
    for each in plan.runs:
        result = run(each.scenario)
        result = replace(result, violations=["fifo: made up"]) if each is bad else result
        write_outcome(tmp_path, Outcome(row_of(each.run, "", each.scenario, result), {"a": 1.0}))
    table = read_campaign(spark, tmp_path)
    rows = table.collect()
    assert [row.run for row in rows] == [each.run for each in plan.runs]
    assert [(row.scenario, row.protocol_name, row.wan_0_delay_ms) for row in rows] == [
        tuple(each.labels.values()) for each in plan.runs
    ]
    assert rows[0].figures == {"a": 1.0}
    assert [row.run for row in bad_runs(table).collect()] == [bad.run]
    summarised = summary(table, "protocol_name").collect()
    assert [(row.protocol_name, row.runs, row.bad) for row in summarised] == [("hybrid", 4, 1), ("token-site", 4, 0)]
    means = [row.last_mean_ms for row in rows[:4]]
    assert summarised[0].last_mean_ms == pytest.approx(sum(means) / 4)
    assert summarised[0].last_p99_ms == max(row.last_p99_ms for row in rows[:4])
    assert 0 < summarised[0].last_mean_ms_within < summarised[0].last_mean_ms
    assert summarised[0].times_limit > 1


def test_a_killed_worker_changes_nothing(spark: SparkSession, tmp_path: Path) -> None:
    """At its first run, so that Spark has to hand that one out again."""
    long = GRID.replace("count = 2", "count = 1") + "duration_s = [40]\n"
    plan = load_grid(write_grid_file(tmp_path / "files", long))
    killed: list[int] = []

    def kill() -> None:
        while not killed:
            sleep(0.05)
            busy = list((tmp_path / "traces").glob(".*.unfinished"))
            pid = kill_a_worker(os.getpid()) if busy else None
            killed.extend([pid] if pid is not None else [])

    thread = Thread(target=kill, daemon=True)
    thread.start()
    found = outcomes(spark, plan, tmp_path, trace=True)
    thread.join(60)
    assert len(killed) == 1
    assert {name: each.row.whole() for name, each in found.items()} == {
        name: run(scenario) for name, scenario in plan.distinct.items()
    }
    assert not list(tmp_path.rglob("*.unfinished"))


def test_whoever_stops_early_finds_whole_files_and_goes_on_from_there(spark: SparkSession, tmp_path: Path) -> None:
    grid = GRID.replace("count = 2", "count = 10") + "duration_s = [4]\n"
    plan = load_grid(write_grid_file(tmp_path / "files", grid))
    with closing(run_campaign(spark, plan.distinct, tmp_path)) as some:
        first = next(some)
        with pytest.raises(NotFit, match="another campaign is at work there"):
            next(run_campaign(spark, plan.distinct, tmp_path))
    written = modified(tmp_path)
    assert f"{first.row.run}.parquet" in written
    assert len(written) < len(plan.distinct)
    assert not list(tmp_path.rglob("*.unfinished"))
    found = outcomes(spark, plan, tmp_path)
    assert {name: modified(tmp_path)[name] for name in written} == written
    assert found.keys() == plan.distinct.keys()


def test_measures_are_made_where_the_run_is(spark: SparkSession, plan: Plan, tmp_path: Path) -> None:
    scenarios = dict([next(iter(plan.distinct.items()))])
    (found,) = run_campaign(spark, scenarios, tmp_path, measure=Silence)
    measure = Silence()
    (scenario,) = scenarios.values()
    run(scenario, observers=[measure])
    assert found.figures["silence_ms"] == measure.figures()["silence_ms"]


def test_what_hinders_the_workers_is_said_in_one_line(spark: SparkSession, plan: Plan, tmp_path: Path) -> None:
    (name, scenario), *_ = plan.distinct.items()
    result_path(tmp_path, name).parent.mkdir()
    work = run_campaign(spark, {name: scenario}, tmp_path, measure=_NoPlace)
    with pytest.raises(NotFit, match=r"^no place left; what is finished is in "):
        next(work)


class _NoPlace(Silence):
    """Fails as a full disk does."""

    def figures(self) -> dict[str, float]:
        raise OSError("no place left")
