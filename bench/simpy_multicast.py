"""The smallest multicast that one would write on SimPy: five sites, a process per copy on its way, an inbox per site.

It orders nothing, checks nothing and measures no latency: what is left is the price of SimPy itself. Load and delays
are those of the simulator's benchmark, drawn through the same chooser.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import simpy

from ordercast.planning.topology import Topology
from ordercast.simulator.chooser import SeededChooser
from ordercast.simulator.distributions import RESOLUTION, chi_square_quantiles


class Group:
    """All sites and the network between them. Times are microseconds."""

    def __init__(self, topology: Topology, gap_us: float) -> None:
        self.delivered = 0
        self._topology = topology
        self._gap_us = gap_us
        self._pick = SeededChooser(1).pick
        self._quantiles = chi_square_quantiles()
        self._environment = simpy.Environment()
        self._inboxes = [simpy.Store(self._environment) for _ in topology.sites]

    def run(self, duration_us: int) -> int:
        """Multicast for so long, then let everything arrive; returns the number of deliveries."""
        for site in self._topology.sites:
            self._environment.process(self._multicast(site, duration_us))
            self._environment.process(self._deliver(site))
        self._environment.run()
        return self.delivered

    def _multicast(self, site: int, until_us: int) -> Generator[simpy.Event, Any, None]:
        environment = self._environment
        sent = 0
        yield environment.timeout(self._gap_us * self._pick(RESOLUTION) / RESOLUTION)
        while environment.now < until_us:
            message = (site, sent)
            sent += 1
            for to in self._topology.sites:
                environment.process(self._carry(site, to, message))
            yield environment.timeout(self._gap_us)

    def _carry(self, site: int, to: int, message: tuple[int, int]) -> Generator[simpy.Event, Any, None]:
        spread_us = self._topology.variance_us2[site][to] ** 0.5
        delay_us = self._topology.mean_us[site][to] + spread_us * self._quantiles[self._pick(RESOLUTION)]
        yield self._environment.timeout(delay_us)
        yield self._inboxes[to].put(message)

    def _deliver(self, site: int) -> Generator[simpy.Event, Any, None]:
        inbox = self._inboxes[site]
        while True:
            yield inbox.get()
            self.delivered += 1
