"""How an exploration of a live group begins and ends, and how its steps are told."""

from __future__ import annotations

from ordercast.core.ids import SiteId
from ordercast.verify.system import EVERYONE, Move, Passage, State, System
from ordercast.verify.views.events import Boots
from ordercast.verify.views.script import Course, ScriptStep, nothing_more
from ordercast.verify.views.sites import LiveSites
from ordercast.verify.views.states import Budget
from ordercast.verify.views.words import told, told_in_script

SETTLED = 1
"""The last number of a state in which the group has settled."""


class Scripted:
    """First a script, then everything that the budgets allow; in the end the group settles."""

    def __init__(self, script: tuple[ScriptStep, ...], budgets: tuple[Budget, ...], last_view: int | None) -> None:
        """Once all who are up have gone on to the last view, or know that it is without them, it is over."""
        self._script = script
        self._last_view = last_view
        self._budgets = budgets

    def begin(self, system: System) -> State:
        return self._begun(system).state

    def _begun(self, system: System) -> Course:
        course = Course(system, system.nothing_yet())
        course.follow(self._script)
        course.allow(self._budgets)
        return course

    def is_over(self, system: System, state: State) -> bool:
        sites = system.reactions
        assert isinstance(sites, LiveSites)
        if self._last_view is None or state[-1] == SETTLED:
            return state[-1] == SETTLED
        return all(
            sites.newest_view(state[site]) >= self._last_view for site in system.members if sites.is_up(state[site])
        )

    def end(self, system: System, state: State) -> tuple[Move, State] | None:
        if state[-1] == SETTLED:
            return None
        boots = system.reactions.events.number(Boots())  # stands for all that happens now
        return (EVERYONE, boots), self._settled(system, state).state

    def _settled(self, system: System, state: State) -> Course:
        course = Course(system, (*state[:-1], SETTLED))
        course.allow(nothing_more(len(system.members)))
        course.settle()
        return course

    def opening(self, system: System) -> Passage:
        return Passage([told_in_script(step) for step in self._script], self._begun(system).happenings)

    def passage(self, system: System, state: State, move: Move) -> Passage:
        place, number = move
        if place == EVERYONE:
            return Passage(["Nobody crashes any more, and the rest arrives"], self._settled(system, state).happenings)
        happenings = system.reactions.react(state[place], number).happenings
        event, step = system.reactions.events[number], system.reactions.in_full(state[place], number)
        return Passage([told(step, event)], [(SiteId(place), happenings)])
