"""The latency to expect of given roles, as far as one site can tell, and cheap enough to ask several times a second.

It is that of planning/predict.py (D + t, with the distribution of the waiting times) under two simplifications. Every
source counts as memoryless: nobody knows of another site's source more than its mean gap, and of the kinds there are
this is the one that is never better than hoped for. And a passive site asks its closest active one, since what others
ask is not known. Tickets are taken to ride on messages.

Between memoryless sources all sites wait from the same moment on: nothing can be agreed before the farthest active site
has been heard everywhere, W after it spoke. So the last member delivers a message of active site i after
W + ∫ (1 - Π_(k≠i) F_k), where F_k(s) = 1 - exp(-(W + s - w_k) / t_k) is the probability that k, w_k away from its
farthest member and with a mean gap of t_k, has been heard everywhere within W + s.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

from msgspec import Struct

from ordercast.core.ids import SiteId

Rows = dict[SiteId, dict[SiteId, float]]
"""Delays one way, from row to column."""

FINEST = 0.25
"""Integration begins with panels of this part of the smallest gap, each twice as wide as the last."""

LONGEST = 12.0
"""It ends after so many of the largest gap."""

GAUSS_POINTS = (0.5 - math.sqrt(0.15), 0.5, 0.5 + math.sqrt(0.15))
GAUSS_WEIGHTS = (5 / 18, 8 / 18, 5 / 18)
"""Gauss's three points in a unit interval."""


class Forecast(Struct, frozen=True):
    """Rates and delays of all sites that are known well enough."""

    gaps_us: dict[SiteId, float]
    """Of those that speak."""
    delays_us: Rows

    def latencies_us(self, actives: Sequence[SiteId]) -> dict[SiteId, float]:
        """By sender, from the multicast until the last member delivers; of the sites that speak.

        All active sites must be among them.
        """
        ways_us = [max(self.delays_us[active].values()) for active in actives]
        gaps_us = [self.gaps_us[active] for active in actives]
        agreed_us = dict(zip(actives, agreed_after(ways_us, gaps_us), strict=True))
        return {
            site: agreed_us[site] if site in agreed_us else self._passive_us(site, agreed_us) for site in self.gaps_us
        }

    def _passive_us(self, site: SiteId, agreed_us: Mapping[SiteId, float]) -> float:
        row = self.delays_us[site]
        sequencer = min(agreed_us, key=lambda active: (row[active], active))
        return max(self.asking_us(site, sequencer) + agreed_us[sequencer], max(row.values()))

    def asking_us(self, site: SiteId, sequencer: SiteId) -> float:
        """Until the ticket of a passive site's message leaves its sequencer."""
        return self.delays_us[site][sequencer] + self.gaps_us[sequencer]

    def mean_us(self, latencies_us: Mapping[SiteId, float]) -> float:
        """Over the messages of all sites."""
        total = math.fsum(1 / gap_us for gap_us in self.gaps_us.values())
        return math.fsum(latencies_us[site] / gap_us for site, gap_us in self.gaps_us.items()) / total


def agreed_after(ways_us: Sequence[float], gaps_us: Sequence[float]) -> list[float]:
    """For each active site the mean time until everybody can deliver its message."""
    farthest_us = max(ways_us)
    waits = [0.0] * len(ways_us)
    for at_us, weight_us in _points(min(gaps_us), max(gaps_us)):
        heard = [
            -math.expm1(-(farthest_us + at_us - way_us) / gap_us)
            for way_us, gap_us in zip(ways_us, gaps_us, strict=True)
        ]
        by_all = math.prod(heard)
        for index, by_this in enumerate(heard):
            waits[index] += weight_us * (1 - by_all / by_this)
    return [farthest_us + wait_us for wait_us in waits]


def _points(least_us: float, most_us: float) -> list[tuple[float, float]]:
    """Where to look at the integrand, and for how much each place counts."""
    edges, width_us = [0.0], FINEST * least_us
    while edges[-1] < LONGEST * most_us:
        edges.append(edges[-1] + width_us)
        width_us *= 2
    return [
        (start + point * (end - start), weight * (end - start))
        for start, end in pairwise(edges)
        for point, weight in zip(GAUSS_POINTS, GAUSS_WEIGHTS, strict=True)
    ]


def completed(me: SiteId, members: Sequence[SiteId], rows: Rows) -> Rows:
    """All delays between those members whose distance from here is known; of the others nothing can be said.

    What has not been measured is taken to be as in the opposite direction; where that is not known either, as long as
    the way over here, which is never too short.
    """
    own = {site: delay_us for site in members if (delay_us := _either_way(me, site, rows)) is not None}

    def delay(a: SiteId, b: SiteId) -> float:
        measured = _either_way(a, b, rows)
        return own[a] + own[b] if measured is None else measured

    return {a: {b: delay(a, b) for b in own} for a in own}


def _either_way(a: SiteId, b: SiteId, rows: Rows) -> float | None:
    if a == b:
        return 0.0
    there = rows.get(a, {}).get(b)
    return rows.get(b, {}).get(a) if there is None else there
