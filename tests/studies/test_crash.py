"""The claims about a crash, on results that are made up."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from ordercast.studies.crash import ROUND_TRIP_MS, STUDY
from ordercast.studies.framework.claims import Verdict
from ordercast.studies.framework.results import Entry, Label, Results
from ordercast.studies.framework.study import Size
from tests.studies.made_up import run_result, verdicts

CLAIMS = STUDY.claims
REPRODUCED, DIFFERS, MISSED = Verdict.REPRODUCED, Verdict.DIFFERS, Verdict.MISSED

Figures = dict[str, float]


def measured(change: Callable[[Mapping[str, Label], Figures], Figures] = lambda labels, figures: figures) -> Results:
    """A suspicion of a second, a silence of two and a view after three, changed."""
    entries = []
    for run in STUDY.grid(Size.QUICK):
        figures = change(run.labels, {"suspicion_ms": 1000.0, "silence_ms": 2000.0, "view_ms": 3000.0})
        entries.append(Entry(run.labels, run_result(), {"least_silence_ms": 0.0, **figures}))
    return Results(entries)


def test_two_suspicions_bear_out_every_claim() -> None:
    assert verdicts(CLAIMS, measured()) == [REPRODUCED] * 4


def test_a_silence_of_two_round_trips_is_understood_however_short_the_suspicion() -> None:
    found = measured(lambda labels, figures: {**figures, "suspicion_ms": 440.0})
    assert verdicts(CLAIMS, found)[:2] == [DIFFERS, REPRODUCED]


@pytest.mark.parametrize(("silence_ms", "expected"), [(3100.0, [DIFFERS, REPRODUCED]), (3300.0, [MISSED, MISSED])])
def test_one_long_silence_counts(silence_ms: float, expected: list[Verdict]) -> None:
    def change(labels: Mapping[str, Label], figures: Figures) -> Figures:
        long = labels["protocol"] == "rs-symmetric" and labels["crashed"] == "E"
        return {**figures, "silence_ms": silence_ms} if long else figures

    assert verdicts(CLAIMS, measured(change))[:2] == expected


def test_a_view_that_takes_four_round_trips_misses_its_claim() -> None:
    found = measured(lambda labels, figures: {**figures, "view_ms": 1000 + 4 * ROUND_TRIP_MS})
    assert verdicts(CLAIMS, found) == [REPRODUCED, REPRODUCED, MISSED, REPRODUCED]


def test_a_sequencer_that_costs_two_suspicions_misses_its_claim() -> None:
    def change(labels: Mapping[str, Label], figures: Figures) -> Figures:
        return {**figures, "silence_ms": 2500.0 if labels["crashed"] == "A" else 500.0}

    assert verdicts(CLAIMS, measured(change)) == [REPRODUCED, REPRODUCED, REPRODUCED, MISSED]


def test_a_survivor_without_a_view_misses_a_claim() -> None:
    found = measured(lambda labels, figures: {**figures, "view_ms": float("nan")})
    assert verdicts(CLAIMS, found)[2] is MISSED
