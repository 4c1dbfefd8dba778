"""What a host tells an ordering protocol before it starts."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ordercast.core.ids import SiteId
from ordercast.planning.detectors.catalogue import DEFAULT
from ordercast.planning.estimators import Estimates, KnownEstimates, OnlineEstimates
from ordercast.planning.network import KnownNetwork
from ordercast.protocols.ordering.rate_synchronised import RateSynchronisedClock


class Setup(Struct, frozen=True):
    """One site's start."""

    me: SiteId
    members: tuple[SiteId, ...]
    network: KnownNetwork
    """The true rates and delays: for roles of static protocols, and for clocks when `online` is false."""
    flush: bool = False
    """Whether tickets leave at once, or wait for the issuer's next message."""
    online: bool = True
    """Whether each site measures rates and delays itself."""
    options: dict[str, Any] = {}
    """Options of the protocol by name, with sites as ids; absent means that the protocol's own rule decides."""

    def rate_synchronised_clock(self, issuers: tuple[SiteId, ...]) -> RateSynchronisedClock:
        """A ticket clock at the pace of the fastest of these issuers."""
        return RateSynchronisedClock(self.me, issuers, self.estimates(), self.online)

    def estimates(self) -> Estimates:
        """Rates and delays: the true ones, or to be measured."""
        if self.online:
            return OnlineEstimates(detector=self.options.get("detector", DEFAULT))
        gaps_us = {site: list(pieces) for site, pieces in self.network.gaps_us.items()}
        delays_us = {site: self.network.delays_us[site][self.me] for site in self.members}
        return KnownEstimates(gaps_us, delays_us)


class Configured(Struct, frozen=True):
    """The ordering protocol that a site begins with, and what it needs to build another one."""

    protocol: str
    setup: Setup
