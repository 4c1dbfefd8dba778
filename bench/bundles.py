"""Five sites that multicast bundles of several messages, through either stack.

In a scenario each message of a participant is a bundle by itself. A live site bundles what its participants hand in
meanwhile; here the bundles are made up and handed to the simulated sites directly.
"""

from __future__ import annotations

from typing import Literal

from ordercast.core.events import FromAbove
from ordercast.core.ids import SiteId, pack_message_id
from ordercast.core.messages import Bundle
from ordercast.planning.topology import Lan, Wan
from ordercast.simulator.observer import Observer
from ordercast.simulator.scenario import ProtocolChoice, Scenario
from ordercast.simulator.simulation import Simulation

StackName = Literal["ideal", "full"]

SITES = ("A", "B", "C", "D", "E")
LAN_MS, WAN_MS = 1.0, 20.0
BUNDLES_PER_S = 100
"""Of each site."""

BODY = bytes(100)

START_US = 1_000_000
"""The full stack has its first view by then."""


def scenario(protocol: str, stack: StackName, duration_s: float) -> Scenario:
    """Two LANs and a link between them, and nothing that multicasts by itself."""
    options = {"active": ["A", "D"]} if protocol == "hybrid" else {}
    return Scenario(
        duration_s=duration_s,
        protocol=ProtocolChoice(name=protocol, stack=stack, tickets="flush", options=options),
        lan=[
            Lan(name="west", sites=list(SITES[:3]), delay_ms=LAN_MS, variance=0.05),
            Lan(name="east", sites=list(SITES[3:]), delay_ms=LAN_MS, variance=0.05),
        ],
        wan=[Wan(between=("west", "east"), delay_ms=WAN_MS, variance=0.4)],
    )


class Deliveries(Observer):
    """Counts messages delivered, at all sites together."""

    def __init__(self) -> None:
        self.count = 0

    def on_deliver(self, at_us: int, site: SiteId, bundle: Bundle) -> None:
        self.count += len(bundle.bodies)


class BundleRun:
    """One run: every site multicasts bundles of so many messages at regular intervals. Nothing is checked but that all
    are delivered everywhere."""

    def __init__(self, protocol: str, stack: StackName, bodies: int, bundles: int) -> None:
        self._gap_us = 1_000_000 // BUNDLES_PER_S
        self._bodies = (BODY,) * bodies
        self._bundles_each = bundles // len(SITES)
        self._observer = Deliveries()
        duration_us = START_US + self._bundles_each * self._gap_us
        self.simulation = Simulation(scenario(protocol, stack, duration_us / 1e6), [self._observer])
        for site in self.simulation.topology.sites:
            start_us = START_US + site * self._gap_us // len(SITES)
            self.simulation.schedule(start_us, self._multicast, (site, 0))

    def _multicast(self, due: tuple[SiteId, int]) -> None:
        site, number = due
        bundle = Bundle(pack_message_id(site, 0, number * len(self._bodies)), self._bodies)
        self.simulation.sites[site].handle(FromAbove(bundle))
        if number + 1 < self._bundles_each:
            self.simulation.schedule(self.simulation.now_us + self._gap_us, self._multicast, (site, number + 1))

    def run(self) -> int:
        """The number of messages delivered, at all sites together."""
        self.simulation.run()
        expected = self._bundles_each * len(SITES) ** 2 * len(self._bodies)
        assert self._observer.count == expected, (self._observer.count, expected)
        return expected
