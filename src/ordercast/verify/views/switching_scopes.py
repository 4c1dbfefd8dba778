"""Scopes of live groups that begin in the midst of a change of role, alone and with a crash.

In each a site has decided to change its role or its sequencer, and multicast so, and C has a message under way that
its sequencer is to order. From there on everything arrives in every order; and the site that has ordered so far, or the
one that is to order from then on, may crash at any moment.
"""

from __future__ import annotations

from msgspec import Struct

from ordercast.core.ids import SiteId
from ordercast.verify.views.events import Fires, Multicasts, Ticks
from ordercast.verify.views.scope import GroupScope
from ordercast.verify.views.scopes import EVERYBODY, A, B, C
from ordercast.verify.views.script import Does, ScriptStep
from ordercast.verify.views.sites import CONSIDER
from ordercast.verify.views.states import NOTHING, Budget

SUSPECTS = Budget(ticks=1)
"""Time for one suspicion, which is right."""

CRASHES = Budget(crashes=1)

WENT_ACTIVE, WENT_PASSIVE = "a site went active", "a site went passive"
STAYED, TOOK_OVER = "the last active site stayed", "a site took over"
ASKED_ANOTHER = "a site asked another sequencer"
REASSIGNED = "messages were reassigned"
LEFT_OUT = "a site was left out of the next view"


class Transition(Struct, frozen=True):
    """A change of role, and what must be seen to come of it."""

    name: str
    active: tuple[SiteId, ...]
    """Who is active at first."""
    consider: tuple[SiteId, ...]
    """Who considers its role, and changes it, for all are restless; nobody, where only a crash changes something."""
    goals: tuple[str, ...]
    crashes: tuple[tuple[str, SiteId, tuple[str, ...]], ...]
    """Who may crash, and what must be seen to come of that."""
    multicasts: int = 0
    """How many more messages C multicasts, at any time."""


TRANSITIONS = (
    Transition(
        "to-active",
        (A,),
        (B,),
        (WENT_ACTIVE,),
        (("old", A, (LEFT_OUT, WENT_ACTIVE)), ("new", B, (LEFT_OUT, WENT_ACTIVE))),
    ),
    Transition(
        "to-passive",
        (A, B),
        (A,),
        (WENT_PASSIVE, REASSIGNED),
        (("old", A, (LEFT_OUT, WENT_PASSIVE)), ("new", B, (LEFT_OUT, WENT_PASSIVE, TOOK_OVER))),
    ),
    Transition(
        "change-sequencer",
        (A, B),
        (C,),
        (ASKED_ANOTHER,),
        (("old", A, (LEFT_OUT, ASKED_ANOTHER)), ("new", B, (LEFT_OUT, ASKED_ANOTHER))),
        multicasts=1,
    ),
    Transition("all-to-passive", (A, B), (A, B), (WENT_PASSIVE, STAYED), (("one", B, (LEFT_OUT, WENT_PASSIVE)),)),
    Transition("take-over", (A,), (), (), (("only", A, (LEFT_OUT, TOOK_OVER)),)),
)


def _script(transition: Transition) -> tuple[ScriptStep, ...]:
    """C multicasts; then who changes finds that its tenure is over, and decides."""
    decides = (step for site in transition.consider for step in (Does(site, Ticks()), Does(site, Fires(CONSIDER))))
    return (*EVERYBODY, Does(C, Multicasts()), *decides)


def _scope(transition: Transition, name: str, budgets: tuple[Budget, ...], goals: tuple[str, ...]) -> GroupScope:
    crashing = tuple(SiteId(site) for site, budget in enumerate(budgets) if budget.crashes)
    return GroupScope(
        name=f"switch-{transition.name}{name}",
        protocol="dynamic-hybrid",
        sites=3,
        options={"active": transition.active, "policy": "restless"},
        script=_script(transition),
        budgets=budgets,
        silences=((crashing,),) * 3,
        accurate=True,
        last_view=2,
        goals=goals,
    )


def _budgets(victim: SiteId, multicasts: int) -> tuple[Budget, ...]:
    """The lowest survivor is the one to change the view. C is no victim."""
    lowest = min(site for site in (A, B, C) if site != victim)
    return (*({victim: CRASHES, lowest: SUSPECTS}.get(site, NOTHING) for site in (A, B)), Budget(multicasts=multicasts))


def _scopes(transition: Transition) -> list[GroupScope]:
    quiet = (NOTHING, NOTHING, Budget(multicasts=transition.multicasts))
    alone = [_scope(transition, "", quiet, transition.goals)] if transition.consider else []
    crashes = [
        _scope(transition, f"-{name}-crashes", _budgets(victim, transition.multicasts), goals)
        for name, victim, goals in transition.crashes
    ]
    return [*alone, *crashes]


SWITCHING_SCOPES: dict[str, GroupScope] = {
    scope.name: scope for transition in TRANSITIONS for scope in _scopes(transition)
}
"""Every scope by its name."""
