"""What a site knows of rates and delays when it considers its role, and what its policy makes of that.

Rates come from the time stamps of messages, its own row of delays from round trips. The rows of others come with their
echoes: only policies that look beyond the site itself need them.
"""

from __future__ import annotations

import math

from msgspec import Struct

from ordercast.core.events import Now
from ordercast.core.ids import SiteId
from ordercast.planning.estimators import Estimates
from ordercast.planning.switching import POLICIES, Advice, Outlook
from ordercast.protocols.ordering.setup import Setup

SILENCE_MIN_US = 500_000
"""Of a site that has not sent enough to know its rate, a gap or a silence counts from this length on."""

Row = tuple[tuple[SiteId, int], ...]


class Observations(Struct):
    """Beside the estimates: what others have told, and since when the site has been looking."""

    me: SiteId
    policy: str
    rows: dict[SiteId, dict[SiteId, float]] = {}
    members: tuple[SiteId, ...] = ()
    since_us: int = 0

    @classmethod
    def of(cls, setup: Setup) -> Observations:
        """A site that comes up. Where delays are known, all of them are."""
        known = setup.network.delays_us
        members = () if setup.online else setup.members
        rows = {site: {other: known[site][other] for other in members if other != site} for site in members}
        return cls(setup.me, setup.options.get("policy", "pairwise"), rows)

    def begin_view(self, members: tuple[SiteId, ...], now_us: int) -> None:
        """These are the members; estimates go on."""
        self.members = members
        self.since_us = now_us

    def on_row(self, site: SiteId, row: Row) -> None:
        """Another site tells what it has measured."""
        if row:
            self.rows[site] = {other: float(delay_us) for other, delay_us in row}

    def own_row(self, estimates: Estimates) -> Row:
        """What this site has measured."""
        delays_us = ((site, estimates.delay_from_us(site)) for site in self.members if site != self.me)
        return tuple((site, round(delay_us)) for site, delay_us in delays_us if delay_us is not None)

    def closest(self, actives: tuple[SiteId, ...], estimates: Estimates) -> SiteId:
        """The nearest active site as far as this one knows; of several the one with the lowest id."""

        def distance(site: SiteId) -> tuple[float, SiteId]:
            delay_us = estimates.delay_from_us(site)
            return (math.inf if delay_us is None else delay_us), site

        return min(actives, key=distance)

    def advise(self, estimates: Estimates, actives: tuple[SiteId, ...], sequencer: SiteId, now: Now) -> Advice:
        """What the policy finds best."""
        now_us = now.monotonic_us
        gaps_us = {
            site: gap_us for site in self.members if (gap_us := self._gap_us(site, estimates, now_us)) is not None
        }
        doubt = estimates.doubt(self.me)
        delays_us = self.rows | {self.me: {site: float(delay_us) for site, delay_us in self.own_row(estimates)}}
        outlook = Outlook(self.me, self.members, actives, sequencer, gaps_us, delays_us, doubt)
        return POLICIES[self.policy](outlook)

    def _gap_us(self, site: SiteId, estimates: Estimates, now_us: int) -> float | None:
        """What is known of the mean gap: until it has settled, at least that it is long if it is."""
        settled_us = estimates.settled_gap_us(site, now_us)
        if settled_us is not None:
            return settled_us
        silence_us = now_us - max(self.since_us, estimates.newest_us(site))
        so_far_us = max(float(silence_us), estimates.gap_us(site, now_us) or 0.0)
        return so_far_us if so_far_us >= SILENCE_MIN_US else None
