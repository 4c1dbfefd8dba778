"""The full stack of a live group: what a host runs above an unreliable network."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ordercast.core.ids import SiteId
from ordercast.core.layer import Layer
from ordercast.core.stack import Stack
from ordercast.protocols.groups.building import Recovered, group_over, participants_over
from ordercast.protocols.groups.site_group import SiteGroup
from ordercast.protocols.groups.standing import TELL_US
from ordercast.protocols.links.codec import codec_for
from ordercast.protocols.links.reliable import Reliable
from ordercast.protocols.membership.suspector import PATIENCE_US
from ordercast.protocols.membership.view_synchrony import ViewSynchrony
from ordercast.protocols.ordering.setup import Configured

DATAGRAM_BYTES = 1400
"""A frame fits into a packet of any network."""

STREAM_FRAME_BYTES = 1 << 18
"""Over a stream nothing is gained by small frames, and messages in pieces are copied once more at either end."""


class Life(Struct, frozen=True):
    """One life of a site, from its start to its crash."""

    me: SiteId
    configured: tuple[SiteId, ...]
    """All sites of the group, up or not."""
    incarnation: int = 0
    started_us: int = 0
    recovered: Recovered = Recovered()
    """What earlier lives have left."""
    ordering: Configured | None = None
    """What ordering protocols are built from, for groups that change theirs while they run."""
    patience_us: int = PATIENCE_US
    """So much silence of another site says nothing."""
    tell_us: int = TELL_US
    """How long the news that more has been ordered waits for a multicast to travel with."""


class Carrier(Struct, frozen=True):
    """What carries the frames of the links."""

    repairs: bool = True
    """Whether frames may be lost; else the host says when a connection is a new one."""
    frame_bytes_max: int = DATAGRAM_BYTES


DATAGRAMS = Carrier()
STREAMS = Carrier(repairs=False, frame_bytes_max=STREAM_FRAME_BYTES)


def full_stack(ordering: Layer, life: Life, resilience: int, carrier: Carrier = DATAGRAMS) -> Stack:
    """Participants over group over view synchrony over codec over links."""
    group, views = _group_and_views(ordering, life, resilience)
    participants = participants_over(group, life.incarnation, life.recovered)
    codec = codec_for(Stack((group, views)).WIRE)
    links = Reliable(life.me, life.incarnation, repairs=carrier.repairs, frame_bytes_max=carrier.frame_bytes_max)
    return Stack((participants, group, views, codec, links))


def upper_layers(ordering: Layer, life: Life, resilience: int) -> Stack:
    """Group over view synchrony alone: for a host without participants that itself keeps the links, as the explorer."""
    return Stack(_group_and_views(ordering, life, resilience))


def _group_and_views(ordering: Layer, life: Life, resilience: int) -> tuple[SiteGroup[Any], ViewSynchrony[Any]]:
    acceptor = life.recovered.saved.get("acceptor")
    views = ViewSynchrony.start(life.me, life.incarnation, life.configured, life.started_us, acceptor, life.patience_us)
    aligned = views.acceptor.aligned
    group = group_over(ordering, life.me, resilience, aligned, life.recovered, life.ordering, life.tell_us)
    return group, views
