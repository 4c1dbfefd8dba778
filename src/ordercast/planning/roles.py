"""Who should be active (hybrid report, section 5 and Figure 3).

The heuristic looks at pairs: a site whose next message is further away (mean gap t) than a round trip to the
nearest active site (delay D) had better ask that site for tickets; else it issues its own. So it becomes active
when D + t ≤ 2·D, that is t ≤ D. At equality the papers' text says active and their figure passive; we take active.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ordercast.core.ids import SiteId

Sequencers = dict[SiteId, SiteId]
"""For each site the one that issues tickets for its messages; an active site is its own."""


def closest(site: SiteId, actives: Sequence[SiteId], delays_us: Sequence[Sequence[float]]) -> SiteId:
    """The active site that is nearest to `site`; of several, the one with the lowest id."""
    return min(actives, key=lambda active: (delays_us[site][active], active))


def assign_roles(gaps_us: Sequence[float | None], delays_us: Sequence[Sequence[float]]) -> Sequencers:
    """Roles by the papers' heuristic. A gap of None is a silent site."""
    sites = [SiteId(index) for index in range(len(gaps_us))]
    gaps = [math.inf if gap is None else gap for gap in gaps_us]
    actives = [min(sites, key=lambda site: (gaps[site], site))]
    changed = True
    while changed:
        changed = False
        for site in sites:
            if site not in actives and gaps[site] <= delays_us[site][closest(site, actives, delays_us)]:
                actives.append(site)
                changed = True
    return with_actives(actives, delays_us)


def with_actives(actives: Sequence[SiteId], delays_us: Sequence[Sequence[float]]) -> Sequencers:
    """The given sites are active; every other asks the nearest of them."""
    return {
        SiteId(site): SiteId(site) if site in actives else closest(SiteId(site), actives, delays_us)
        for site in range(len(delays_us))
    }
