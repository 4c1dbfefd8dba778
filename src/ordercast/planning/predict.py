"""The latency to expect of an ordering scheme: from a multicast until the last member delivers, on average.

With rate-synchronised clocks a message gets a ticket that every other active site passes with its next message. So
the last member delivers once the next message of each active site k, a residual gap r_k away, has reached everyone:
max_k (r_k + ecc_k), where ecc_k is the delay from k to the member farthest from it. A passive site's message first
travels to its sequencer and waits there for something to carry its ticket. These are the papers' D + t arguments
(hybrid report, sections 4.2 and 5), with the distribution of the residuals put in: uniform up to the gap for
periodic sources, exponential for Poisson ones.

Clocks are taken as well synchronised and delays as constant.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import pairwise

from msgspec import Struct

from ordercast.core.ids import SiteId
from ordercast.planning.roles import Sequencers
from ordercast.planning.topology import Matrix

GAUSS_POINTS = (0.5 - math.sqrt(1 / 12), 0.5 + math.sqrt(1 / 12))
"""Gauss's two points in a unit interval: exact for cubic functions."""

STEPS_PER_PIECE = 16
"""Intervals between two kinks of the integrand."""

EXPONENTIAL_KINKS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
"""An exponential has no kinks; cut at so many mean gaps it is smooth enough, and gone after the last."""


class Source(Struct, frozen=True):
    """One stream of messages of a site."""

    gap_us: float
    """Mean gap between its messages."""
    memoryless: bool
    """Poisson; else the gaps are all the same, at a random phase."""


Sources = tuple[Source, ...]
"""What one site multicasts; empty for a silent one."""


class _Residual(Struct, frozen=True):
    """How long until everybody has heard a site again: until it next speaks, and then the way."""

    sources: Sources
    way_us: float

    def reached_by(self, at_us: float) -> float:
        """The probability that it has happened by this time."""
        waited_us = at_us - self.way_us
        if waited_us < 0:
            return 0.0
        return 1 - math.prod(_silent_for(source, waited_us) for source in self.sources)

    def kinks_us(self) -> list[float]:
        """Where that probability is not smooth, up to where it is 1."""
        kinks_of = [
            [source.gap_us * part for part in (EXPONENTIAL_KINKS if source.memoryless else (1.0,))]
            for source in self.sources
        ]
        last = min((kinks[-1] for kinks in kinks_of), default=0.0)
        return [self.way_us, *(self.way_us + kink for kinks in kinks_of for kink in kinks if kink <= last)]


def _silent_for(source: Source, waited_us: float) -> float:
    """The probability that a source seen at any moment stays silent for so long from there."""
    if source.memoryless:
        return math.exp(-waited_us / source.gap_us)
    return max(0.0, 1 - waited_us / source.gap_us)


def last_heard(residuals: Sequence[_Residual]) -> list[float]:
    """For each site, when everybody has heard it now and each of the others again: the mean of the last of these.

    That is the integral of the probability that it is still to come, taken at the same points for all sites.
    """
    alike = Counter(residual for residual in residuals if residual.sources)
    points = _points(residuals)
    reached = {residual: [residual.reached_by(at_us) for at_us, _ in points] for residual in alike}
    by_all = [
        math.prod(reached[residual][index] ** count for residual, count in alike.items())
        for index in range(len(points))
    ]
    silent = sum(not residual.sources for residual in residuals)

    @cache
    def last(own: _Residual) -> float:
        if silent > (not own.sources):
            return math.inf
        by_own = reached.get(own, [1.0] * len(points))
        return own.way_us + math.fsum(
            weight_us * (1 - by_all[index] / by_own[index])
            for index, (at_us, weight_us) in enumerate(points)
            if at_us > own.way_us and by_own[index]
        )

    return [last(residual) for residual in residuals]


def _points(residuals: Sequence[_Residual]) -> list[tuple[float, float]]:
    """Where to look at an integrand, and for how much each place counts; denser where there are kinks."""
    edges = sorted({kink for residual in residuals for kink in residual.kinks_us()})
    return [
        (start + (step + point) * (end - start) / STEPS_PER_PIECE, (end - start) / STEPS_PER_PIECE / len(GAUSS_POINTS))
        for start, end in pairwise(edges)
        for step in range(STEPS_PER_PIECE)
        for point in GAUSS_POINTS
    ]


def expected_gap(sources: Sources) -> float:
    """The mean time until a site's next message, seen at any moment."""
    return last_heard([_Residual((), 0.0), _Residual(sources, 0.0)])[0]


def rate(sources: Sources) -> float:
    """Messages per microsecond."""
    return math.fsum(1 / source.gap_us for source in sources)


def token_site(site: SiteId, delays_us: Matrix) -> list[float]:
    """By sender, when one site orders for all: the way to it and from it to the farthest member."""
    return [max(row[site] + max(delays_us[site]), max(row)) for row in delays_us]


def tickets(sequencers: Sequencers, load: Sequence[Sources], delays_us: Matrix, *, flush: bool = False) -> list[float]:
    """By sender, when active sites order with rate-synchronised clocks; with all sites active it is symmetric.

    With `flush` active sites answer without a message of their own; that is a rough estimate. Infinite where an active
    site never speaks.
    """
    actives = sorted(set(sequencers.values()))
    speaking = [load[active] + (_answers(active, actives, load, delays_us) if flush else ()) for active in actives]
    agreed_us = last_heard(
        [_Residual(sources, max(delays_us[active])) for active, sources in zip(actives, speaking, strict=True)]
    )
    latencies = []
    for site, row in enumerate(delays_us):
        sequencer = sequencers[SiteId(site)]
        passive_us = 0.0 if sequencer == site else row[sequencer] + (0.0 if flush else expected_gap(load[sequencer]))
        latencies.append(max(passive_us + agreed_us[actives.index(sequencer)], max(row)))
    return latencies


def _answers(site: SiteId, actives: Sequence[SiteId], load: Sequence[Sources], delays_us: Matrix) -> Sources:
    """`flush`: a site answers the first message that another active site has sent since its last answer."""
    periods = [
        delays_us[other][site] + 1 / (2 * rate(load[other])) for other in actives if other != site and load[other]
    ]
    return (Source(min(periods), memoryless=False),) if periods else ()


def weighted_mean(latencies_us: Sequence[float], load: Sequence[Sources]) -> float:
    """Over the messages of all sites."""
    rates = [rate(sources) for sources in load]
    total = math.fsum(rates)
    assert total > 0, "without traffic there is nothing to average over"
    return math.fsum(share * latency for share, latency in zip(rates, latencies_us, strict=True) if share) / total
