"""Checks of a scenario beyond the types of its values."""

from __future__ import annotations

from ordercast.simulator.scenario import Scenario


def check(scenario: Scenario, file: str) -> None:
    """Raise a `ScenarioError` for the first thing that cannot be run."""
