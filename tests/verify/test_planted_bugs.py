"""A property is trusted once planted bugs make it fail: in simulations, and in the explorer."""

from __future__ import annotations

from functools import cache

import pytest

from ordercast.verify.explorer import Exploration, explore
from ordercast.verify.judges import FullJudge
from ordercast.verify.properties import (
    CAUSAL_ORDER,
    FIFO_ORDER,
    NO_CREATION,
    NO_DUPLICATION,
    TOTAL_ORDER,
    VALIDITY,
)
from ordercast.verify.run import run
from ordercast.verify.scopes import Scope
from tests.verify.bugs.catalogue import BUGS, RARE, Bug
from tests.verify.judged import Judged, judge

EVERY_PROPERTY = (NO_CREATION, NO_DUPLICATION, FIFO_ORDER, CAUSAL_ORDER, TOTAL_ORDER, VALIDITY)
IN_SIMULATIONS = [bug for bug in BUGS if bug not in RARE]


def names(bugs: list[Bug]) -> list[str]:
    return [bug.name for bug in bugs]


@cache
def simulated(bug_name: str) -> Judged:
    (bug,) = (bug for bug in BUGS if bug.name == bug_name)
    return judge(bug.scenario(), bug.build)


@cache
def explored(scope_name: str) -> Exploration:
    return explore(SCOPES_OF_BUGS[scope_name])


SCOPES_OF_BUGS: dict[str, Scope] = {bug.scope.name: bug.scope for bug in BUGS}


@pytest.mark.parametrize("wanted", EVERY_PROPERTY)
def test_every_property_has_three_bugs_to_find(wanted: str) -> None:
    assert sum(wanted in bug.breaks for bug in BUGS) >= 3
    assert sum(wanted in bug.online for bug in BUGS) >= 3


@pytest.mark.parametrize("bug", IN_SIMULATIONS, ids=names(IN_SIMULATIONS))
def test_the_simulation_reports_the_bug(bug: Bug) -> None:
    found = simulated(bug.name)
    assert set(bug.breaks) <= found.plain_properties
    assert set(bug.online) <= found.online_properties


@pytest.mark.parametrize("bug", IN_SIMULATIONS, ids=names(IN_SIMULATIONS))
def test_the_online_checks_find_nothing_that_is_not_there(bug: Bug) -> None:
    found = simulated(bug.name)
    assert found.online_properties <= found.plain_properties


@pytest.mark.parametrize("bug", IN_SIMULATIONS, ids=names(IN_SIMULATIONS))
def test_such_a_run_is_not_good(bug: Bug) -> None:
    """A message that is missing everywhere makes the run stall, and that is what is said then."""
    result = run(bug.scenario(), build=bug.build, with_limit=False)
    assert not result.good


@pytest.mark.parametrize("bug", BUGS, ids=names(BUGS))
def test_the_unmodified_protocol_passes_the_same_simulation(bug: Bug) -> None:
    found = judge(bug.scenario())
    assert (found.plain, found.online) == ([], [])


@pytest.mark.parametrize("bug", BUGS, ids=names(BUGS))
def test_the_explorer_finds_the_bug(bug: Bug) -> None:
    counterexample = explore(bug.scope, build=bug.build).counterexample
    assert counterexample is not None
    assert bug.found in {violation.split(":")[0] for violation in counterexample.violations}
    assert counterexample.steps


@pytest.mark.parametrize("scope_name", SCOPES_OF_BUGS)
def test_the_unmodified_protocol_passes_the_same_exploration(scope_name: str) -> None:
    exploration = explored(scope_name)
    assert exploration.counterexample is None
    assert exploration.missed == []


FOR_TWO = [bug for bug in BUGS if bug.scope.sites == 2]


@pytest.mark.parametrize("bug", FOR_TWO, ids=names(FOR_TWO))
def test_the_compact_judge_sees_what_the_plain_properties_see(bug: Bug) -> None:
    compact, full = (explore(bug.scope, build=bug.build, judge=each) for each in (None, FullJudge()))
    assert compact.counterexample is not None
    assert full.counterexample is not None
    assert len(compact.counterexample.steps) == len(full.counterexample.steps)
