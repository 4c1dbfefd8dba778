"""The fuzzer is trusted because it finds planted bugs: the small cases that show them, and pass without them.

Bugs of the past are among them, so these are the regression tests of what the fuzzer has found, too.
"""

from __future__ import annotations

import pytest

from ordercast.simulator.chooser import ReplayingChooser
from ordercast.verify.fuzz.campaign import chooser_of
from ordercast.verify.fuzz.draw import drawn_from
from tests.verify.fuzz.making import PICKS_MAX, SEEDS, Planted, failure_of, failure_with
from tests.verify.fuzz.pinned import FINDINGS, PINNED
from tests.verify.fuzz.planted import BUGS, IN_LINKS, IN_VIEWS
from tests.verify.fuzz.test_directed import SHOWN

FOUND = [bug for bug in BUGS if bug.name in PINNED]

every_bug = pytest.mark.parametrize("bug", FOUND, ids=[bug.name for bug in FOUND])


@every_bug
def test_with_the_bug_inside_its_case_fails(bug: Planted) -> None:
    failure = failure_with(bug, PINNED[bug.name].picks)
    assert failure is not None
    assert failure.split(":")[0] == PINNED[bug.name].broken


@every_bug
def test_without_it_the_same_case_passes(bug: Planted) -> None:
    assert failure_of(ReplayingChooser(list(PINNED[bug.name].picks))) is None


@every_bug
def test_it_is_found_soon_and_shown_by_a_small_case(bug: Planted) -> None:
    assert PINNED[bug.name].seed in SEEDS
    assert 0 < len(PINNED[bug.name].picks) <= PICKS_MAX


@every_bug
def test_its_seed_fails_with_the_bug_inside_and_passes_without(bug: Planted) -> None:
    seed = PINNED[bug.name].seed
    assert failure_of(chooser_of(seed)) is None
    with bug.plant():
        assert failure_of(chooser_of(seed)) is not None


@every_bug
def test_its_picks_are_kept_as_they_count(bug: Planted) -> None:
    picks = list(PINNED[bug.name].picks)
    assert drawn_from(picks).picks() == picks


def test_every_bug_is_found_or_shown_by_a_directed_test() -> None:
    assert sorted((*PINNED, *SHOWN)) == sorted(bug.name for bug in BUGS)


def test_links_and_membership_have_a_dozen_and_half_of_them_were_written_blind() -> None:
    bugs = [bug for bug in (*IN_LINKS, *IN_VIEWS) if bug in FOUND]
    assert len(bugs) >= 12
    assert 2 * sum(bug.blind for bug in bugs) >= len(bugs)


@pytest.mark.parametrize("finding", FINDINGS)
def test_what_the_fuzzer_has_found_is_planted_again(finding: int) -> None:
    assert FINDINGS[finding] in [bug.name for bug in BUGS]
