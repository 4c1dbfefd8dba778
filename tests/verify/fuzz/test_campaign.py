"""A slice of the fuzzer's seeds, and that a seed is a whole case."""

from __future__ import annotations

import pytest

from ordercast.simulator.chooser import RecordingChooser
from ordercast.verify.fuzz.campaign import Totals, chooser_of, replay, run_seed
from ordercast.verify.fuzz.case import run_case

SLICE = 200
SHARE = 10


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, SLICE, SHARE))
def test_a_slice_of_seeds_is_clean(first: int) -> None:
    outcomes = {seed: run_seed(seed) for seed in range(first, first + SHARE)}
    assert {seed: outcome.failure for seed, outcome in outcomes.items() if outcome.failure} == {}
    assert all(outcome.events and outcome.views for outcome in outcomes.values())


@pytest.mark.parametrize("seed", [3, 8])
def test_a_seed_gives_the_same_outcome_again_and_so_do_its_recorded_picks(seed: int) -> None:
    recording = RecordingChooser(chooser_of(seed))
    first = run_case(recording)
    assert run_seed(seed) == first
    assert replay(recording.picks) == first


def test_different_seeds_are_different_cases() -> None:
    assert run_seed(3) != run_seed(8)


def test_a_protocol_can_be_asked_for() -> None:
    assert run_seed(3, "token-site").protocol == "token-site"


def test_no_picks_at_all_are_the_tamest_case() -> None:
    outcome = replay([])
    assert (outcome.failure, outcome.sites, outcome.faults, outcome.blocked) == (None, 2, {}, False)


def test_totals_add_up() -> None:
    totals = Totals()
    outcomes = [replay([]), replay([1])]
    for outcome in outcomes:
        totals.add(outcome)
    assert (totals.seeds, totals.failures) == (2, 0)
    assert totals.events == sum(outcome.events for outcome in outcomes)
