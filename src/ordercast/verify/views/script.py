"""What goes before an exploration of a live group, and what comes after it: one thing after the other.

A script brings the group into the phase that is to be explored. In the end, when nothing else can happen, the group
*settles*: nobody crashes any more, suspicions are right, time passes everywhere and whatever is under way arrives,
again and again, until all who are up are in one view with one order. They must get there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from ordercast.core.ids import SiteId
from ordercast.verify.history import site_name
from ordercast.verify.system import State, System
from ordercast.verify.views.events import Allows, Arrives, Drops, HostEvent, Ticks, Vanishes
from ordercast.verify.views.sites import LiveSites
from ordercast.verify.views.states import NOTHING, Budget

ROUNDS_MAX = 16
"""After so many it will never settle."""


class Does(Struct, frozen=True):
    """Something befalls a site."""

    site: SiteId
    event: HostEvent


class Receives(Struct, frozen=True):
    """The first message of a kind arrives at a site from another."""

    site: SiteId
    sender: SiteId
    kind: str


class AllArrives(Struct, frozen=True):
    """Whatever is under way arrives, and what that sets off, too."""


class AllIsLost(Struct, frozen=True):
    """Whatever is under way is lost."""


class Settles(Struct, frozen=True):
    """The sites that are up come to one view and one order."""


ScriptStep = Does | Receives | AllArrives | AllIsLost | Settles


class Course:
    """One thing after the other."""

    def __init__(self, system: System, state: State) -> None:
        self.state = state
        self.happenings: list[tuple[SiteId, tuple[Any, ...]]] = []
        self._system = system
        assert isinstance(system.reactions, LiveSites)
        self._sites: LiveSites = system.reactions

    def do(self, site: SiteId, event: HostEvent) -> None:
        """Something befalls a site."""
        self._react(self.state, site, self._sites.events.number(event))

    def _react(self, state: State, site: SiteId, event: int) -> None:
        with self._sites.unseen():
            self.happenings.append((site, self._sites.react(state[site], event).happenings))
            self.state = self._system.after(state, site, event)

    def follow(self, script: tuple[ScriptStep, ...]) -> None:
        """Step by step."""
        for step in script:
            match step:
                case Does(site=site, event=event):
                    self.do(site, event)
                case Receives(site=site, sender=sender, kind=kind):
                    self._receive(site, sender, kind)
                case AllArrives():
                    self._all_arrives()
                case AllIsLost():
                    self.state = self._system.in_all_channels(self.state, Vanishes())
                case Settles():
                    self.settle()
                    assert self._system.broken(self.state) or self._system.complete(self.state), "it does not settle"

    def _receive(self, site: SiteId, sender: SiteId, kind: str) -> None:
        for number, taken in self._system.arrivals(self.state, site):
            event = self._sites.events[number]
            assert isinstance(event, Arrives | Drops)
            if event.sender == sender and type(self._sites.wire.decode(event.data)).__name__ == kind:
                self._react(taken, site, number)
                return
        raise AssertionError(f"no {kind} is under way from {site_name(sender)} to {site_name(site)}")

    # --- settling ---

    def settle(self) -> None:
        """Go on until all is well, or nothing is to be hoped for."""
        for _ in range(ROUNDS_MAX):
            if self._system.broken(self.state) or self._system.complete(self.state):
                return
            self._round()

    def _round(self) -> None:
        down = tuple(site for site in self._system.members if not self._is_up(site))
        for site in self._up():
            self.do(site, Ticks(down, True))
            self._all_arrives()
        for site in self._up():
            for event in self._sites.timers_set(self.state[site]):
                self.do(site, event)
            self._all_arrives()

    def _all_arrives(self) -> None:
        progress = True
        while progress and not self._system.broken(self.state):
            progress = False
            for site in self._up():
                for number, taken in self._system.arrivals(self.state, site)[:1]:
                    self._react(taken, site, number)
                    progress = True

    def _up(self) -> Iterator[SiteId]:
        return (site for site in self._system.members if self._is_up(site))

    def _is_up(self, site: SiteId) -> bool:
        return self._sites.is_up(self.state[site])

    def allow(self, budgets: tuple[Budget, ...]) -> None:
        """Say what may happen from here on."""
        for site, budget in zip(self._system.members, budgets, strict=True):
            self.do(site, Allows(budget))


def nothing_more(sites: int) -> tuple[Budget, ...]:
    """Nothing is left to happen by itself."""
    return (NOTHING,) * sites
