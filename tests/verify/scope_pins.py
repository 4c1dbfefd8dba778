"""Pinned state counts of explorer scopes as parameters of a test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

Counts = tuple[int, int, int]
"""States, transitions, terminal states."""


def parameters(pinned: Mapping[str, Counts], states_quick: int) -> list[Any]:
    """The names of all scopes; those with more states than that are for the full tests."""
    return [
        pytest.param(name, marks=[pytest.mark.slow] if states > states_quick else [])
        for name, (states, _, _) in pinned.items()
    ]
