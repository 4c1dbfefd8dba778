"""A study: from a question through a grid of runs to claims, tables and pictures."""

from __future__ import annotations

import enum
import importlib
import pkgutil
from collections.abc import Callable, Sequence

from msgspec import Struct

from ordercast import studies
from ordercast.core.errors import WrongUse
from ordercast.simulator.observer import MakeMeasure
from ordercast.studies.framework.claims import CORRECT, Claim, Outcome, Verdict
from ordercast.studies.framework.figures import Picture
from ordercast.studies.framework.grid import Runner, run_grid
from ordercast.studies.framework.results import Entry, Results, Run
from ordercast.studies.framework.tables import Table


class Size(enum.StrEnum):
    """How much of a study is run. Every size checks every claim."""

    QUICK = "quick"
    NORMAL = "normal"
    FULL = "full"


LAST_RECIPIENT = (
    "The mean, over messages, of the last-recipient latency: from the multicast to the delivery at the last site."
)
"""The papers' metric, which most studies share."""


class Study(Struct, frozen=True):
    """One table or figure of the papers, and how to get it again."""

    name: str
    title: str
    source: str
    """The papers' figure or table."""
    question: str
    """For a newcomer: what is compared, and what the figures mean."""
    metric: str
    """What is measured in each run, for people."""
    grid: Callable[[Size], list[Run]]
    tables: Callable[[Results], list[Table]]
    claims: tuple[Claim, ...]
    pictures: tuple[Picture, ...]
    measure: MakeMeasure | None = None
    """What every run is measured by, beyond its latencies: `Results.figure` finds it."""
    notes: tuple[str, ...] = ()
    """What the papers leave open, and how it was read."""


class Studied(Struct, frozen=True):
    """A study that has been run and judged."""

    study: Study
    size: Size
    results: Results
    tables: list[Table]
    outcomes: list[tuple[Claim, Outcome]]

    @property
    def good(self) -> bool:
        """Whether no claim is missed. A difference that is understood is not a miss."""
        return all(outcome.verdict is not Verdict.MISSED for _, outcome in self.outcomes)


def conduct(
    study: Study, size: Size, *, runner: Runner = run_grid, on_progress: Callable[[int, int], None] | None = None
) -> Studied:
    """Have a study's grid run, and judge its claims. `on_progress` is told how many runs of how many are done."""
    runs = study.grid(size)
    found = {}
    for key, ran in runner([(key, run.scenario) for key, run in enumerate(runs)], study.measure):
        found[key] = ran
        if on_progress is not None:
            on_progress(len(found), len(runs))
    return judge(study, size, Results(Entry(run.labels, *found[key]) for key, run in enumerate(runs)))


def judge(study: Study, size: Size, results: Results) -> Studied:
    """Tables and verdicts from results."""
    outcomes = [(claim, claim.check(results)) for claim in (*study.claims, CORRECT)]
    return Studied(study, size, results, study.tables(results), outcomes)


def all_studies() -> list[Study]:
    """Every study there is, by name."""
    modules = (
        importlib.import_module(f"{studies.__name__}.{module.name}")
        for module in pkgutil.iter_modules(studies.__path__)
        if not module.ispkg
    )
    return sorted((module.STUDY for module in modules), key=lambda study: study.name)


def find(name: str, among: Sequence[Study]) -> Study:
    """The study of this name."""
    for study in among:
        if study.name == name:
            return study
    raise WrongUse(f"no study {name!r}: expected one of {', '.join(study.name for study in among)}, or all")
