"""Bugs planted in switching: the small cases that show them, and pass without them."""

from __future__ import annotations

import pytest

from ordercast.simulator.chooser import ReplayingChooser
from ordercast.verify.fuzz.campaign import chooser_of
from tests.verify.fuzz.making import PICKS_MAX, SEEDS, Planted, failure_of, failure_with
from tests.verify.fuzz.pinned_switching import PINNED
from tests.verify.fuzz.planted import IN_SWITCHING

every_bug = pytest.mark.parametrize("bug", IN_SWITCHING, ids=[bug.name for bug in IN_SWITCHING])


@every_bug
def test_with_the_bug_inside_its_case_fails(bug: Planted) -> None:
    failure = failure_with(bug, PINNED[bug.name].picks)
    assert failure is not None
    assert failure.split(":")[0] == PINNED[bug.name].broken


@every_bug
def test_without_it_the_same_case_passes(bug: Planted) -> None:
    assert failure_of(ReplayingChooser(list(PINNED[bug.name].picks)), bug.protocol) is None


@every_bug
def test_it_is_found_soon_and_shown_by_a_small_case(bug: Planted) -> None:
    assert PINNED[bug.name].seed in SEEDS
    assert len(PINNED[bug.name].picks) <= PICKS_MAX


@every_bug
def test_its_seed_fails_with_the_bug_inside_and_passes_without(bug: Planted) -> None:
    seed = PINNED[bug.name].seed
    assert failure_of(chooser_of(seed), bug.protocol) is None
    with bug.plant():
        assert failure_of(chooser_of(seed), bug.protocol) is not None


def test_every_bug_is_pinned() -> None:
    assert sorted(PINNED) == sorted(bug.name for bug in IN_SWITCHING)


def test_there_are_ten_and_half_of_them_were_written_blind() -> None:
    assert len(IN_SWITCHING) >= 10
    assert 2 * sum(bug.blind for bug in IN_SWITCHING) >= len(IN_SWITCHING)
