"""The verdict on a run: what was violated, and who cannot go on."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from ordercast.simulator.observer import Observer
from ordercast.simulator.scenario import Scenario
from ordercast.simulator.simulation import Simulation
from ordercast.verify.group.checker import GroupChecker
from ordercast.verify.online import OrderChecker


class Stalled(Struct, frozen=True):
    """Who cannot go on, since when, and why."""

    at_s: float
    site: str
    waiting_for: str


class Judge(Protocol):
    """Watches a run and judges it at its end."""

    @property
    def observer(self) -> Observer:
        """What watches."""

    def verdict(self, simulation: Simulation) -> tuple[list[str], Stalled | None]:
        """Violations, and the first site that is stuck."""


class IdealJudge:
    """For the ideal stack: one view, one sequence; nothing repairs a loss."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.observer = self._checker = OrderChecker(names)

    def verdict(self, simulation: Simulation) -> tuple[list[str], Stalled | None]:
        stalled = self._stalled(simulation)
        violations = self._checker.violations
        if stalled is not None:
            violations = [each for each in violations if not each.startswith("validity")]
        return violations, stalled

    def _stalled(self, simulation: Simulation) -> Stalled | None:
        """The first site that is up and holds or misses something when nothing happens any more."""
        delivered = self._checker.delivered
        longest = max(delivered)
        for site in simulation.sites:
            if site.crashed:
                continue
            reason = _reason(simulation, site.id)
            if reason is None and delivered[site.id] < longest:
                reason = f"entry {delivered[site.id]} of the total order, of which nothing arrived"
            if reason is not None:
                return _stalled_at(simulation, site.id, reason)
        return None


class GroupJudge:
    """For the full stack: every promise of a group; the drain ends when all that are up agree."""

    def __init__(self, names: tuple[str, ...], resilience: int) -> None:
        self.observer = self._checker = GroupChecker(names, resilience)

    def verdict(self, simulation: Simulation) -> tuple[list[str], Stalled | None]:
        violations = list(self._checker.violations)
        stalled = None if simulation.settled() else self._stalled(simulation)
        if stalled is None:
            missing = self._checker.missing(simulation.core, simulation.lives())
            violations += [] if missing is None else [missing]
        return violations, stalled

    def _stalled(self, simulation: Simulation) -> Stalled:
        up = [site.id for site in simulation.sites if not site.crashed]
        for site in up:
            reason = _reason(simulation, site)
            if reason is not None:
                return _stalled_at(simulation, site, reason)
        return _stalled_at(simulation, up[0], "a view that all sites that are up are members of")


def judge_of(scenario: Scenario, names: tuple[str, ...]) -> Judge:
    """The judge for a scenario's stack."""
    return GroupJudge(names, scenario.protocol.resilience) if scenario.is_group else IdealJudge(names)


def _reason(simulation: Simulation, site: int) -> str | None:
    waiting = simulation.sites[site].layer.waiting_for()
    return None if waiting is None else f"{waiting.what} {simulation.topology.names[waiting.site]}"


def _stalled_at(simulation: Simulation, site: int, reason: str) -> Stalled:
    return Stalled(round(simulation.delivered_us[site] / 1e6, 6), simulation.topology.names[site], reason)
