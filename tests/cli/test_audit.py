"""`ordercast audit`: what it prints, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace

from ordercast.cli.main import main
from ordercast.core.trace import Kind, TraceRecord
from ordercast.records.traces import TraceWriter
from tests.verify.audit.traces import trace_named

RECORDS = trace_named("agreed")
DELIVERIES = [place for place, each in enumerate(RECORDS) if each.kind is Kind.DELIVER]


def write(directory: Path, run: str, records: tuple[TraceRecord, ...] = RECORDS, name: str | None = None) -> Path:
    with TraceWriter(directory, name or run) as writer:
        for each in records:
            writer.write(replace(each, run=run))
    return writer.path


def broken() -> tuple[TraceRecord, ...]:
    """One delivery is of a message that nobody has multicast."""
    place = DELIVERIES[40]
    other = replace(RECORDS[place], message=(RECORDS[place].message or 0) + 500_000)
    return (*RECORDS[:place], other, *RECORDS[place + 1 :])


def audit(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["audit", *map(str, arguments)])


def test_a_good_run_is_good(tmp_path: Path) -> None:
    write(tmp_path, "one")
    result = audit(tmp_path)
    assert result.exit_code == 0
    assert "good: no violation" in result.stdout
    assert f"{len(RECORDS):,}" in result.stdout


def test_each_run_is_judged_by_itself(tmp_path: Path) -> None:
    write(tmp_path, "one")
    write(tmp_path, "two", broken())
    result = audit(tmp_path)
    assert result.exit_code == 1
    assert "violated in two: creation: " in result.stdout
    assert "violated in one" not in result.stdout
    assert "good" not in result.stdout


def test_sites_may_write_files_of_their_own(tmp_path: Path) -> None:
    for site in range(4):
        own = tuple(each for each in RECORDS if each.site == site)
        for part, start in enumerate(range(0, len(own), 300)):
            write(tmp_path / f"site-{site}", "live", own[start : start + 300], name=f"part-{9 - part}")
    result = audit(tmp_path, "--json")
    assert result.exit_code == 0
    assert [run["records"] for run in json.loads(result.stdout)["runs"]] == [len(RECORDS)]


def test_programs_get_the_witness(tmp_path: Path) -> None:
    write(tmp_path, "two", broken())
    result = audit(tmp_path, "--json")
    assert result.exit_code == 1
    findings = json.loads(result.stdout)
    (run,) = findings["runs"]
    assert findings["skipped"] == []
    assert run["violated"]["creation"] == 1
    (created,) = [each for each in run["violations"] if each["property"] == "creation"]
    bad = RECORDS[DELIVERIES[40]]
    assert created["sites"] == [bad.site]
    assert created["messages"] == [(bad.message or 0) + 500_000]
    assert "nobody has multicast" in created["what"]


def test_a_torn_file_is_named_and_skipped(tmp_path: Path) -> None:
    write(tmp_path, "one")
    torn = write(tmp_path, "two")
    torn.write_bytes(torn.read_bytes()[:-9])
    result = audit(tmp_path)
    assert result.exit_code == 1
    assert "skipped: " in result.stdout
    assert "two.parquet" in result.stdout
    assert "violated" not in result.stdout


def test_a_file_that_is_torn_in_its_midst_is_found_as_it_is_read(tmp_path: Path) -> None:
    write(tmp_path, "one")
    torn = write(tmp_path, "two")
    content = bytearray(torn.read_bytes())
    content[len(content) // 3] ^= 0xFF
    torn.write_bytes(content)
    result = audit(tmp_path, "--json")
    assert result.exit_code == 1
    findings = json.loads(result.stdout)
    assert [run["run"] for run in findings["runs"]] == ["one"]
    assert len(findings["skipped"]) == 1
    assert "two.parquet" in findings["skipped"][0]


def test_a_foreign_file_is_named_and_skipped(tmp_path: Path) -> None:
    write(tmp_path, "one")
    parquet.write_table(pa.table({"price": [1.5]}), tmp_path / "prices.parquet")
    result = audit(tmp_path)
    assert result.exit_code == 1
    assert "prices.parquet: is no trace" in result.stdout


def test_what_could_not_be_judged_is_said(tmp_path: Path) -> None:
    write(tmp_path, "cut", tuple(each for each in RECORDS if each.kind is not Kind.END))
    result = audit(tmp_path)
    assert result.exit_code == 0
    assert "cut: validity is not judged" in result.stderr


@pytest.mark.parametrize("name", ["nowhere", ""])
def test_a_directory_without_traces_is_wrong_use(tmp_path: Path, name: str) -> None:
    result = audit(tmp_path / name)
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "*.parquet" in result.stderr


def without_java(monkeypatch: pytest.MonkeyPatch, nowhere: Path) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(nowhere))


def test_long_traces_are_judged_without_spark_where_there_is_no_java(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "one")
    monkeypatch.setattr("ordercast.cli.audit.PLAIN_MAX", 1)
    without_java(monkeypatch, tmp_path)
    result = audit(tmp_path)
    assert result.exit_code == 0, result.output
    assert "good: no violation" in result.stdout
    assert "without Spark" in result.stderr


def test_what_is_for_spark_is_not_for_the_plain_engine(tmp_path: Path) -> None:
    write(tmp_path, "one")
    result = audit(tmp_path, "--engine", "plain", "--exact")
    assert result.exit_code == 2
    assert "leave out --engine plain" in result.stderr


@pytest.mark.parametrize("more", [("--engine", "spark"), ("--exact",), ("--master", "local[1]")])
def test_without_java_spark_cannot_be_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...]
) -> None:
    write(tmp_path, "one")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setattr("ordercast.pipeline.session._begun", lambda: None)
    result = audit(tmp_path, *more)
    assert result.exit_code == 3
    assert "Java" in result.stderr
    assert result.stderr.count("\n") == 1


def test_short_traces_need_no_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "one")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert audit(tmp_path).exit_code == 0


def test_telemetry_needs_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "one")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setattr("ordercast.pipeline.session._begun", lambda: None)
    result = CliRunner().invoke(main, ["telemetry", str(tmp_path)])
    assert result.exit_code == 3
    assert "Java" in result.stderr
