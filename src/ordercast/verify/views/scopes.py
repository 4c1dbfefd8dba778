"""The scopes of live groups that the explorer knows by name. Each begins inside a hard phase.

They explore a site's part in a change of view under every order of what arrives; the ordering protocol is one of two.
Budgets are as small as they can be for the goals: what a larger one adds is mostly more of the same.
"""

from __future__ import annotations

from ordercast.core.ids import SiteId
from ordercast.verify.views.events import Allows, Boots, Crashes, Multicasts, Ticks
from ordercast.verify.views.scope import GroupScope
from ordercast.verify.views.script import AllArrives, AllIsLost, Does, Receives, ScriptStep, Settles
from ordercast.verify.views.states import Budget

A, B, C = SiteId(0), SiteId(1), SiteId(2)

NOTHING = Budget()
NOBODY_ELSE: tuple[tuple[SiteId, ...], ...] = ((),)
"""Whose silence a site may notice: nobody's."""

PROTOCOLS_EXPLORED = ("token-site", "symmetric")


def boot(*sites: SiteId) -> tuple[ScriptStep, ...]:
    """These sites come up, and to their first view."""
    return (*(Does(site, Boots()) for site in sites), Settles())


EVERYBODY = boot(A, B, C)

A_LEAVES_C_OUT = (
    *EVERYBODY,
    Does(C, Multicasts()),
    Receives(B, C, "Cast"),
    Does(A, Ticks((C,))),
)
"""A has not heard C, and asks all to stop, while a message of C is under way that B has already."""

B_SUSPECTS_A = (NOBODY_ELSE, ((A,),), NOBODY_ELSE)


def _flush(protocol: str) -> GroupScope:
    """A changes the view, and nothing else goes wrong.

    With symmetric ordering B and then C answer it; with a token site B multicasts a message of its own at some time.
    """
    return GroupScope(
        name=f"flush-{protocol}",
        protocol=protocol,
        sites=3,
        script=A_LEAVES_C_OUT,
        budgets=(NOTHING, Budget(multicasts=1 if protocol == "token-site" else 0), NOTHING),
        silences=(NOBODY_ELSE,) * 3,
        goals=(
            "a site was left out of the next view",
            "a message was ordered while the view was being closed",
            "a message of the cut had to be fetched",
        ),
    )


def _coordinator_crash(protocol: str) -> GroupScope:
    """A changes the view, and crashes for good at some time; B notices, and must find out what A may have decided."""
    return GroupScope(
        name=f"coordinator-crash-{protocol}",
        protocol=protocol,
        sites=3,
        script=A_LEAVES_C_OUT,
        budgets=(Budget(crashes=1), Budget(ticks=1), NOTHING),
        silences=B_SUSPECTS_A,
        accurate=True,
        goals=(
            "a second coordinator asked",
            "a promise told of an accepted successor",
            "the next coordinator proposed what was accepted before",
        ),
    )


def _coordinator_returns(protocol: str) -> GroupScope:
    """C alone has agreed to be left out, and closed the view; A has crashed, and comes back as another life."""
    return GroupScope(
        name=f"coordinator-returns-{protocol}",
        protocol=protocol,
        sites=3,
        script=(
            *A_LEAVES_C_OUT,
            Receives(B, A, "Prepare"),
            Receives(A, B, "Promise"),
            Receives(C, A, "Accept"),
            Does(A, Allows(Budget(crashes=1, restarts=1))),
            Does(A, Crashes(lost=True)),
        ),
        budgets=(Budget(restarts=1), Budget(ticks=1), NOTHING),
        silences=B_SUSPECTS_A,
        accurate=True,
        goals=(
            "a second coordinator asked",
            "a promise told of an accepted successor",
            "the next coordinator proposed what was accepted before",
            "a log became the order",
        ),
    )


def _two_coordinators(protocol: str) -> GroupScope:
    """A changes the view since it has not heard C, and B since it has not heard A; both are wrong."""
    return GroupScope(
        name=f"two-coordinators-{protocol}",
        protocol=protocol,
        sites=3,
        script=(*A_LEAVES_C_OUT, Does(B, Ticks((A,)))),
        budgets=(NOTHING,) * 3,
        silences=(NOBODY_ELSE,) * 3,
        goals=(
            "a second coordinator asked",
            "a coordinator was refused",
            "a promise told of an accepted successor",
            "the next coordinator proposed what was accepted before",
        ),
    )


def _join(protocol: str) -> GroupScope:
    """C wants to come into a view of A and B; A has begun to change it, and may crash for good."""
    return GroupScope(
        name=f"join-{protocol}",
        protocol=protocol,
        sites=3,
        script=(
            *boot(A, B),
            Does(A, Multicasts()),
            Does(C, Boots()),
            *_everybody_hears((C, ())),
            *_everybody_hears((A, (C,)), (B, ())),
            *_everybody_hears((C, ())),
            Does(A, Ticks()),
        ),
        budgets=(Budget(crashes=1), Budget(multicasts=1, ticks=1), Budget(retries=1)),
        silences=B_SUSPECTS_A,
        accurate=True,
        goals=("a site came in", "the order was fetched by a site that had come in"),
    )


def _rejoin(protocol: str) -> GroupScope:
    """A was cut off alone with a message of its own; B and C have gone on, and now hear A again."""
    return GroupScope(
        name=f"rejoin-{protocol}",
        protocol=protocol,
        sites=3,
        script=(
            *EVERYBODY,
            Does(A, Multicasts()),
            AllIsLost(),
            Does(B, Ticks((A,))),
            Receives(C, B, "Prepare"),
            Receives(B, C, "Promise"),
            Receives(C, B, "Accept"),
            Receives(B, C, "Accepted"),
            Receives(C, B, "Decided"),
            AllIsLost(),
            Does(C, Multicasts()),
            AllArrives(),
            *_everybody_hears((B, (A,)), (C, (A,))),
            *_everybody_hears((A, ())),
            *_everybody_hears((B, ()), (C, ())),
            *_everybody_hears((A, ())),
            Does(B, Ticks()),
        ),
        budgets=(Budget(retries=1), NOTHING, Budget(multicasts=1)),
        silences=(NOBODY_ELSE,) * 3,
        goals=("a site came in", "the order was fetched by a site that had come in", *_taken_back(protocol)),
    )


def _everybody_hears(*speakers: tuple[SiteId, tuple[SiteId, ...]]) -> tuple[ScriptStep, ...]:
    """Time passes at each of these, without a word from the others named; and their heartbeats arrive."""
    return (*(Does(site, Ticks(silent, True)) for site, silent in speakers), AllArrives())


def _taken_back(protocol: str) -> tuple[str, ...]:
    """A token site alone puts its own message into the order; symmetric ordering waits for the others."""
    return ("a site took something back",) if protocol == "token-site" else ()


GROUP_SCOPES: dict[str, GroupScope] = {
    scope.name: scope
    for scope in (
        *map(_flush, PROTOCOLS_EXPLORED),
        *map(_coordinator_crash, PROTOCOLS_EXPLORED),
        *map(_coordinator_returns, PROTOCOLS_EXPLORED),
        _two_coordinators("token-site"),  # with symmetric ordering there are millions of states
        *map(_join, PROTOCOLS_EXPLORED),
        *map(_rejoin, PROTOCOLS_EXPLORED),
    )
}
"""Every scope of a live group by its name."""
