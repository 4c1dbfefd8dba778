"""Live groups in the explorer: every scope is gone through, and finds nothing wrong."""

from __future__ import annotations

from unittest.mock import patch

import pytest

from ordercast.protocols.membership import choice
from ordercast.protocols.membership.messages import Promise
from ordercast.verify.explorer import explore
from ordercast.verify.views.scopes import GROUP_SCOPES
from tests.verify.scope_pins import parameters

PINNED = {
    "flush-token-site": (67954, 427921, 2),
    "flush-symmetric": (66282, 421214, 1),
    "coordinator-crash-token-site": (2021, 6897, 27),
    "coordinator-crash-symmetric": (108461, 746707, 47),
    "coordinator-returns-token-site": (4922, 22663, 3),
    "coordinator-returns-symmetric": (49632, 270433, 5),
    "two-coordinators-token-site": (21104, 113828, 6),
    "join-token-site": (14843, 42478, 61),
    "join-symmetric": (75431, 227857, 368),
    "rejoin-token-site": (778, 1919, 6),
    "rejoin-symmetric": (10628, 29186, 41),
}
"""(states, transitions, terminal states). A change of a protocol's state or messages changes these, and nothing else
should: look at what has changed before the new numbers go in here."""


def test_every_scope_is_pinned() -> None:
    assert list(PINNED) == list(GROUP_SCOPES)


@pytest.mark.parametrize("name", parameters(PINNED, states_quick=20_000))
def test_every_order_of_a_scope(name: str) -> None:
    exploration = explore(GROUP_SCOPES[name])
    assert exploration.counterexample is None
    assert exploration.missed == []
    assert (exploration.states, exploration.transitions, exploration.terminal_states) == PINNED[name]


def test_whoever_has_closed_the_view_must_not_count_as_able_to_close_it_with_another_cut() -> None:
    """Finding 19, planted again."""

    def forgetful(promise: Promise) -> bool:
        return promise.aligned and promise.running

    with patch.object(choice, "can_order", forgetful):
        found = explore(GROUP_SCOPES["coordinator-returns-token-site"]).counterexample
    assert found is not None
    assert found.violations == ["convergence: the sites that are up do not come to one view and one order"]
