"""What the explorer is told of a live group: who is in it, how it comes into a hard phase, what may happen then."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from ordercast.core.ids import SiteId
from ordercast.core.layer import Layer
from ordercast.core.messages import Level
from ordercast.planning.network import KnownNetwork
from ordercast.protocols.ordering.catalogue import PROTOCOLS
from ordercast.protocols.ordering.setup import Setup
from ordercast.simulator.simulation import BuildLayer
from ordercast.verify.goals import Goal
from ordercast.verify.judges import Judge
from ordercast.verify.reactions import Step
from ordercast.verify.system import System
from ordercast.verify.views.channels import Links
from ordercast.verify.views.goals import GROUP_GOALS
from ordercast.verify.views.judge import GroupJudge
from ordercast.verify.views.plot import Scripted
from ordercast.verify.views.script import ScriptStep
from ordercast.verify.views.sites import LiveSites, Rules
from ordercast.verify.views.states import Budget

DELAY_US = 30_000.0
GAP_US = 10_000.0
"""As far as estimates go: the explorer itself knows no time."""


class GroupScope(Struct, frozen=True, kw_only=True):
    """A live group, a script that brings it into a hard phase, and what may happen from there."""

    name: str
    protocol: str
    sites: int
    flush: bool = True
    """The ticket policy."""
    options: dict[str, Any] = {}
    """Of the ordering protocol."""
    level: Level = Level.AGREED
    resilience: int = 0
    script: tuple[ScriptStep, ...]
    budgets: tuple[Budget, ...]
    """By site: how often what may happen after the script."""
    silences: tuple[tuple[tuple[SiteId, ...], ...], ...]
    """By site: which others may fall silent together."""
    accurate: bool = False
    """Whether only sites that are down fall silent."""
    heartbeats: bool = False
    """Whether heartbeats arrive in every order, too; else only in the script and in the end."""
    last_view: int | None = None
    """Once all have gone on to this view, the rest is not explored: the group settles."""
    goals: tuple[str, ...]

    def orderings(self, build: BuildLayer | None = None) -> list[Layer]:
        """The ordering protocol of each site."""
        members = tuple(SiteId(site) for site in range(self.sites))
        delays_us = tuple(tuple(0.0 if a == b else DELAY_US for b in members) for a in members)
        network = KnownNetwork(delays_us, dict.fromkeys(members, ((0, GAP_US),)), (GAP_US,) * self.sites)
        make = build or PROTOCOLS[self.protocol].build
        return [make(Setup(me, members, network, self.flush, online=False, options=self.options)) for me in members]

    def wanted(self) -> dict[str, Goal]:
        """What must be seen to happen, by name."""
        return {goal: GROUP_GOALS[goal] for goal in self.goals}

    def system(
        self,
        *,
        build: BuildLayer | None = None,
        judge: Judge | None = None,
        reduce: bool = True,
        watch: Callable[[Step], None] = lambda step: None,
    ) -> System:
        """The group as the explorer sees it; `watch` sees every new step."""
        rules = Rules(
            silences=self.silences,
            accurate=self.accurate,
            heartbeats=self.heartbeats,
            level=self.level,
            resilience=self.resilience,
        )

        def orderings() -> Sequence[Layer]:
            return self.orderings(build)

        sites = LiveSites(orderings, rules, watch)
        plot = Scripted(self.script, self.budgets, self.last_view)
        return System(self.sites, sites, Links(sites.events), judge or GroupJudge(self.resilience), plot)
