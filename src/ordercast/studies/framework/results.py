"""The runs of a grid and what came of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from msgspec import Struct

from ordercast.verify.run import RunResult

Label = str | int | float
Labels = dict[str, Label]


def lowest(figures: Iterable[float]) -> float:
    """The lowest; NaN if any is NaN, where `min` would answer by the order of the figures."""
    known = list(figures)
    return math.nan if any(math.isnan(figure) for figure in known) else min(known)


def worst(figures: Iterable[tuple[float, str]]) -> tuple[float, str]:
    """The highest figure, and whose it is; one that is NaN is worse than any."""
    known = list(figures)
    return next((each for each in known if math.isnan(each[0])), None) or max(known)


class Run(Struct, frozen=True):
    """One point of a grid: what it stands for, and the scenario to run, as nested tables."""

    labels: Labels
    scenario: dict[str, Any]


class Entry(NamedTuple):
    """One run of the grid, done."""

    labels: Labels
    result: RunResult
    figures: Mapping[str, float] = {}
    """What the study's own measure adds, by name."""


class Results:
    """Results in the order of the grid, found by their labels."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.entries = tuple(entries)

    def where(self, **labels: Label) -> Results:
        """Those that carry all these labels."""
        wanted = labels.items()
        return Results([entry for entry in self.entries if wanted <= entry.labels.items()])

    def distinct(self, label: str) -> list[Any]:
        """The values that a label takes, in the order of the grid."""
        return list(dict.fromkeys(entry.labels[label] for entry in self.entries if label in entry.labels))

    def grid(self) -> dict[str, list[Label]]:
        """What has been run, in labels: for each the values that it takes."""
        return {
            label: self.distinct(label) for label in dict.fromkeys(label for e in self.entries for label in e.labels)
        }

    def last_ms(self, **labels: Label) -> float:
        """The mean last-recipient latency, averaged over the runs with these labels; NaN without any."""
        return self._mean(labels, lambda entry: None if (last := entry.result.latency_ms.last) is None else last.mean)

    def last_p99_ms(self, **labels: Label) -> float:
        """The 99th percentile of the last-recipient latency, averaged over the runs; NaN without any."""
        return self._mean(labels, lambda entry: None if (last := entry.result.latency_ms.last) is None else last.p99)

    def limit_ms(self, **labels: Label) -> float:
        """The least mean last-recipient latency that any protocol can guarantee; NaN where unknown."""
        return self._mean(labels, lambda entry: entry.result.limit_ms.last)

    def transmissions(self, **labels: Label) -> float:
        """Copies beyond the messages themselves, per message, averaged over the runs; NaN without any."""
        return self._mean(
            labels, lambda entry: None if (over := entry.result.overhead_per_multicast) is None else over.transmissions
        )

    def figure(self, name: str, **labels: Label) -> float:
        """What the study's own measure calls so, averaged over the runs; NaN where it has not been measured."""
        return self._mean(labels, lambda entry: entry.figures.get(name))

    def _mean(self, labels: Labels, figure: Callable[[Entry], float | None]) -> float:
        """NaN as soon as one of the runs lacks the figure: an average of the rest would be about something else."""
        values = [figure(entry) for entry in self.where(**labels).entries]
        known = [value for value in values if value is not None]
        return math.fsum(known) / len(known) if known and len(known) == len(values) else math.nan
