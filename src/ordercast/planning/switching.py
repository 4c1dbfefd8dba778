"""Which role a site should take, as the site itself sees it (hybrid report, section 7).

No outside observer knows all rates and delays while they change, so each site decides for itself, from what it has
measured and been told. A policy is a function of that *outlook* and of nothing else: it remembers nothing, and how
often it is asked, and how soon after a switch again, is up to the protocol. What it says is *advice*: the protocol
may refuse it, and must where it would leave no site active, since two sites can step down for each other at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from ordercast.core.ids import SiteId
from ordercast.planning.forecast import Forecast, completed

THRESHOLD = 0.2
"""Roles change only when gap and delay differ by more than this part of the delay."""

AS_OFTEN = 0.95
"""Sites whose gaps differ by less than this speak as often."""

DOUBTS = 2.0
"""By so many standard errors a site takes its gap for longer than measured, when it considers to become active."""

GAIN_SHARE, GAIN_US = 0.05, 5_000.0
"""What another role must gain by the forecast: so much of the latency, and so much in all. Less is noise."""


class Outlook(Struct, frozen=True):
    """What a site believes when it considers its role."""

    me: SiteId
    members: tuple[SiteId, ...]
    actives: tuple[SiteId, ...]
    """By the last configuration delivered."""
    sequencer: SiteId
    """Mine; me if I am active."""
    gaps_us: dict[SiteId, float]
    """Mean gap of each member's messages, own included; absent: not settled yet, or never heard."""
    delays_us: dict[SiteId, dict[SiteId, float]]
    """Measured rows, one way from row to column: the own row, and what others tell of theirs. May have gaps."""

    doubt: float = 0.0
    """The standard error of the own mean gap, relative to it."""

    @property
    def is_active(self) -> bool:
        """Whether this site issues tickets."""
        return self.me in self.actives

    @property
    def others(self) -> tuple[SiteId, ...]:
        """The other active sites, in the order of their ids."""
        return tuple(sorted(site for site in self.actives if site != self.me))

    @property
    def faster(self) -> tuple[SiteId, ...]:
        """The other active sites that speak more often than this one, as far as is known; ties by id.

        A site steps down only for one of these. Else two that are close to each other would do so at once, and become
        active again at once when they found nobody there.
        """
        return tuple(site for site in self.others if self._is_faster(site))

    def _is_faster(self, site: SiteId) -> bool:
        mine_us, gap_us = self.gaps_us.get(self.me), self.gaps_us.get(site)
        if mine_us is None or gap_us is None:
            return False
        return gap_us < AS_OFTEN * mine_us or (site < self.me and AS_OFTEN * gap_us <= mine_us)

    @property
    def cautious_gap_us(self) -> float | None:
        """The own gap, taken for longer while this site is passive and the mean rests on few samples.

        The two mistakes do not cost the same. Who is passive and should not be delays its own messages; who is active
        and speaks more rarely than it believed holds up everybody's.
        """
        gap_us = self.gaps_us.get(self.me)
        return gap_us if gap_us is None or self.is_active else gap_us * (1 + DOUBTS * self.doubt)

    def delay_us(self, site: SiteId) -> float | None:
        """One way from here to there, if it has been measured."""
        return self.delays_us.get(self.me, {}).get(site)


class Advice(Struct, frozen=True):
    """The role that a policy finds best."""

    active: bool
    sequencer: SiteId
    """The adviser itself, if active."""
    why: str
    """One line for people, with the figures."""


Policy = Callable[[Outlook], Advice]


def stay(outlook: Outlook, why: str) -> Advice:
    """Keep role and sequencer."""
    return Advice(outlook.is_active, outlook.me if outlook.is_active else outlook.sequencer, why)


def become_active(outlook: Outlook, why: str) -> Advice:
    """Issue tickets oneself."""
    return Advice(True, outlook.me, why)


def ask(sequencer: SiteId, why: str) -> Advice:
    """Be passive, with this sequencer."""
    return Advice(False, sequencer, why)


def pairwise(outlook: Outlook) -> Advice:
    """The papers' rule: gap against delay to the closest other active site.

    A site that speaks more often than it could ask for tickets issues its own; one that speaks more rarely asks, if
    there is somebody who speaks more often than itself.
    """
    gap_us = outlook.cautious_gap_us
    nearest = _nearest(outlook, outlook.faster if outlook.is_active else outlook.others)
    if gap_us is None or nearest is None:
        nobody = f"no {'faster' if outlook.is_active else 'other'} active site in sight"
        return stay(outlook, "own gap not settled" if gap_us is None else nobody)
    closest, delay_us = nearest
    figures = f"gap {_ms(gap_us)} {{}} {_ms(delay_us)} to site {closest}"
    if not outlook.is_active:
        if gap_us < (1 - THRESHOLD) * delay_us:
            return become_active(outlook, figures.format(f"< {1 - THRESHOLD:g} x"))
        return _closer(outlook, closest, delay_us)
    if gap_us > (1 + THRESHOLD) * delay_us:
        return ask(closest, figures.format(f"> {1 + THRESHOLD:g} x"))
    return stay(outlook, figures.format(f"<= {1 + THRESHOLD:g} x"))


def _nearest(outlook: Outlook, among: Sequence[SiteId]) -> tuple[SiteId, float] | None:
    """The closest of these sites whose delay is known; ties by id."""
    known = [(delay_us, site) for site in among if (delay_us := outlook.delay_us(site)) is not None]
    if not known:
        return None
    delay_us, site = min(known)
    return site, delay_us


def _closer(outlook: Outlook, closest: SiteId, delay_us: float) -> Advice:
    """For a site that remains passive: a sequencer that is gone or clearly farther than another is exchanged."""
    current = outlook.sequencer
    if current not in outlook.actives:
        return ask(closest, f"site {current} is not active, site {closest} is closest with {_ms(delay_us)}")
    current_us = outlook.delay_us(current)
    if current_us is not None and current_us > (1 + THRESHOLD) * delay_us:
        return ask(closest, f"{_ms(current_us)} to site {current} > {1 + THRESHOLD:g} x {_ms(delay_us)} to {closest}")
    return stay(outlook, f"gap not below {1 - THRESHOLD:g} x {_ms(delay_us)} to site {closest}, none clearly closer")


def _ms(time_us: float) -> str:
    return f"{time_us / 1e3:.1f} ms"


def least_latency(outlook: Outlook) -> Advice:
    """The role with which all messages together are expected to be delivered soonest (planning/forecast.py).

    Another sequencer concerns only one's own messages, so these decide; a role concerns everybody's, and the mean over
    all messages does. Either must gain clearly, by share and in time.
    """
    delays_us = completed(outlook.me, outlook.members, outlook.delays_us)
    gaps_us = {site: gap for site, gap in outlook.gaps_us.items() if gap > 0 and site in delays_us}
    needed = (outlook.me, *outlook.others)
    unknown = [site for site in needed if site not in gaps_us]
    if unknown or not outlook.others:
        return stay(outlook, f"gap of site {unknown[0]} not settled" if unknown else "no other active site in sight")
    assert outlook.cautious_gap_us is not None, "the own gap is among those needed"
    forecast = Forecast(gaps_us | {outlook.me: outlook.cautious_gap_us}, delays_us)
    asking = forecast.latencies_us(outlook.others)
    issuing = forecast.latencies_us(needed)
    passive_us, active_us = forecast.mean_us(asking), forecast.mean_us(issuing)
    if outlook.is_active and outlook.faster and _gains(active_us, passive_us):
        return ask(_best_sequencer(forecast, outlook), f"mean {_ms(passive_us)} as passive, {_ms(active_us)} as active")
    if not outlook.is_active and _gains(passive_us, active_us):
        return become_active(outlook, f"mean {_ms(active_us)} as active, {_ms(passive_us)} as passive")
    if outlook.is_active:
        return stay(outlook, f"mean {_ms(active_us)} as active, {_ms(passive_us)} as passive")
    return _sooner(forecast, outlook)


def _gains(present_us: float, other_us: float) -> bool:
    return other_us < (1 - GAIN_SHARE) * present_us and other_us < present_us - GAIN_US


def _best_sequencer(forecast: Forecast, outlook: Outlook) -> SiteId:
    """An active site would ask a faster one: a slower one may be about to ask it."""
    among = outlook.faster if outlook.is_active else outlook.others
    return min(among, key=lambda active: (forecast.asking_us(outlook.me, active), active))


def _sooner(forecast: Forecast, outlook: Outlook) -> Advice:
    """For a site that remains passive: the sequencer whose tickets leave soonest, if it is so clearly."""
    best = _best_sequencer(forecast, outlook)
    best_us = forecast.asking_us(outlook.me, best)
    current = outlook.sequencer
    if current not in outlook.actives:
        return ask(best, f"site {current} is not active; ticket of site {best} leaves after {_ms(best_us)}")
    current_us = forecast.asking_us(outlook.me, current)
    figures = f"ticket leaves after {_ms(best_us)} at site {best}, {_ms(current_us)} at site {current}"
    return ask(best, figures) if _gains(current_us, best_us) else stay(outlook, figures)


def restless(outlook: Outlook) -> Advice:
    """Never content, for tests: through the roles and sequencers in turn, as far as there are any.

    An active site asks the first of the others; a passive one that asks the first asks the next, and any other
    becomes active.
    """
    others = outlook.others
    if outlook.is_active:
        return ask(others[0], "restless: be passive") if others else stay(outlook, "the only active site")
    following = _after(outlook.sequencer, others)
    if outlook.sequencer == others[0] and following is not None:
        return ask(following, "restless: another sequencer")
    return become_active(outlook, "restless: be active")


def _after(site: SiteId, sites: Sequence[SiteId]) -> SiteId | None:
    """The first of them with a higher id."""
    return next((other for other in sites if other > site), None)


POLICIES: dict[str, Policy] = {"pairwise": pairwise, "least-latency": least_latency, "restless": restless}
"""By the name that a scenario gives."""
