"""The Spark session that a job runs in: the caller's own, or one that is made for it and ends with it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from ordercast.core.errors import NotFit
from ordercast.pipeline.packing import shipped

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOCAL = "local[*,4]"
"""Every core, and up to four attempts at a task: plain `local[*]` gives up when a worker is lost."""

OLDEST_JAVA = 17
CONNECT = "sc://"

WORKERS_PYTHON = "spark.pyspark.python"
"""The Python program of the workers: by default the one that runs here. Spark itself heeds this setting only where
`spark-submit` starts the program."""

GET_JAVA = "install one (on Debian: apt install openjdk-17-jre-headless) or set JAVA_HOME to where it is"

QUIET = Path(__file__).with_name("log4j2.properties")

NOTICE = b"Using incubator modules"
"""What Java says of a choice of Spark's at every start; nobody can do anything about it."""

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.shuffle.partitions": "8",
    "spark.sql.adaptive.coalescePartitions.enabled": "true",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={QUIET.as_uri()} -XX:+UseParallelGC",
}
"""Of every session that is made here; its driver runs on this machine."""

HERE_ONLY = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
"""Of a session of which all else runs on this machine, too."""


@contextmanager
def spark_session(
    existing: SparkSession | None = None, *, master: str | None = None, settings: Mapping[str, str] | None = None
) -> Iterator[SparkSession]:
    """A session to run a job in. One that is given, or that the program has begun, is used and left alone; otherwise
    one is made, on `master` (`local[*,4]` if not said, `sc://HOST` for Spark Connect), and ends with the block. Workers
    on other machines are given this package; what it depends on they must have.
    """
    found = existing or _begun()
    if found is not None:
        yield found
        return
    master = master or LOCAL
    session = _make(master, settings or {})
    try:
        with nullcontext() if master.startswith("local") else shipped(session):
            yield session
    finally:
        session.stop()


def _begun() -> SparkSession | None:
    if "pyspark" not in sys.modules:
        return None
    from pyspark.sql import SparkSession

    return SparkSession.getActiveSession()


def _make(master: str, settings: Mapping[str, str]) -> SparkSession:
    from pyspark.sql import SparkSession

    if master.startswith(CONNECT):
        try:
            return SparkSession.builder.remote(master).getOrCreate()
        except ImportError as error:
            raise NotFit(f"Spark Connect needs more packages: pip install 'pyspark[connect]' ({error})") from error
    need_java()
    if WORKERS_PYTHON in settings:
        os.environ["PYSPARK_PYTHON"] = settings[WORKERS_PYTHON]
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    chosen = SETTINGS | {"spark.driver.memory": _memory()}
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        chosen |= HERE_ONLY
    else:
        _show_package_to_driver()
    builder = SparkSession.builder.appName("ordercast").master(master)
    for key, value in (chosen | dict(settings)).items():
        builder = builder.config(key, value)
    with _without_the_notice():
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def _show_package_to_driver() -> None:
    """The driver plans what a stream reads in processes of its own, with the Python of the workers, which may lack
    ordercast; what is shipped goes to the workers alone."""
    here = str(Path(__file__).parents[2])
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    if here not in paths:
        os.environ["PYTHONPATH"] = os.pathsep.join([here, *paths])


@contextmanager
def _without_the_notice() -> Iterator[None]:
    """Java inherits a pipe for its error output; all that comes out of it, but for the notice, is passed on."""
    errors = os.dup(2)
    reader, writer = os.pipe()
    os.dup2(writer, 2)
    os.close(writer)
    Thread(target=_pass_on, args=(reader, os.dup(errors)), daemon=True).start()
    try:
        yield
    finally:
        os.dup2(errors, 2)
        os.close(errors)


def _pass_on(reader: int, errors: int) -> None:
    with os.fdopen(reader, "rb") as lines, os.fdopen(errors, "wb", buffering=0) as out:
        for line in lines:
            if NOTICE not in line:
                out.write(line)


def _memory() -> str:
    """A quarter of the machine's memory, within bounds: the Python workers want theirs beside it."""
    total_mib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    return f"{min(max(total_mib // 4, 1024), 8192)}m"


# --- Java ---


def need_java() -> None:
    """Say in one line what is missing, before Spark says it in fifty."""
    java = _java()
    if java is None:
        raise NotFit(f"Spark needs Java {OLDEST_JAVA} or newer, and there is none: {GET_JAVA}")
    version = _java_version(java)
    if version is None:
        raise NotFit(f"Spark needs Java {OLDEST_JAVA} or newer, and {java} does not say what it is: {GET_JAVA}")
    if version < OLDEST_JAVA:
        raise NotFit(f"Spark needs Java {OLDEST_JAVA} or newer, and {java} is Java {version}: {GET_JAVA}")


def _java() -> str | None:
    """The program that Spark will start: it looks into JAVA_HOME first."""
    home = os.environ.get("JAVA_HOME")
    if home:
        return shutil.which("java", path=str(Path(home) / "bin"))
    return shutil.which("java")


def _java_version(java: str) -> int | None:
    """17 of `17.0.15`, and 8 of the old `1.8.0_402`."""
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30, check=False).stderr
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r'version "(?:1\.)?(\d+)', said)
    return int(found[1]) if found else None
