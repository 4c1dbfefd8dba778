"""What a crash does to messages: those whose senders were told that they are final, and what survivors deliver."""

from __future__ import annotations

from collections.abc import Mapping

from ordercast.core.deliveries import Delivered, Delivery, Finalized, Logged, Retracted, Truncated
from ordercast.core.ids import MessageId, SiteId, origin_of
from ordercast.core.messages import Bundle
from ordercast.simulator.simulation import Simulation
from ordercast.studies.framework.measures import Silence


class Receipts(Silence):
    """The silence after a crash, and beside it:

    - `receipts`: messages whose position the sender has known to be final, so that its participants had a receipt.
    - `lost`: those of them that some site which is up in the end has not delivered, or has taken back.
    - `doubled`: messages that a site which is up in the end has delivered twice and not taken back between.
    """

    def on_start(self, simulation: Simulation) -> None:
        super().on_start(simulation)
        sites = simulation.topology.sites
        self._logs: dict[SiteId, dict[int, MessageId]] = {site: {} for site in sites}
        """By position, what a site has ordered and does not know to be final."""
        self._receipts: dict[MessageId, None] = {}
        self._delivered: dict[SiteId, dict[MessageId, int]] = {site: {} for site in sites}
        """The position of what a site has delivered."""
        self._doubled = dict.fromkeys(sites, 0)

    def on_group(self, at_us: int, site: SiteId, event: Delivery) -> None:
        match event:
            case Logged(entry=entry) if isinstance(entry.content, Bundle):
                self._logs[site][entry.position] = entry.content.id
            case Truncated(from_position=start):
                self._logs[site] = {at: id for at, id in self._logs[site].items() if at < start}
            case Finalized(below=below):
                self._finalize(site, below)
            case Delivered(bundle=bundle, position=int(position)):
                self._doubled[site] += bundle.id in self._delivered[site]
                self._delivered[site][bundle.id] = position
            case Retracted(from_position=start):
                delivered = self._delivered[site]
                self._delivered[site] = {id: at for id, at in delivered.items() if at < start}
            case _:
                pass

    def _finalize(self, site: SiteId, below: int) -> None:
        log = self._logs[site]
        for position in [position for position in log if position < below]:
            message = log.pop(position)
            if origin_of(message) == site:
                self._receipts[message] = None

    def figures(self) -> Mapping[str, float]:
        up = [site.id for site in self._simulation.sites if not site.crashed]
        lost = [id for id in self._receipts if any(id not in self._delivered[site] for site in up)]
        doubled = sum(self._doubled[site] for site in up)
        counts = {"receipts": float(len(self._receipts)), "lost": float(len(lost)), "doubled": float(doubled)}
        return {**super().figures(), **counts}
