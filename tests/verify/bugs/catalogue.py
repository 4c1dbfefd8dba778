"""The planted bugs, where they show, and which properties must report them."""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ordercast.planning.topology import Delays
from ordercast.protocols.ordering.migrating_token import TENURE_MIN_US
from ordercast.simulator.scenario import ProtocolChoice, Scenario, Traffic
from ordercast.verify.properties import (
    CAUSAL_ORDER,
    FIFO_ORDER,
    NO_CREATION,
    NO_DUPLICATION,
    TOTAL_ORDER,
    VALIDITY,
)
from ordercast.verify.scopes import SCOPES, Scope
from tests.verify.bugs import in_deliveries, in_merge, in_tickets, in_token
from tests.verify.bugs.making import Build, planted

FAR_APART = Delays(
    sites=["A", "B", "C"], one_way_ms=[[0, 10, 90], [10, 0, 10], [90, 10, 0]], variance=4.0, distribution="chi2"
)
"""What A sends to C is overtaken by what B answers."""


class Bug(Struct, frozen=True, kw_only=True):
    """One bug and what it breaks."""

    name: str
    protocol: str
    build: Build
    scope: Scope
    """Where the explorer finds it."""
    found: str
    """The property that the explorer's counter-example violates (among others)."""
    breaks: tuple[str, ...]
    """What `verify.properties` must report in the simulation (one violation may lead to others)."""
    online: tuple[str, ...]
    """What `verify.online` must report there."""
    rates: tuple[float, float, float] = (50, 40, 60)
    quiet_end: bool = False
    """Whether the traffic ends well before the drain begins."""

    def scenario(self) -> Scenario:
        """A few seconds of uneven load at three sites."""
        options: dict[str, Any] = {"active": ["A", "B"]} if self.protocol == "hybrid" else {}
        traffic = [
            Traffic(sites=[site], rate=rate, source="poisson", until_s=2.0 if self.quiet_end else None)
            for site, rate in zip("ABC", self.rates, strict=True)
        ]
        return Scenario(
            protocol=ProtocolChoice(name=self.protocol, options=options),
            duration_s=3.0,
            delays=FAR_APART,
            traffic=traffic,
        )


def _bug(
    name: str,
    protocol: str,
    kind: type | Build,
    scope: str | Scope,
    *breaks: str,
    found: str = "",
    online: tuple[str, ...] | None = None,
    quiet_end: bool = False,
) -> Bug:
    return Bug(
        name=f"{protocol} {name}",
        protocol=protocol,
        build=planted(kind, protocol) if isinstance(kind, type) else kind,
        scope=SCOPES[scope] if isinstance(scope, str) else scope,
        found=found or breaks[0],
        breaks=breaks,
        online=breaks if online is None else online,
        rates=(5, 60, 20) if protocol == "migrating-token" else (50, 40, 60),
        quiet_end=quiet_end,
    )


TWO_HANDOVERS = replace(
    SCOPES["migrating-token-3x2"],
    name="two handovers",
    messages=1,
    gaps_us=(((0, 20_000.0),), ((0, 10_000.0),), ((0, 15_000.0), (2 * TENURE_MIN_US, 5_000.0))),
    clock_us=(TENURE_MIN_US, 2 * TENURE_MIN_US),
)
"""The token goes from A to B, and then from B to C."""

TWO, THREE, THREE_HYBRID = "symmetric-2x3", "symmetric-3x2", "hybrid-3x2"
MOVING, MOVING_OF_TWO = "migrating-token-3x2", "migrating-token-2x3"

CREATIONS = [
    _bug("counts from one", "token-site", in_deliveries.CountsFromOne, "token-site-2x3", NO_CREATION),
    _bug("wrong incarnation", "hybrid", in_deliveries.WrongIncarnation, "hybrid-2x3", NO_CREATION),
    _bug("delivers handovers", "migrating-token", in_deliveries.DeliversHandovers, MOVING_OF_TWO, NO_CREATION),
]
DUPLICATIONS = [
    _bug("numbers twice", "token-site", in_merge.NumbersTwice, "token-site-2x3", NO_DUPLICATION),
    _bug("numbers again", "migrating-token", in_merge.NumbersWhatWasDelivered, MOVING_OF_TWO, NO_DUPLICATION),
    _bug("delivers its own twice", "symmetric", in_deliveries.DeliversItsOwnTwice, TWO, NO_DUPLICATION),
    _bug("hears again", "symmetric", in_deliveries.HearsAgain, TWO, NO_DUPLICATION),
]
DISORDERS_OF_A_SENDER = [
    _bug(name, protocol, kind, scope, FIFO_ORDER, CAUSAL_ORDER, online=(FIFO_ORDER,))
    for name, protocol, kind, scope in (
        ("tickets backwards", "hybrid", in_tickets.tickets_backwards, "hybrid-2x3"),
        ("overtakes", "token-site", in_token.Overtakes, "token-site-2x3"),
        ("numbers backwards", "migrating-token", in_token.NumbersBackwards, MOVING_OF_TWO),
    )
]
DISORDERS = [
    _bug("delivers on receipt", "symmetric", in_deliveries.DeliversOnReceipt, TWO, TOTAL_ORDER, CAUSAL_ORDER),
    _bug("skips horizons", "symmetric", in_merge.SkipsHorizons, TWO, TOTAL_ORDER, CAUSAL_ORDER),
    _bug("learns nothing", "symmetric", in_tickets.LearnsNothing, TWO, TOTAL_ORDER, CAUSAL_ORDER),
    _bug("breaks ties for itself", "symmetric", in_merge.BreaksTiesForItself, TWO, TOTAL_ORDER),
    _bug("reuses tickets", "symmetric", in_tickets.ReusesTickets, THREE, TOTAL_ORDER),
    _bug("skips horizons", "hybrid", in_merge.SkipsHorizonsAsHybrid, THREE_HYBRID, TOTAL_ORDER),
    _bug("ignores its own tickets", "hybrid", in_merge.IgnoresItsOwnTickets, THREE_HYBRID, TOTAL_ORDER),
    _bug("starts over", "migrating-token", in_token.StartsOver, MOVING, TOTAL_ORDER),
    _bug("keeps numbering", "migrating-token", in_token.KeepsNumbering, MOVING_OF_TWO, VALIDITY, found=TOTAL_ORDER),
]
LOSSES = [
    _bug("loses a body", "hybrid", in_tickets.LosesABody, THREE_HYBRID, VALIDITY),
    _bug("leaves one out", "hybrid", in_tickets.LeavesOneOut, "hybrid-2x3", FIFO_ORDER, VALIDITY),
    _bug("never promises", "symmetric", in_tickets.NeverPromises, TWO, VALIDITY),
    _bug("promises while waiting", "symmetric", in_tickets.PromisesOnlyWhileWaiting, TWO, VALIDITY, quiet_end=True),
    _bug("leaves unnumbered", "migrating-token", in_token.LeavesUnnumbered, MOVING_OF_TWO, FIFO_ORDER, VALIDITY),
]
RARE = [
    _bug("lowers horizons", "migrating-token", in_merge.LowersHorizons, MOVING, found=VALIDITY),
    _bug("takes it on receipt", "migrating-token", in_token.TakesTheTokenOnReceipt, TWO_HANDOVERS, found=VALIDITY),
]
"""Bugs that the simulations here do not run into; every interleaving does."""

BUGS = CREATIONS + DUPLICATIONS + DISORDERS_OF_A_SENDER + DISORDERS + LOSSES + RARE
