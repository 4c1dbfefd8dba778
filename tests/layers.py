"""One site's part of a protocol, ready to be handed events."""

from __future__ import annotations

from typing import Any

from ordercast.core.ids import SiteId
from ordercast.core.layer import Layer
from ordercast.planning.network import KnownNetwork
from ordercast.protocols.ordering.catalogue import PROTOCOLS
from ordercast.protocols.ordering.setup import Setup

GAP_US = 10_000.0
DELAY_US = 20_000.0


def sites(count: int) -> tuple[SiteId, ...]:
    """The ids of so many sites."""
    return tuple(SiteId(index) for index in range(count))


def network(count: int) -> KnownNetwork:
    """Sites that are all as far apart, and all as fast."""
    delays = tuple(tuple(0.0 if a == b else DELAY_US for b in range(count)) for a in range(count))
    return KnownNetwork(delays, dict.fromkeys(sites(count), ((0, GAP_US),)), (GAP_US,) * count)


def setup(me: int = 0, count: int = 3, *, flush: bool = False, online: bool = False, **options: Any) -> Setup:
    """The start of one site of a small group."""
    return Setup(SiteId(me), sites(count), network(count), flush, online, options)


def layer_of(protocol: str, me: int = 0, count: int = 3, **options: Any) -> Layer:
    """One site's layer of a protocol by its name."""
    return PROTOCOLS[protocol].build(setup(me, count, **options))
