"""A standalone Spark cluster of two workers on this machine, on loopback alone: for tests and comparisons.

Its workers have what ordercast depends on, and not ordercast: they run a Python that sees the packages of this
environment but the project's own, so that a job must bring that along.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from ordercast.core.errors import NotFit
from ordercast.pipeline.session import WORKERS_PYTHON, need_java

LOOPBACK = "127.0.0.1"
WORKERS = 2
START_S = 120.0
STOP_S = 30.0

PROJECT = "ordercast"


class Cluster(NamedTuple):
    """Where it is reached, and what a job must say."""

    master: str
    settings: dict[str, str]
    """For `spark_session(master=..., settings=...)`."""

    def arguments(self) -> list[str]:
        """The same for a command."""
        return ["--master", self.master, *(f"--conf={key}={value}" for key, value in self.settings.items())]


@contextmanager
def spark_cluster(directory: Path) -> Iterator[Cluster]:
    """Start a master and two workers of one core each; they end with the block. Their logs are in the directory."""
    need_java()
    python = _python_without_the_project(directory)
    with ExitStack() as started:
        master_log = directory / "master.log"
        started.enter_context(_process("master.Master", master_log, "--port", "0", "--webui-port", "0"))
        master = _wait_for(master_log, r"Starting Spark master at (spark://\S+)")
        for number in range(WORKERS):
            log = directory / f"worker-{number}.log"
            place = ("--webui-port", "0", "--work-dir", str(directory / f"work-{number}"))
            started.enter_context(_process("worker.Worker", log, *place, "--cores", "1", "--memory", "1g", master))
        for number in range(WORKERS):
            _wait_for(directory / f"worker-{number}.log", r"Successfully registered with master (\S+)")
        yield Cluster(master, _settings(python))


def _settings(python: Path) -> dict[str, str]:
    return {
        WORKERS_PYTHON: str(python),
        "spark.driver.host": LOOPBACK,
        "spark.driver.bindAddress": LOOPBACK,
        "spark.driver.memory": "1g",
        "spark.executor.memory": "512m",
        "spark.sql.shuffle.partitions": "2",
    }


@contextmanager
def _process(what: str, log: Path, *arguments: str) -> Iterator[None]:
    import pyspark

    program = Path(pyspark.__file__).parent / "bin" / "spark-class"
    command = [str(program), f"org.apache.spark.deploy.{what}", "--host", LOOPBACK, *arguments]
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYSPARK_PYTHON")}
    environment["SPARK_LOCAL_IP"] = LOOPBACK
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, env=environment, start_new_session=True)
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_for(log: Path, pattern: str) -> str:
    end_s = time.monotonic() + START_S
    while time.monotonic() < end_s:
        found = re.search(pattern, log.read_text(errors="replace"))
        if found is not None:
            return found[1]
        time.sleep(0.1)
    raise NotFit(f"{log}: no sign of {pattern!r} within {START_S:g} s")


def _python_without_the_project(directory: Path) -> Path:
    """A program like this Python, that finds all packages of this environment but the project."""
    packages = directory / "packages"
    packages.mkdir(parents=True)
    for place in dict.fromkeys((sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))):
        for path in Path(place).iterdir():
            if not (path.suffix == ".pth" or path.name.startswith(PROJECT) or (packages / path.name).exists()):
                (packages / path.name).symlink_to(path)
    base = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    program = directory / "python"
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{packages}:$PYTHONPATH" exec "{base}" "$@"\n')
    program.chmod(0o755)
    return program


# --- the same campaign there and here ---


def main() -> int:
    """`python -m tools.spark_cluster GRID.toml`: exit code 1 if the digests differ."""
    grid = sys.argv[1]
    with TemporaryDirectory(prefix="cluster-") as directory:
        place = Path(directory)
        with spark_cluster(place) as cluster:
            there = campaign_digest(grid, place / "there", cluster.arguments())
        here = campaign_digest(grid, place / "here", [])
    print(f"cluster: {there}\nhere:    {here}\n{'equal' if there == here else 'DIFFERENT'}")
    return 0 if there == here else 1


def campaign_digest(grid: str | Path, out: Path, arguments: list[str]) -> str:
    """Run the command in a process of its own, which may use another Spark than this one."""
    command = [sys.executable, "-m", "ordercast", "campaign", str(grid), "--out", str(out), "--json", *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return str(json.loads(done.stdout)["digest"])


if __name__ == "__main__":
    sys.exit(main())
