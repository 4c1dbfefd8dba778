"""Grid files: a scenario, and lists of values for some of its keys. Every combination of values is a run.

The format is described in docs/pipeline.md.
"""

from __future__ import annotations

import copy
import itertools
import re
from collections.abc import Iterator, Sequence
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from ordercast.core.mistakes import Mistake, join, require_number, shown
from ordercast.core.shape import shape
from ordercast.pipeline.campaign.plan import Plan, PlannedRun, planned
from ordercast.simulator.scenario import ScenarioError, from_table, read_tables

RUNS_MAX = 1_000_000
"""A grid with more of them is a slip of the pen."""

SEED = "seed"
SCENARIO = "scenario"

_KEY = re.compile(r"\w+(\[\d+\])*(\.\w+(\[\d+\])*)*")
_STEP = re.compile(r"(\w+)|\[(\d+)\]")


class GridFile(Struct, frozen=True, forbid_unknown_fields=True):
    """A grid file."""

    scenario: str | list[str] | dict[str, Any]
    grid: dict[str, Any] = {}


class Axis(NamedTuple):
    """A key and the values that it takes."""

    key: str
    values: Sequence[Any]


class Drawn(NamedTuple):
    """A seed that follows from all else that is known of a run."""

    repetition: int


def load_grid(path: Path) -> Plan:
    """Read and check a grid file, and every run of it."""
    try:
        file = shape(read_tables(path), GridFile)
        bases = list(_bases(file, path))
        axes = [_axis(key, values) for key, values in file.grid.items() if key != SEED]
        seeds = _seeds(file.grid.get(SEED, {"count": 1}))
        runs = len(bases) * len(seeds) * prod(len(axis.values) for axis in axes)
        if runs > RUNS_MAX:
            raise Mistake("grid", f"makes {runs:,} runs, expected at most {RUNS_MAX:,}")
        return Plan(tuple(_runs(bases, axes, seeds, str(path))))
    except Mistake as mistake:
        raise ScenarioError(str(path), mistake.key, mistake.expected) from mistake


# --- what the file says ---


def _bases(file: GridFile, path: Path) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Labels and tables of each scenario that the grid starts from."""
    if isinstance(file.scenario, dict):
        yield {}, file.scenario
        return
    names = [file.scenario] if isinstance(file.scenario, str) else file.scenario
    if not names:
        raise Mistake(SCENARIO, "expected at least one scenario file")
    for name in names:
        yield {SCENARIO: name}, read_tables(path.parent / name)


def _axis(key: str, values: Any) -> Axis:
    place = join("grid", key)
    if not _KEY.fullmatch(key):
        raise Mistake(place, "expected a key of a scenario, like protocol.name or lan[0].delay_ms")
    if not isinstance(values, list) or not values:
        raise Mistake(place, f"expected a list of values, not {'an empty one' if values == [] else shown(values)}")
    return Axis(key, values)


def _seeds(given: Any) -> Sequence[int | Drawn]:
    place = join("grid", SEED)
    if isinstance(given, list):
        if not given or not all(isinstance(seed, int) for seed in given):
            raise Mistake(place, "expected a list of whole numbers")
        return given
    if not isinstance(given, dict) or not _is_row_of_seeds(given):
        raise Mistake(place, "expected a list of whole numbers, { from = 1, count = 20 } or { count = 20 }")
    count = given["count"]
    require_number(join(place, "count"), count, least=1, most=RUNS_MAX)
    if "from" not in given:
        return [Drawn(repetition) for repetition in range(count)]
    return range(given["from"], given["from"] + count)


def _is_row_of_seeds(given: dict[str, Any]) -> bool:
    whole = all(isinstance(value, int) for value in given.values())
    return whole and sorted(given) in (["count"], ["count", "from"])


# --- the runs ---


def _runs(
    bases: Sequence[tuple[dict[str, Any], dict[str, Any]]],
    axes: Sequence[Axis],
    seeds: Sequence[int | Drawn],
    file: str,
) -> Iterator[PlannedRun]:
    for labels, base in bases:
        for values in itertools.product(*(axis.values for axis in axes)):
            table = copy.deepcopy(base)
            for axis, value in zip(axes, values, strict=True):
                _put(table, axis.key, copy.deepcopy(value))
            here = labels | {axis.key: value for axis, value in zip(axes, values, strict=True)}
            for seed in seeds:
                yield _run(table, here, seed, file)


def _run(table: dict[str, Any], labels: dict[str, Any], seed: int | Drawn, file: str) -> PlannedRun:
    where = ", ".join(f"{key} = {shown(value)}" for key, value in labels.items())
    table[SEED] = 0 if isinstance(seed, Drawn) else seed
    scenario = from_table(table, f"{file}, with {where}" if where else file)
    columns = {column_name(key): _as_label(value) for key, value in labels.items()}
    return planned(scenario, columns, seed.repetition if isinstance(seed, Drawn) else None)


def column_name(key: str) -> str:
    """The column that tells a key's value, without what SQL would have in quotes: `lan_0_delay_ms`."""
    return "_".join(name or index for name, index in _STEP.findall(key))


def _as_label(value: Any) -> str | int | float | bool:
    return value if isinstance(value, str | int | float | bool) else msgspec.json.encode(value).decode()


def _put(table: dict[str, Any], key: str, value: Any) -> None:
    """Set a key inside nested tables; tables that are missing are made, entries of lists are not."""
    steps: list[str | int] = [name or int(index) for name, index in _STEP.findall(key)]
    inside: Any = table
    for step, following in itertools.pairwise(steps):
        if isinstance(step, str) and isinstance(following, str) and isinstance(inside, dict):
            inside.setdefault(step, {})
        inside = _entry(inside, step, key)
    _entry(inside, steps[-1], key, may_be_new=True)
    inside[steps[-1]] = value


def _entry(inside: Any, step: str | int, key: str, *, may_be_new: bool = False) -> Any:
    place = join("grid", key)
    if isinstance(step, str):
        if not isinstance(inside, dict):
            raise Mistake(place, f"in the scenario {step} would have to be inside a table, and there is none")
        if step not in inside and not may_be_new:
            raise Mistake(place, f"the scenario has no {step}")
        return inside.get(step)
    if not isinstance(inside, list) or step >= len(inside):
        has = f"{len(inside)} entries" if isinstance(inside, list) else "no list"
        raise Mistake(place, f"the scenario has {has} there, and [{step}] is asked for; the first is [0]")
    return inside[step]
