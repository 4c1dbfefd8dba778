"""Changes of role in every interleaving, on live groups: alone, and with a crash of the old or the new sequencer."""

from __future__ import annotations

import pytest

from ordercast.verify.explorer import explore
from ordercast.verify.views.switching_scopes import SWITCHING_SCOPES, TRANSITIONS
from tests.verify.scope_pins import parameters

PINNED = {
    "switch-to-active": (222, 614, 2),
    "switch-to-active-old-crashes": (52808, 169816, 149),
    "switch-to-active-new-crashes": (21664, 58880, 99),
    "switch-to-passive": (133, 273, 4),
    "switch-to-passive-old-crashes": (2411, 5752, 41),
    "switch-to-passive-new-crashes": (7683, 22197, 67),
    "switch-change-sequencer": (360, 881, 4),
    "switch-change-sequencer-old-crashes": (20331, 51559, 222),
    "switch-change-sequencer-new-crashes": (48068, 138048, 359),
    "switch-all-to-passive": (368, 925, 6),
    "switch-all-to-passive-one-crashes": (35060, 109365, 174),
    "switch-take-over-only-crashes": (620, 1332, 22),
}
"""(states, transitions, terminal states). A change of a protocol's state or messages changes these, and nothing else
should: look at what has changed before the new numbers go in here."""


def test_every_scope_is_pinned() -> None:
    assert list(PINNED) == list(SWITCHING_SCOPES)


@pytest.mark.parametrize("name", parameters(PINNED, states_quick=20_000))
def test_every_order_of_a_scope(name: str) -> None:
    exploration = explore(SWITCHING_SCOPES[name])
    assert exploration.counterexample is None
    assert exploration.missed == []
    assert (exploration.states, exploration.transitions, exploration.terminal_states) == PINNED[name]


def test_every_transition_is_explored_with_a_crash_and_says_what_must_come_of_it() -> None:
    for transition in TRANSITIONS:
        assert transition.crashes
        assert transition.goals or not transition.consider
        assert all(goals for _, _, goals in transition.crashes)
