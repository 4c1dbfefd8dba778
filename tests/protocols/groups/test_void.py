"""What is void does nothing: nobody joins, leaves or changes the plan by it."""

from __future__ import annotations

import pytest

from ordercast.core.messages import UNNUMBERED, Act, Bundle
from ordercast.core.plans import changes_plan
from ordercast.protocols.groups.log import Roles
from ordercast.protocols.groups.members import Members, concerns_members
from tests.protocols.groups.made import A, B, authored


def both(act: Act, number: int) -> tuple[Bundle, Bundle]:
    """An act of session 1 by way of B: as it stands, and void."""
    return authored(B, 1, 1, number, act=act), authored(B, 1, 1, number, act=act, void=(0,))


@pytest.mark.parametrize("act", [Act.JOINS, Act.LEAVES])
def test_who_joins_or_leaves_after_having_said_something_later_does_neither(act: Act) -> None:
    """A member by way of A would be one by way of B, or none any more."""
    standing, void = both(act, 4)
    assert (concerns_members(standing), concerns_members(void)) == (True, False)
    for bundle, changes in ((standing, 1), (void, 0)):
        members = Members()
        members.apply(authored(A, 0, 1, 5, act=Act.JOINS), 0)
        before = members.of("orders")
        assert len(members.apply(bundle, 1)) == changes
        assert (members.of("orders") == before) == (changes == 0)


def test_a_void_change_of_plan_changes_nothing() -> None:
    standing, void = both(Act.PLANS, UNNUMBERED)
    assert (changes_plan(standing), changes_plan(void)) == (True, False)
    assert Roles().after(void) == Roles()
