"""A campaign as a Spark job: a row for each run, results as files, what is finished already is not run again."""

from __future__ import annotations

import fcntl
import os
import uuid
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING

import msgspec

from ordercast.core.errors import NotFit
from ordercast.pipeline.campaign.plan import in_tasks
from ordercast.pipeline.campaign.results import RESULTS, TRACES, Outcome, read_outcome, result_path, trace_path
from ordercast.pipeline.campaign.work import REPORT_SCHEMA, Done, Orders, carry_out, rooms_of
from ordercast.pipeline.packing import code_digest
from ordercast.records.traces import BadTraceFile, opened
from ordercast.records.whole_files import sweep
from ordercast.simulator.observer import MakeMeasure
from ordercast.simulator.scenario import Scenario

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Row, SparkSession

LOOK_EVERY_S = 0.1
"""So often the driver looks which results have come."""

RUNS_PER_JOB = 10_000
"""Every task is told of all runs of its job, about 600 bytes each."""

WORKERS_ELSEWHERE = 32
"""So many tasks a cluster is taken to do at once."""

PATIENCE_S = 60.0
"""So long a cancelled job may take to end."""

LOCK = ".lock"


def run_campaign(
    session: SparkSession,
    scenarios: Mapping[str, Scenario],
    directory: Path,
    *,
    trace: bool = False,
    measure: MakeMeasure | None = None,
) -> Generator[Outcome, None, None]:
    """Have every scenario run and yield what comes of it as soon as it is there; first what was there before.

    The mapping is from identities (`plan`); its order is that in which the runs begin. The directory must be the
    same one for the workers and here. Whoever stops early cancels the job; what is finished stays finished.
    """
    with _alone_in(directory):
        code = code_digest(*rooms_of(measure))
        finished = {run: outcome for run in scenarios if (outcome := _finished(directory, run, code, trace))}
        yield from finished.values()
        left = {run: scenario for run, scenario in scenarios.items() if run not in finished}
        for run in left:
            result_path(directory, run).unlink(missing_ok=True)
        for part in _parts(left):
            orders = Orders(str(directory.resolve()), _encoded(part, _workers(session)), trace, measure)
            with closing(_results_of(session, orders, directory, code)) as outcomes:
                yield from outcomes


def _finished(directory: Path, run: str, code: str, trace: bool) -> Outcome | None:
    """What came of a run, if this very code ran it, and its trace is there if one is wanted."""
    outcome = read_outcome(directory, run)
    if outcome is None or outcome.row.code != code or (trace and not _is_whole(trace_path(directory, run))):
        return None
    return outcome


def _is_whole(path: Path) -> bool:
    try:
        with opened(path):
            return True
    except BadTraceFile:
        return False


def _parts(scenarios: Mapping[str, Scenario]) -> Iterator[dict[str, Scenario]]:
    items = list(scenarios.items())
    for start in range(0, len(items), RUNS_PER_JOB):
        yield dict(items[start : start + RUNS_PER_JOB])


def _encoded(scenarios: Mapping[str, Scenario], workers: int) -> tuple[tuple[tuple[str, bytes], ...], ...]:
    return tuple(
        tuple((run, msgspec.msgpack.encode(scenarios[run])) for run in task) for task in in_tasks(scenarios, workers)
    )


def _workers(session: SparkSession) -> int:
    """How many tasks go on at once. A cluster's workers may still be on their way as a job begins."""
    here = not is_remote(session) and str(session.sparkContext.master).startswith("local")
    return session.sparkContext.defaultParallelism if here else WORKERS_ELSEWHERE


@contextmanager
def _alone_in(directory: Path) -> Iterator[None]:
    """Nobody else runs a campaign there meanwhile; what killed workers leave is swept up before and after."""
    folders = [directory / name for name in (RESULTS, TRACES)]
    try:
        for folder in folders:
            folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(directory / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise NotFit(f"{error.filename or directory}: cannot be written ({error.strerror})") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(lock)
        raise NotFit(f"{directory}: another campaign is at work there; wait for its end, or choose another") from error
    try:
        for folder in folders:
            sweep(folder)
        yield
    finally:
        for folder in folders:
            sweep(folder)
        os.close(lock)


def _results_of(session: SparkSession, orders: Orders, directory: Path, code: str) -> Generator[Outcome, None, None]:
    """Yield what comes of the runs of one job, as their files appear."""
    missing = dict.fromkeys(run for task in orders.tasks for run, _ in task)
    job = _Job(session, orders)
    try:
        while missing:
            ended = job.ended.wait(LOOK_EVERY_S)
            for run in [run for run in _appeared(directory) if run in missing]:
                outcome = read_outcome(directory, run)
                if outcome is not None:
                    del missing[run]
                    yield outcome
            if ended:
                break
        job.check(missing, code, directory)
    finally:
        job.cancel()


def _appeared(directory: Path) -> list[str]:
    return [path.stem for path in (directory / RESULTS).glob("[!.]*.parquet")]


class _Job:
    """A Spark job that goes on in a thread of its own, so that it can be watched and cancelled."""

    def __init__(self, session: SparkSession, orders: Orders) -> None:
        self.ended = Event()
        self._session = session
        self._orders = orders
        self._tag = f"ordercast-{uuid.uuid4().hex}"
        self._done: list[Done] = []
        self._error: BaseException | None = None
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            _tag(self._session, self._tag)
            rows = _reports(self._session, self._orders)
            self._done = msgspec.convert([row.asDict() for row in rows], list[Done])
        except BaseException as error:
            self._error = error
        finally:
            self.ended.set()

    def cancel(self) -> None:
        """End it, if it goes on; its workers are ended by Spark."""
        if not self.ended.is_set():
            _interrupt(self._session, self._tag)
        self._thread.join(PATIENCE_S)

    def check(self, missing: Mapping[str, None], code: str, directory: Path) -> None:
        """Now that it has ended: why results are missing, or of other code than this."""
        self._thread.join()
        if self._error is not None:
            raise _explained(self._error)
        for done in self._done:
            if done.problem is not None:
                raise NotFit(f"{done.problem}; what is finished is in {directory}")
            if done.code != code:
                raise NotFit("the workers have another ordercast than this one: give them this one (ordercast pack)")
        if missing:
            raise NotFit(
                f"{directory}: {len(missing)} results are not here, though workers have written them: "
                "--out must be one directory for all machines"
            )


def _explained(error: BaseException) -> BaseException:
    """What Spark itself could not do, in a line; what went wrong inside a run is our own bug, and stays whole."""
    text = str(error)
    if not type(error).__module__.startswith(("pyspark.", "py4j.")) or "PythonException" in text:
        return error
    line = next((line for line in text.splitlines() if "Exception" in line), text)
    return NotFit(f"Spark has given up: {line.strip(' :')}")


def _tag(session: SparkSession, tag: str) -> None:
    """Name what this thread is about to run."""
    if is_remote(session):
        session.addTag(tag)
    else:
        session.sparkContext.addJobTag(tag)


def _interrupt(session: SparkSession, tag: str) -> None:
    """End it, from another thread; tags of a classic session do not reach across threads, those of its jobs do."""
    if is_remote(session):
        session.interruptTag(tag)
    else:
        session.sparkContext.cancelJobsWithTag(tag)


def is_remote(session: SparkSession) -> bool:
    """Whether it is one of Spark Connect, which has no context."""
    return type(session).__module__.startswith("pyspark.sql.connect.")


def _reports(session: SparkSession, orders: Orders) -> list[Row]:
    """Spark hands out the tasks in their order, and again if a worker is lost."""

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return carry_out(orders, batches)

    tasks = len(orders.tasks)
    return session.range(0, tasks, 1, tasks).mapInArrow(work, REPORT_SCHEMA).collect()
