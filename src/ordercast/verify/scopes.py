"""The scopes that the explorer knows by name: small groups that it runs through every interleaving there is.

Rates and delays are known to the sites and such that rate-synchronised clocks jump and the token moves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from ordercast.core.ids import SiteId
from ordercast.core.layer import Layer
from ordercast.core.stack import stacked
from ordercast.planning.network import KnownNetwork
from ordercast.protocols.links.fifo import Fifo
from ordercast.protocols.ordering.catalogue import PROTOCOLS
from ordercast.protocols.ordering.dynamic_hybrid import TENURE_US
from ordercast.protocols.ordering.migrating_token import TENURE_MIN_US
from ordercast.protocols.ordering.setup import Setup
from ordercast.simulator.simulation import BuildLayer
from ordercast.verify.channels import Queues
from ordercast.verify.goals import GOALS, Goal
from ordercast.verify.judges import CompactJudge, Judge
from ordercast.verify.one_view import OneView
from ordercast.verify.one_view_plot import FlushedInTheEnd
from ordercast.verify.reactions import Step
from ordercast.verify.system import System

DELAY_US = 30_000.0
"""Between any two sites, as far as estimates go: the explorer itself knows no time."""

FAST_FIRST_US = (10_000.0, 15_000.0, 20_000.0)
"""Mean gaps of the sites. The delay is worth three of the fastest: enough for clocks to jump."""

SLOW_FIRST_US = (20_000.0, 15_000.0, 10_000.0)
"""So every other site has a claim to the token that the first one holds."""

Pieces = tuple[tuple[int, float | None], ...]


class Scope(Struct, frozen=True, kw_only=True):
    """A small group, with what must be seen to happen in it."""

    name: str
    protocol: str
    sites: int
    messages: int
    """How many messages each site multicasts."""
    flush: bool = False
    """The ticket policy from the beginning; in the end all sites flush in any case."""
    options: dict[str, Any] = {}
    gaps_us: tuple[Pieces, ...]
    """By site, as in `KnownNetwork`."""
    clock_us: tuple[int, ...] = (0,)
    """The readings of each site's clock after the beginning. With more than one it moves on at any moment."""
    fires: tuple[int, ...] | None = None
    """By site: how many timers may run out; None: all that are set."""
    fifo: bool = True
    """Whether channels keep the order; if not, a FIFO link below the protocol restores it."""
    goals: tuple[str, ...]

    def layers(self, build: BuildLayer | None = None) -> list[Layer]:
        """One for each site; `build` replaces the protocol, so that tests can plant bugs."""
        members = tuple(SiteId(site) for site in range(self.sites))
        delays_us = tuple(tuple(0.0 if a == b else DELAY_US for b in members) for a in members)
        gaps_us = dict(zip(members, self.gaps_us, strict=True))
        network = KnownNetwork(delays_us, gaps_us, tuple(pieces[0][1] for pieces in self.gaps_us))
        layers = []
        for me in members:
            setup = Setup(me, members, network, self.flush, online=False, options=self.options)
            ordering = (build or PROTOCOLS[self.protocol].build)(setup)
            layers.append(ordering if self.fifo else stacked((ordering, Fifo(me, members))))
        return layers

    def wanted(self) -> dict[str, Goal]:
        """What must be seen to happen, by name."""
        return {goal: GOALS[goal] for goal in self.goals}

    def system(
        self,
        *,
        build: BuildLayer | None = None,
        judge: Judge | None = None,
        reduce: bool = True,
        watch: Callable[[Step], None] = lambda step: None,
    ) -> System:
        """The group as the explorer sees it; `watch` sees every new step."""
        reactions = OneView(self.layers(build), self.messages, self.clock_us, watch, self.fires)
        judge = judge or CompactJudge()
        return System(self.sites, reactions, Queues(fifo=self.fifo), judge, FlushedInTheEnd(), reduce=reduce)


def _constant(gaps_us: tuple[float, ...], sites: int) -> tuple[Pieces, ...]:
    return tuple(((0, gap_us),) for gap_us in gaps_us[:sites])


WAITED, TICKET_FIRST, PROMISED, RODE, JUMPED, SEQUENCED, MOVED, MOVED_ON, OVERTOOK, *SWITCHES = GOALS
TO_ACTIVE, TO_PASSIVE, ABORTED, CHANGED, REASSIGNED, UNASSIGNED = SWITCHES
SHAPES = ((3, 2), (2, 3))
"""(sites, messages per site)"""


def _symmetric(protocol: str, *goals: str) -> list[Scope]:
    return [
        Scope(
            name=f"{protocol}-{sites}x{messages}" + ("-flush" if flush else ""),
            protocol=protocol,
            sites=sites,
            messages=messages,
            flush=flush,
            gaps_us=_constant(FAST_FIRST_US, sites),
            goals=(WAITED, PROMISED, *goals),
        )
        for sites, messages in SHAPES
        for flush in (False, True)
    ]


def _token_site() -> list[Scope]:
    return [
        Scope(
            name=f"token-site-{sites}x{messages}",
            protocol="token-site",
            sites=sites,
            messages=messages,
            gaps_us=_constant(FAST_FIRST_US, sites),
            goals=(WAITED, TICKET_FIRST) if sites > 2 else (WAITED,),
        )
        for sites, messages in SHAPES
    ]


def _migrating_token() -> list[Scope]:
    """The clock stands where the first tenure is over, or moves on until the second is, too."""
    once = [
        Scope(
            name=f"migrating-token-{sites}x{messages}",
            protocol="migrating-token",
            sites=sites,
            messages=messages,
            gaps_us=_constant(SLOW_FIRST_US, sites),
            clock_us=(TENURE_MIN_US,),
            goals=(WAITED, MOVED, TICKET_FIRST) if sites > 2 else (WAITED, MOVED),
        )
        for sites, messages in SHAPES
    ]
    slow, fast = SLOW_FIRST_US[0], SLOW_FIRST_US[-1]
    twice = Scope(
        name="migrating-token-2x3-back",
        protocol="migrating-token",
        sites=2,
        messages=3,
        gaps_us=(((0, slow), (2 * TENURE_MIN_US, fast)), ((0, fast), (2 * TENURE_MIN_US, slow))),
        clock_us=(TENURE_MIN_US, 2 * TENURE_MIN_US),
        goals=(WAITED, MOVED, MOVED_ON),
    )
    return [*once, twice]


def _hybrid() -> list[Scope]:
    """One passive site: of two, or beside two active ones. And two passive sites that share a sequencer."""
    return [
        _hybrid_scope(sites, messages, active, flush) for sites, messages, active in HYBRIDS for flush in (False, True)
    ]


HYBRIDS = ((3, 2, 2), (3, 2, 1), (2, 3, 1))
"""(sites, messages per site, active sites)"""


def _hybrid_scope(sites: int, messages: int, active: int, flush: bool) -> Scope:
    one = "-one-active" if sites > 2 and active == 1 else ""
    goals = [WAITED, SEQUENCED]
    if sites > 2:
        goals.append(TICKET_FIRST)
    if active > 1:
        goals += [PROMISED, JUMPED]
    if not flush:
        goals.append(RODE)
    return Scope(
        name=f"hybrid-{sites}x{messages}{one}" + ("-flush" if flush else ""),
        protocol="hybrid",
        sites=sites,
        messages=messages,
        flush=flush,
        options={"active": tuple(SiteId(site) for site in range(active))},
        gaps_us=_constant(FAST_FIRST_US, sites),
        goals=tuple(goals),
    )


class Switch(Struct, frozen=True):
    """Who is active at first, how often each site considers its role, and what must come of it.

    Sites are restless: they switch whenever they consider their role. At first C has A for a sequencer.
    """

    name: str
    sites: int
    messages: int
    active: int
    fires: tuple[int, ...]
    goals: tuple[str, ...]
    policies: tuple[bool, ...] = (False, True)
    """Of tickets: whether they flush."""


SWITCHED = (
    Switch("to-active", 3, 1, 1, (0, 1, 0), (TO_ACTIVE, UNASSIGNED)),
    Switch("to-passive", 3, 1, 2, (1, 0, 0), (TO_PASSIVE, REASSIGNED, UNASSIGNED)),
    Switch("change-sequencer", 3, 1, 2, (0, 0, 1), (CHANGED,)),
    Switch("change-sequencer", 3, 2, 2, (0, 0, 1), (CHANGED, UNASSIGNED), (False,)),
    Switch("all-to-passive", 3, 1, 2, (1, 1, 0), (TO_PASSIVE, ABORTED, REASSIGNED, UNASSIGNED)),
    Switch("to-active-as-sequencer-leaves", 3, 1, 2, (1, 0, 1), (TO_PASSIVE, CHANGED, REASSIGNED)),
    Switch("back-and-forth", 2, 2, 2, (2, 1), (TO_PASSIVE, TO_ACTIVE, ABORTED, UNASSIGNED)),
    Switch("all-at-once", 2, 3, 1, (1, 1), (TO_ACTIVE, UNASSIGNED)),
)


def _dynamic_hybrid() -> list[Scope]:
    """Every kind of switch, at any moment, while messages of all sites are under way."""
    return [
        Scope(
            name=f"dynamic-hybrid-{switch.sites}x{switch.messages}-{switch.name}" + ("-flush" if flush else ""),
            protocol="dynamic-hybrid",
            sites=switch.sites,
            messages=switch.messages,
            flush=flush,
            options={"active": tuple(SiteId(site) for site in range(switch.active)), "policy": "restless"},
            gaps_us=_constant(FAST_FIRST_US, switch.sites),
            clock_us=(TENURE_US,) if max(switch.fires) == 1 else (TENURE_US, 2 * TENURE_US),
            fires=switch.fires,
            goals=(WAITED, *switch.goals),
        )
        for switch in SWITCHED
        for flush in switch.policies
    ]


def _over_disorder() -> list[Scope]:
    """The FIFO link under a protocol, over channels in which messages overtake each other."""
    return [
        Scope(
            name="hybrid-2x2-disorder",
            protocol="hybrid",
            sites=2,
            messages=2,
            options={"active": (SiteId(0),)},
            gaps_us=_constant(FAST_FIRST_US, 2),
            fifo=False,
            goals=(WAITED, SEQUENCED, OVERTOOK),
        )
    ]


SCOPES: dict[str, Scope] = {
    scope.name: scope
    for scope in [
        *_token_site(),
        *_migrating_token(),
        *_symmetric("symmetric"),
        *_symmetric("rs-symmetric", JUMPED),
        *_hybrid(),
        *_dynamic_hybrid(),
        *_over_disorder(),
    ]
}
"""Every scope by its name."""
