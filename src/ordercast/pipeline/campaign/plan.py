"""What a campaign is to run: scenarios, each known by what it is, not by where it stands in a grid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from msgspec import Struct
from msgspec.structs import replace

from ordercast.core import canonical
from ordercast.simulator.load import expected_arrivals
from ordercast.simulator.scenario import Scenario

SEED_BITS = 32

RUN_COST = 500
"""What a run costs beside its messages, counted in messages that arrive."""

TASKS_PER_WORKER = 4
"""Of the work that is left, a task takes this part of one worker's share: runs may take longer than they seem to."""

Label = str | int | float | bool


class PlannedRun(Struct, frozen=True):
    """One point of a grid."""

    run: str
    """The run's identity: equal for equal scenarios under equal measures, whatever the grid around them."""
    scenario: Scenario
    labels: Mapping[str, Label]
    """The values of the grid that lead here, by column."""


@dataclass(frozen=True)
class Plan:
    """The runs of a campaign, in the order of its grid. Two points may be one run."""

    runs: tuple[PlannedRun, ...]
    distinct: Mapping[str, Scenario] = field(init=False)
    """The scenarios to run, by identity, the longest first."""

    def __post_init__(self) -> None:
        distinct = in_order_of_work({each.run: each.scenario for each in self.runs})
        object.__setattr__(self, "distinct", distinct)


def in_order_of_work(scenarios: Mapping[str, Scenario]) -> dict[str, Scenario]:
    """The longest runs first: so that no worker ends with one all alone."""
    return dict(sorted(scenarios.items(), key=lambda item: (-expected_arrivals(item[1]), item[0])))


def in_tasks(scenarios: Mapping[str, Scenario], workers: int) -> list[list[str]]:
    """Runs shared out in their order. A task takes its part of the work that is left: the first ones many runs, for a
    task costs Spark as much as a short run, and the last ones a single one, so that all workers end together.
    """
    work = {run: RUN_COST + expected_arrivals(scenario) for run, scenario in scenarios.items()}
    tasks: list[list[str]] = []
    left, room = sum(work.values()), 0.0
    for run, cost in work.items():
        if cost > room or not tasks:
            tasks.append([])
            room = left / (workers * TASKS_PER_WORKER)
        tasks[-1].append(run)
        room -= cost
        left -= cost
    return tasks


def planned(scenario: Scenario, labels: Mapping[str, Label], repetition: int | None = None) -> PlannedRun:
    """A run; its seed is the scenario's, or, as one of several repetitions, drawn from all else that it is."""
    if repetition is not None:
        scenario = replace(scenario, seed=seed_of(scenario, repetition))
    return PlannedRun(identity(scenario), scenario, labels)


def seed_of(scenario: Scenario, repetition: int) -> int:
    """The same wherever and whenever the run is done; others for other scenarios and repetitions."""
    known = canonical.digest((replace(scenario, seed=0), repetition))
    return int.from_bytes(known) >> (8 * len(known) - SEED_BITS)


def identity(scenario: Scenario, measure: str = "") -> str:
    """Of a scenario under a measure: a digest of the canonical form."""
    return canonical.digest((scenario, measure)).hex()
