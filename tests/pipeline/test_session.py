"""Whose session a job runs in, and what is said where there can be none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ordercast.core.errors import NotFit
from ordercast.pipeline.session import need_java, spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def _java_that_says(directory: Path, *said: str) -> Path:
    """A JAVA_HOME whose `java -version` prints these lines."""
    program = directory / "bin" / "java"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n" + "".join(f"echo '{line}' >&2\n" for line in said))
    program.chmod(0o755)
    return directory


def test_without_java_one_line_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotFit, match=r"^Spark needs Java 17 or newer, and there is none: .*apt install.*$"):
        need_java()


def test_a_java_home_without_java_counts_as_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(NotFit, match="there is none"):
        need_java()


@pytest.mark.parametrize(
    ("said", "version"), [('openjdk version "11.0.2" 2019-01-15', 11), ('java version "1.8.0_402"', 8)]
)
def test_an_old_java_is_named(said: str, version: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(_java_that_says(tmp_path, said)))
    with pytest.raises(NotFit, match=rf"is Java {version}: "):
        need_java()


def test_a_program_that_says_no_version_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(_java_that_says(tmp_path, "what?")))
    with pytest.raises(NotFit, match="does not say what it is"):
        need_java()


@pytest.mark.parametrize(
    "said", ['openjdk version "17.0.15" 2025-04-15', 'openjdk version "21" 2023-09-19', 'openjdk version "25.0.1"']
)
def test_a_newer_java_will_do(said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(_java_that_says(tmp_path, said)))
    need_java()


def test_a_session_that_is_given_is_used_and_left_alone(spark: SparkSession) -> None:
    with spark_session(spark) as session:
        assert session is spark
    assert spark.range(3).count() == 3


def test_a_session_that_the_program_has_begun_is_used_and_left_alone(spark: SparkSession) -> None:
    with spark_session() as session:
        assert session is spark
    assert spark.range(3).count() == 3


JOB = """
import os
from pyspark.sql import SparkSession
from ordercast.pipeline.session import spark_session
with spark_session(master="local[1,4]") as session:
    assert session.conf.get("spark.sql.session.timeZone") == "UTC"
    assert session.sparkContext.uiWebUrl is None
    assert session.range(3).mapInArrow(lambda batches: batches, "id long").count() == 3
assert SparkSession.getActiveSession() is None
print("done")
"""


@pytest.mark.slow
def test_a_session_of_its_own_is_quiet_and_ends_with_the_job() -> None:
    done = subprocess.run([sys.executable, "-c", JOB], env=os.environ, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("done\n", "")
