"""The full stack of a live group: what a host runs above an unreliable network."""

from __future__ import annotations

from msgspec import Struct

from ordercast.core.ids import SiteId
from ordercast.core.layer import Layer
from ordercast.core.stack import Stack
from ordercast.protocols.groups.building import Recovered, group_over
from ordercast.protocols.links.codec import codec_for
from ordercast.protocols.links.reliable import Reliable
from ordercast.protocols.membership.view_synchrony import ViewSynchrony


class Life(Struct, frozen=True):
    """One life of a site, from its start to its crash."""

    me: SiteId
    configured: tuple[SiteId, ...]
    """All sites of the group, up or not."""
    incarnation: int = 0
    started_us: int = 0
    acceptor: bytes | None = None
    """What view synchrony saved last, in an earlier life."""
    recovered: Recovered = Recovered()


def full_stack(ordering: Layer, life: Life, resilience: int) -> Stack:
    """Group over view synchrony over codec over links."""
    upper = upper_layers(ordering, life, resilience)
    return Stack((*upper.layers, codec_for(upper.WIRE), Reliable(life.me, life.incarnation)))


def upper_layers(ordering: Layer, life: Life, resilience: int) -> Stack:
    """Group over view synchrony alone: for a host that itself keeps the links, as the explorer does."""
    views = ViewSynchrony.start(life.me, life.incarnation, life.configured, life.started_us, life.acceptor)
    group = group_over(ordering, life.me, resilience, views.acceptor.aligned, life.recovered)
    return Stack((group, views))
