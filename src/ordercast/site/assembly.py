"""The stack of a site, from its cluster file and from what earlier lives have left."""

from __future__ import annotations

from ordercast.core.ids import SiteId
from ordercast.core.stack import Stack
from ordercast.planning.network import KnownNetwork
from ordercast.protocols.full import STREAMS, Carrier, Life, full_stack
from ordercast.protocols.groups.building import Recovered
from ordercast.protocols.ordering.catalogue import PROTOCOLS
from ordercast.protocols.ordering.options import with_ids
from ordercast.protocols.ordering.setup import Configured, Setup
from ordercast.site.cluster import Cluster, GroupTable
from ordercast.site.storage.recovery import RecoveredLog

LOSSY_STREAMS = Carrier(repairs=True, frame_bytes_max=STREAMS.frame_bytes_max)
"""For an emulated network that loses."""

RETAINED_POSITIONS = 2_000
"""So much of the final order stays in memory for members that come back; what is older they get from the log."""

TELL_US = 1_000
"""On a quiet LAN the final receipt of a lone message waits for this news; a busy site's next multicast carries it."""

UNKNOWN_GAP_US = 1e9
"""As long as nothing is known of the rates, protocols with fixed roles take all sites for equally slow."""


def stack_for(cluster: Cluster, me: SiteId, recovered: RecoveredLog, now_us: int) -> Stack:
    """All layers of a life that begins now."""
    left = Recovered(recovered.saved, recovered.entries, recovered.final, RETAINED_POSITIONS)
    configured = configured_for(cluster, cluster.group, me)
    patience_us = round(cluster.group.suspicion_ms * 1000)
    life = Life(me, cluster.sites, recovered.incarnation, now_us, left, configured, patience_us, TELL_US)
    lossy = any(table.loss for table in cluster.tables.emulate)
    ordering = PROTOCOLS[configured.protocol].build(configured.setup)
    return full_stack(ordering, life, cluster.group.resilience, LOSSY_STREAMS if lossy else STREAMS)


def configured_for(cluster: Cluster, group: GroupTable, me: SiteId) -> Configured:
    """The ordering protocol of the file. Rates and delays are measured; no live site is told them."""
    sites = cluster.sites
    gaps_us: dict[SiteId, tuple[tuple[int, float | None], ...]] = dict.fromkeys(sites, ((0, UNKNOWN_GAP_US),))
    network = KnownNetwork(((0.0,) * len(sites),) * len(sites), gaps_us, (UNKNOWN_GAP_US,) * len(sites))
    options = with_ids(group.ordering, group.options, cluster.names)
    setup = Setup(me, sites, network, group.tickets == "flush", online=True, options=options)
    return Configured(group.ordering, setup)
