"""Live groups in the explorer: every scope is gone through, and finds nothing wrong."""

from __future__ import annotations

from typing import Any

import pytest

from ordercast.verify.explorer import explore
from ordercast.verify.views.scopes import GROUP_SCOPES

PINNED = {
    "flush-token-site": (67954, 427921, 2),
    "flush-symmetric": (66282, 421214, 1),
}
"""(states, transitions, terminal states). A change of a protocol's state or messages changes these, and nothing else
should: look at what has changed before the new numbers go in here."""

SLOW = [name for name, (states, _, _) in PINNED.items() if states > 20_000]


def parameters() -> list[Any]:
    return [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in PINNED]


def test_every_scope_is_pinned() -> None:
    assert list(PINNED) == list(GROUP_SCOPES)


@pytest.mark.parametrize("name", parameters())
def test_every_order_of_a_scope(name: str) -> None:
    exploration = explore(GROUP_SCOPES[name])
    assert exploration.counterexample is None
    assert exploration.missed == []
    assert (exploration.states, exploration.transitions, exploration.terminal_states) == PINNED[name]
