"""What is measured while load changes: how latency goes up at a change, how soon it has settled, and who switched.

A run is cut into windows by the time at which messages are sent, and into *phases*: one begins wherever the scenario's
traffic says that the load of a site changes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import median

from ordercast.core.effects import Note
from ordercast.core.ids import MessageId, SiteId
from ordercast.core.messages import Bundle
from ordercast.simulator.observer import Measure
from ordercast.simulator.scenario import Scenario
from ordercast.simulator.simulation import Simulation

WINDOWS_PER_S = 2
TOLERANCE = 1.1
"""Latency has settled when it is at most this many times what it is in the second half of the phase."""

STEADY_WINDOWS = 10
"""It must be so for so many windows together, lest one good window count."""

BEFORE_WINDOWS = 2
"""What is sent so shortly before a change is delivered after it: it belongs to the change."""

SWITCHES = ("to active", "to passive", "sequencer")
"""How the notes on a site's decisions begin."""


class Window:
    """The messages sent in a part of a second."""

    __slots__ = ("count", "sum_us")

    def __init__(self) -> None:
        self.count = 0
        self.sum_us = 0


class Changing(Measure):
    """Latency and switches in the course of a run, by phases counted from 1.

    - `steady_ms/3`: mean last-recipient latency in phase 3, from when it has settled to shortly before the next.
    - `peak_ms/3`: the highest mean of a window, from shortly before the phase begins.
    - `settle_s/3`: from the beginning of the phase to the first window in which latency has settled.
    - `switches/3`: what sites have decided in the phase: to go active, to go passive, to ask another sequencer.
    - `at_ms/7`: the mean of window 7, counted from 0; NaN where nothing was sent.
    - `switches_per_minute`, `mean_settle_s` (over all phases but the first), `mean_ms`: of the whole run.
    """

    def on_start(self, simulation: Simulation) -> None:
        self._sites = len(simulation.sites)
        self._edges_us = phase_edges_us(simulation.scenario)
        self._flights: dict[MessageId, tuple[int, int]] = {}
        """When a message was sent, and at how many sites it has not been delivered."""
        count = math.ceil(self._edges_us[-1] * WINDOWS_PER_S / 1e6)
        self._windows = [Window() for _ in range(count)]
        self._switched_us: list[int] = []

    def on_multicast(self, at_us: int, site: SiteId, bundle: Bundle) -> None:
        self._flights[bundle.id] = at_us, self._sites

    def on_deliver(self, at_us: int, site: SiteId, bundle: Bundle) -> None:
        sent_us, missing = self._flights[bundle.id]
        if missing > 1:
            self._flights[bundle.id] = sent_us, missing - 1
            return
        del self._flights[bundle.id]
        window = self._windows[sent_us * WINDOWS_PER_S // 1_000_000]
        window.count += 1
        window.sum_us += at_us - sent_us

    def on_note(self, at_us: int, site: SiteId, note: Note) -> None:
        if note.detail is not None and note.detail.startswith(SWITCHES):
            self._switched_us.append(at_us)

    def figures(self) -> Mapping[str, float]:
        windows, edges_us = self._windows, self._edges_us
        figures = {f"at_ms/{index}": mean_ms([window]) for index, window in enumerate(windows)}
        settles = []
        for number, (start_us, end_us) in enumerate(pairwise(edges_us), 1):
            first, end = (round(us * WINDOWS_PER_S / 1e6) for us in (start_us, end_us))
            settled = _settled_in(windows[first:end])
            settles.append(settled / WINDOWS_PER_S)
            figures[f"settle_s/{number}"] = settles[-1]
            figures[f"steady_ms/{number}"] = mean_ms(windows[first + settled : end - BEFORE_WINDOWS])
            before = BEFORE_WINDOWS if number > 1 else 0
            figures[f"peak_ms/{number}"] = max(_means_ms(windows[first - before : end]), default=math.nan)
            figures[f"switches/{number}"] = float(sum(start_us <= us < end_us for us in self._switched_us))
        figures["mean_settle_s"] = math.fsum(settles[1:]) / len(settles[1:]) if len(settles) > 1 else math.nan
        figures["switches_per_minute"] = len(self._switched_us) * 60e6 / edges_us[-1]
        figures["mean_ms"] = mean_ms(windows)
        return figures


def phase_edges_us(scenario: Scenario) -> list[int]:
    """Where phases begin, and where the last one ends."""
    begins = {round(traffic.from_s * 1e6) for traffic in scenario.traffic}
    return sorted({0, *begins, round(scenario.duration_s * 1e6)})


def mean_ms(windows: Sequence[Window]) -> float:
    """Over the messages of these windows; NaN if there are none."""
    count = sum(window.count for window in windows)
    return sum(window.sum_us for window in windows) / count / 1000 if count else math.nan


def _means_ms(windows: Sequence[Window]) -> list[float]:
    return [mean_ms([window]) for window in windows if window.count]


def _settled_in(windows: Sequence[Window]) -> int:
    """The first window from which on latency is about as low as it gets in this phase; the last if there is none."""
    usual_ms = TOLERANCE * median(_means_ms(windows[len(windows) // 2 :]) or [math.nan])
    for index, window in enumerate(windows):
        if mean_ms([window]) <= usual_ms and mean_ms(windows[index : index + STEADY_WINDOWS]) <= usual_ms:
            return index
    return len(windows)
