"""Verdicts, and the claim that every study makes."""

from __future__ import annotations

import pytest

from ordercast.studies.framework.claims import CORRECT, Verdict, outcome
from ordercast.studies.framework.results import Entry, Results
from ordercast.verify.verdict import Stalled
from tests.studies.made_up import run_result


def test_a_claim_that_holds_is_reproduced_even_if_an_explanation_stands_by() -> None:
    assert outcome(True, "5 ms", explained=True, because="of this").verdict is Verdict.REPRODUCED


def test_a_difference_counts_only_when_its_explanation_holds() -> None:
    differs = outcome(False, "5 ms", explained=True, because="of this")
    assert (differs.verdict, differs.because) == (Verdict.DIFFERS, "of this")
    missed = outcome(False, "5 ms", explained=False, because="of this")
    assert (missed.verdict, missed.because) == (Verdict.MISSED, "")


def test_an_explained_difference_needs_words() -> None:
    with pytest.raises(AssertionError):
        outcome(False, "5 ms", explained=True)


def test_correct_runs_are_counted() -> None:
    found = CORRECT.check(Results([Entry({"seed": 1}, run_result()), Entry({"seed": 2}, run_result())]))
    assert found.verdict is Verdict.REPRODUCED
    assert found.measured == "2 runs, all correct"


def test_a_violation_misses_the_claim_and_is_named() -> None:
    broken = run_result(violations=("total order: B delivers 1, another site 2",))
    found = CORRECT.check(Results([Entry({"seed": 1}, run_result()), Entry({"seed": 2}, broken)]))
    assert found.verdict is Verdict.MISSED
    assert found.measured.startswith("1 of 2 runs are not; the first (seed 2): total order: B")


def test_a_stall_misses_the_claim_and_is_named() -> None:
    stuck = run_result(stalled=Stalled(3.0, "A", "a ticket above 7 from B"))
    found = CORRECT.check(Results([Entry({"seed": 1}, stuck)]))
    assert found.verdict is Verdict.MISSED
    assert found.measured.endswith("stalled: A waits for a ticket above 7 from B")


def test_no_runs_are_not_correct_runs() -> None:
    assert CORRECT.check(Results([])).verdict is Verdict.MISSED
