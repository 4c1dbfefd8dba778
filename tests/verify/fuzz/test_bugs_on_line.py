"""Bugs planted into sessions, participants' groups, history and changes of the ordering: their cases show them."""

from __future__ import annotations

import pytest

from ordercast.simulator.chooser import ReplayingChooser
from tests.verify.fuzz.making import Planted, failure_of, failure_with
from tests.verify.fuzz.pinned_on_line import PINNED
from tests.verify.fuzz.planted import ON_LINE

every_bug = pytest.mark.parametrize("bug", ON_LINE, ids=[bug.name for bug in ON_LINE])


@every_bug
def test_with_the_bug_inside_its_case_fails(bug: Planted) -> None:
    failure = failure_with(bug, PINNED[bug.name].picks)
    assert failure is not None
    assert failure.split(":")[0] == PINNED[bug.name].broken


@every_bug
def test_without_it_the_same_case_passes(bug: Planted) -> None:
    assert failure_of(ReplayingChooser(list(PINNED[bug.name].picks))) is None


def test_every_case_is_of_a_bug_that_there_is() -> None:
    assert sorted(PINNED) == sorted(bug.name for bug in ON_LINE)
