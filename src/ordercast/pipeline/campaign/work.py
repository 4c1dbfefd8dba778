"""What a worker does: one run after the other, each result on disk before the next begins.

Two workers may do the same run at once, if one of them is taken for lost: they write the same bytes, and the file
gets its name from whichever ends last.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from ordercast.core.errors import NotFit, WrongUse
from ordercast.pipeline.campaign.results import TRACES, Outcome, result_path, row_of, trace_path, write_outcome
from ordercast.pipeline.packing import code_digest
from ordercast.simulator.observer import MakeMeasure
from ordercast.simulator.scenario import Scenario
from ordercast.simulator.trace import TraceObserver
from ordercast.verify.run import run

if TYPE_CHECKING:
    import pyarrow as pa

REPORT_SCHEMA = "run string, code string, problem string"
"""What a worker says of each run that it has done; `problem` is null, or why there is no file."""


class Orders(Struct, frozen=True):
    """What all workers of a job are told."""

    directory: str
    tasks: tuple[tuple[tuple[str, bytes], ...], ...]
    """Identity and scenario of each run, task by task."""
    trace: bool
    measure: MakeMeasure | None


class Done(Struct, frozen=True):
    """A row of `REPORT_SCHEMA`."""

    run: str
    code: str
    problem: str | None


def carry_out(orders: Orders, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The runs of the tasks that these batches give the numbers of."""
    import pyarrow as pa

    for batch in batches:
        for number in batch.column("id").to_pylist():
            done = [_carry_out_one(orders, run, scenario) for run, scenario in orders.tasks[number]]
            yield pa.RecordBatch.from_pylist([msgspec.to_builtins(each) for each in done])


def _carry_out_one(orders: Orders, name: str, encoded: bytes) -> Done:
    directory = Path(orders.directory)
    scenario = msgspec.msgpack.decode(encoded, type=Scenario)
    code = code_digest(*rooms_of(orders.measure))
    try:
        if not result_path(directory, name).exists():  # as it does if a worker was lost after this run
            write_outcome(directory, _outcome(orders, name, code, scenario))
    except (WrongUse, NotFit, OSError) as error:
        return Done(name, code, str(error))
    except Exception as error:
        error.add_note(f"This was run {name} of a campaign: {msgspec.json.encode(scenario).decode()}")
        raise
    return Done(name, code, None)


def _outcome(orders: Orders, name: str, code: str, scenario: Scenario) -> Outcome:
    directory, measure = Path(orders.directory), orders.measure and orders.measure()
    observers = [measure] if measure is not None else []
    if orders.trace:
        with TraceObserver(name, directory / TRACES) as trace:
            result = run(scenario, observers=[*observers, trace])
    else:
        trace_path(directory, name).unlink(missing_ok=True)
        result = run(scenario, observers=observers)
    return Outcome(row_of(name, code, scenario, result), measure.figures() if measure is not None else {})


def name_of(measure: MakeMeasure | None) -> str:
    """By which a measure can be told from others."""
    return "" if measure is None else f"{measure.__module__}.{measure.__qualname__}"


def rooms_of(measure: MakeMeasure | None) -> tuple[str, ...]:
    """The rooms of the package whose code decides what is measured, beside those of every run."""
    parts = name_of(measure).split(".")
    return (parts[1],) if parts[0] == "ordercast" else ()
