"""Whom to suspect: an accrual detector whose time-outs come from measured round trips.

The level of suspicion grows with silence, and is 1 when the silence has lasted as long as a few missed heartbeats
and as much as round trips vary. A wrong suspicion costs a view change, never an order.
"""

from __future__ import annotations

from msgspec import Struct, field

from ordercast.core.ids import SiteId
from ordercast.protocols.links.round_trip import RoundTrip

HEARTBEAT_US = 100_000
MISSED_HEARTBEATS = 4

PATIENCE_US = MISSED_HEARTBEATS * HEARTBEAT_US
"""So much silence says nothing, however steady the way. A host on a busy machine asks for more."""


class Peer(Struct):
    """What is known of another site's liveness."""

    heard_us: int
    """When it was heard last; at first, when this site began to listen."""
    heard: bool = False
    stamp_us: int = -1
    """The newest time stamp of its heartbeats, on its clock."""
    stamp_at_us: int = 0
    """When that came."""
    round_trip: RoundTrip = field(default_factory=RoundTrip)
    patience_us: int = PATIENCE_US

    def timeout_us(self) -> int:
        """So much silence makes it suspected: how long the way is does not matter, only how much it varies."""
        return self.patience_us + self.round_trip.variation_us()


class Suspector(Struct):
    """Of every other configured site, how long it has been silent."""

    peers: dict[SiteId, Peer]

    @classmethod
    def of(cls, others: tuple[SiteId, ...], now_us: int = 0, patience_us: int = PATIENCE_US) -> Suspector:
        """Nobody has been heard yet."""
        return cls({site: Peer(now_us, patience_us=patience_us) for site in others})

    def on_heard(self, site: SiteId, now_us: int) -> None:
        """Anything at all has come from the site."""
        peer = self.peers[site]
        peer.heard_us = now_us
        peer.heard = True

    def on_heartbeat(self, site: SiteId, stamp_us: int, echo_us: int, echo_age_us: int, now_us: int) -> None:
        """A heartbeat: its own stamp, and the echo of ours."""
        self.on_heard(site, now_us)
        peer = self.peers[site]
        if stamp_us > peer.stamp_us:
            peer.stamp_us, peer.stamp_at_us = stamp_us, now_us
        if echo_us >= 0:
            peer.round_trip.add(max(0, now_us - echo_us - echo_age_us))

    def level(self, site: SiteId, now_us: int) -> float:
        """0 just after a sign of life; from 1 on the site is suspected."""
        peer = self.peers[site]
        return (now_us - peer.heard_us) / peer.timeout_us()

    def suspects(self, now_us: int) -> tuple[SiteId, ...]:
        """The sites that have been silent for too long, whether or not they were ever heard."""
        return tuple(site for site in self.peers if self.level(site, now_us) >= 1)

    def hears(self, now_us: int) -> tuple[SiteId, ...]:
        """The sites that have been heard, and lately."""
        return tuple(site for site, peer in self.peers.items() if peer.heard and self.level(site, now_us) < 1)

    def forget(self, site: SiteId) -> None:
        """Another life of the site begins: its stamps start anew."""
        self.peers[site].stamp_us = -1
