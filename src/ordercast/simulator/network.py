"""The one network: a link from every site to every other, FIFO unless a fault says otherwise."""

from __future__ import annotations

import math
from collections.abc import Callable
from heapq import heappush
from typing import Any

from ordercast.core.events import FromBelow
from ordercast.core.ids import SiteId
from ordercast.planning.topology import Topology
from ordercast.simulator.chooser import Chooser
from ordercast.simulator.distributions import RESOLUTION, quantiles
from ordercast.simulator.scenario import Fault

Handler = Callable[[Any], None]
Agenda = list[tuple[int, int, Handler, Any]]
"""A heap of (time, sequence number, what to call, its argument)."""

CHANCE = 1 << 20
"""Probabilities are decided in steps of one in so many."""

REORDER_DELAYS = 2.0
"""A message that is reordered comes up to so many mean delays late, so that others overtake it."""


class Link:
    """One direction between two sites."""

    __slots__ = (
        "cut",
        "duplicate",
        "extra_us",
        "faults",
        "loss",
        "mean_us",
        "newest_us",
        "receive",
        "reorder",
        "spread_us",
        "to",
    )

    def __init__(self, to: SiteId, receive: Handler, mean_us: float, variance_us2: float) -> None:
        self.to = to
        self.receive = receive
        self.mean_us = mean_us
        self.spread_us = math.sqrt(variance_us2)
        self.newest_us = 0
        """When the message sent last arrives: none may overtake it."""
        self.faults: list[Fault] = []
        """Those that strike this link now; the rest follows from them."""
        self.cut = False
        self.loss = self.duplicate = self.reorder = 0.0
        self.extra_us = 0


class Network:
    """Carries messages, each copy with a delay of its own."""

    def __init__(self, topology: Topology, receivers: list[Handler], chooser: Chooser, agenda: Agenda) -> None:
        self._pick = chooser.pick
        self._agenda = agenda
        self._quantiles = quantiles(topology.distribution) if topology.distribution != "constant" else ()
        self.sequence = 0
        """Numbers the entries of the agenda, so that equal times keep their order."""
        self.links = [
            [
                Link(to, receivers[to], topology.mean_us[site][to], topology.variance_us2[site][to])
                for to in topology.sites
            ]
            for site in topology.sites
        ]
        self._fan_out = [[link for link in row if link.to != site] for site, row in enumerate(self.links)]
        self.faulty = False
        """Whether any link has ever been touched by a fault."""

    def multicast(self, sender: SiteId, event: FromBelow, now_us: int) -> int:
        """One copy to every other site; returns how many."""
        links = self._fan_out[sender]
        if self.faulty:
            for link in links:
                self._carry_over_faulty(link, event, now_us)
            return len(links)
        agenda, pick, table, sequence = self._agenda, self._pick, self._quantiles, self.sequence
        for link in links:
            if link.spread_us and table:
                delay_us = link.mean_us + link.spread_us * table[pick(RESOLUTION)]
                arrival_us = now_us + int(delay_us) if delay_us > 0 else now_us
            else:
                arrival_us = now_us + int(link.mean_us)
            if arrival_us < link.newest_us:
                arrival_us = link.newest_us
            link.newest_us = arrival_us
            sequence += 1
            heappush(agenda, (arrival_us, sequence, link.receive, event))
        self.sequence = sequence
        return len(links)

    def send(self, sender: SiteId, to: SiteId, event: FromBelow, now_us: int) -> None:
        """One copy to one site."""
        self._carry_over_faulty(self.links[sender][to], event, now_us)

    def next_sequence(self) -> int:
        """A number for one more entry of the agenda."""
        self.sequence += 1
        return self.sequence

    def _carry_over_faulty(self, link: Link, event: FromBelow, now_us: int) -> None:
        if link.cut or self._strikes(link.loss):
            return
        self._carry(link, event, now_us)
        if self._strikes(link.duplicate):
            self._carry(link, event, now_us)

    def _carry(self, link: Link, event: FromBelow, now_us: int) -> None:
        delay_us = link.mean_us
        if link.spread_us and self._quantiles:
            delay_us += link.spread_us * self._quantiles[self._pick(RESOLUTION)]
        arrival_us = now_us + max(0, int(delay_us)) + link.extra_us
        if self._strikes(link.reorder):
            arrival_us += self._pick(int(link.mean_us * REORDER_DELAYS) + 1)
        else:
            arrival_us = link.newest_us = max(arrival_us, link.newest_us)
        heappush(self._agenda, (arrival_us, self.next_sequence(), link.receive, event))

    def _strikes(self, probability: float) -> bool:
        """Whether a fault of this probability strikes; the tamest choice, 0, means no."""
        return probability > 0 and self._pick(CHANCE) >= CHANCE * (1 - probability)
