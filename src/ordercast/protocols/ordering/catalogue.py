"""The ordering protocols by name: the one line that a new protocol adds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from ordercast.core.layer import Layer
from ordercast.planning.detectors.catalogue import DETECTORS
from ordercast.planning.switching import POLICIES
from ordercast.protocols.ordering import dynamic_hybrid, hybrid, migrating_token, symmetric, token_site
from ordercast.protocols.ordering.setup import Setup


class Protocol(Struct, frozen=True):
    """How to build one site's part of a protocol, and what a scenario may say about it."""

    build: Callable[[Setup], Layer]
    summary: str
    options: dict[str, Any] = {}
    """Names of the options a scenario may give, with their kinds: `SITE`, `SITES`, or the names to choose from."""


SITE = "site"
SITES = "sites"

DETECTOR = {"detector": tuple(DETECTORS)}
"""For protocols that measure gaps."""

DYNAMIC_HYBRID = Protocol(
    dynamic_hybrid.build,
    "hybrid, with roles that change on line",
    {"active": SITES, "policy": tuple(POLICIES), **DETECTOR},
)

ORDERINGS: tuple[Any, ...] = (
    token_site.TokenSite,
    migrating_token.MigratingToken,
    symmetric.Symmetric,
    hybrid.Hybrid,
    dynamic_hybrid.DynamicHybrid,
)
"""What they are built of. The messages of all of them together can be told apart."""

PROTOCOLS: dict[str, Protocol] = {
    "token-site": Protocol(token_site.build, "one site orders for all", {"site": SITE}),
    "migrating-token": Protocol(migrating_token.build, "the fastest site orders for all", {"site": SITE, **DETECTOR}),
    "symmetric": Protocol(symmetric.plain, "timestamps, Lamport clocks"),
    "rs-symmetric": Protocol(symmetric.rate_synchronised, "timestamps, rate-synchronised clocks", DETECTOR),
    "hybrid": Protocol(hybrid.build, "active sites order, also for passive ones", {"active": SITES, **DETECTOR}),
    "dynamic-hybrid": DYNAMIC_HYBRID,
    "adaptive": DYNAMIC_HYBRID,
}
