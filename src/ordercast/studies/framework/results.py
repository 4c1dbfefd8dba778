"""The runs of a grid and what came of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from msgspec import Struct

from ordercast.verify.run import RunResult

Label = str | int | float
Labels = dict[str, Label]


def lowest(figures: Iterable[float]) -> float:
    """The lowest; NaN if any is NaN, where `min` would answer by the order of the figures."""
    known = list(figures)
    return math.nan if any(math.isnan(figure) for figure in known) else min(known)


class Run(Struct, frozen=True):
    """One point of a grid: what it stands for, and the scenario to run, as nested tables."""

    labels: Labels
    scenario: dict[str, Any]


class Results:
    """Results in the order of the grid, found by their labels."""

    def __init__(self, entries: Sequence[tuple[Labels, RunResult]]) -> None:
        self.entries = tuple(entries)

    def where(self, **labels: Label) -> Results:
        """Those that carry all these labels."""
        wanted = labels.items()
        return Results([entry for entry in self.entries if wanted <= entry[0].items()])

    def distinct(self, label: str) -> list[Any]:
        """The values that a label takes, in the order of the grid."""
        return list(dict.fromkeys(labels[label] for labels, _ in self.entries if label in labels))

    def last_ms(self, **labels: Label) -> float:
        """The mean last-recipient latency, averaged over the runs with these labels; NaN without any."""
        return self._mean(
            labels, lambda result: None if result.latency_ms.last is None else result.latency_ms.last.mean
        )

    def limit_ms(self, **labels: Label) -> float:
        """The least mean last-recipient latency that any protocol can guarantee; NaN where unknown."""
        return self._mean(labels, lambda result: result.limit_ms.last)

    def _mean(self, labels: Labels, figure: Callable[[RunResult], float | None]) -> float:
        """NaN as soon as one of the runs lacks the figure: an average of the rest would be about something else."""
        values = [figure(result) for _, result in self.where(**labels).entries]
        known = [value for value in values if value is not None]
        return math.fsum(known) / len(known) if known and len(known) == len(values) else math.nan
