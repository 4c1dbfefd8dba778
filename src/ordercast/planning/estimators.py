"""Estimates of rates and delays, from samples as they come in (hybrid report, section 4.2).

The papers use a *mean-shift* detector with k = 7: the first seven samples give a mean; whenever seven or more
samples in a row fall on the same side of it, it is recomputed. They do not say from what: from that run alone
it would be biased for skewed gaps, from all history it would never adapt. Here a run begins a new mean, which
goes on as a running mean until the next shift.
"""

from __future__ import annotations

from msgspec import Struct, field

from ordercast.core.ids import SiteId

RUN_LENGTH = 7
"""k of the papers: so many samples in a row on one side of the mean are a shift."""


class MeanShift(Struct):
    """The mean of a quantity that stays level for a while and then jumps."""

    mean: float = 0.0
    count: int = 0
    above: bool = False
    run: int = 0
    run_sum: float = 0.0

    def add(self, sample: float) -> None:
        """Take one more sample into account."""
        count = self.count
        if count >= RUN_LENGTH and sample != self.mean:
            above = sample > self.mean
            if above is not self.above:
                self.above = above
                self.run = 0
                self.run_sum = 0.0
            self.run += 1
            self.run_sum += sample
            if self.run >= RUN_LENGTH:
                self._shift()
                return
        self.count = count + 1
        self.mean += (sample - self.mean) / (count + 1)

    def _shift(self) -> None:
        self.mean = self.run_sum / self.run
        self.count = self.run
        self.run = 0
        self.run_sum = 0.0


class Gaps(Struct):
    """The mean gap between the messages of one site, from the time stamps that it puts on them."""

    newest_us: int
    """The newest time stamp, on the sender's clock."""
    arrived_us: int
    """When it arrived, on ours."""
    detector: MeanShift = field(default_factory=MeanShift)

    def add(self, sent_us: int, now_us: int) -> None:
        """Another message, with this time stamp, has arrived."""
        self.detector.add(sent_us - self.newest_us)
        self.newest_us = sent_us
        self.arrived_us = now_us

    def mean_us(self, now_us: int) -> float | None:
        """The mean gap; a gap that is still open counts once it is longer than the mean."""
        detector = self.detector
        if detector.count == 0:
            return None
        open_us = now_us - self.arrived_us
        if open_us <= detector.mean:
            return detector.mean
        return detector.mean + (open_us - detector.mean) / (detector.count + 1)


class OnlineEstimates(Struct, tag="online"):
    """Measured by the site itself: nothing is handed in from outside."""

    gaps: dict[SiteId, Gaps] = {}
    round_trips: dict[SiteId, MeanShift] = {}

    def heard(self, sender: SiteId, sent_us: int, now_us: int) -> None:
        """A message of `sender` with its time stamp has arrived."""
        gaps = self.gaps.get(sender)
        if gaps is None:
            self.gaps[sender] = Gaps(sent_us, now_us)
        else:
            gaps.add(sent_us, now_us)

    def echoed(self, sender: SiteId, round_trip_us: int) -> None:
        """A null message came back."""
        self.round_trips.setdefault(sender, MeanShift()).add(round_trip_us)

    def gap_us(self, site: SiteId, now_us: int) -> float | None:
        """X of the papers: the mean gap between the site's messages, if any is known yet."""
        gaps = self.gaps.get(site)
        return None if gaps is None else gaps.mean_us(now_us)

    def settled_gap_us(self, site: SiteId, now_us: int) -> float | None:
        """X of the papers once a whole run of samples supports it."""
        gaps = self.gaps.get(site)
        return gaps.mean_us(now_us) if gaps is not None and gaps.detector.count >= RUN_LENGTH else None

    def newest_us(self, site: SiteId) -> int:
        """When the site was last heard; 0 if never."""
        gaps = self.gaps.get(site)
        return 0 if gaps is None else gaps.arrived_us

    def delay_from_us(self, site: SiteId) -> float | None:
        """D of the papers: the delay from the site to here, taken as half of the round trip."""
        round_trip = self.round_trips.get(site)
        return None if round_trip is None else round_trip.mean / 2


class KnownEstimates(Struct, tag="known"):
    """The true values, as the papers' static protocols assume them."""

    gaps_us: dict[SiteId, list[tuple[int, float | None]]]
    """For each site pieces (from time, mean gap from then on), in order; None while it is silent."""
    delays_us: dict[SiteId, float]
    """The mean delay from each site to here."""

    def heard(self, sender: SiteId, sent_us: int, now_us: int) -> None:
        """Nothing to learn."""

    def echoed(self, sender: SiteId, round_trip_us: int) -> None:
        """Nothing to learn."""

    def gap_us(self, site: SiteId, now_us: int) -> float | None:
        """X of the papers at this time."""
        current = None
        for from_us, gap_us in self.gaps_us[site]:
            if from_us > now_us:
                break
            current = gap_us
        return current

    def settled_gap_us(self, site: SiteId, now_us: int) -> float | None:
        """X of the papers at this time: it is certain."""
        return self.gap_us(site, now_us)

    def newest_us(self, site: SiteId) -> int:
        """Not known; 0."""
        return 0

    def delay_from_us(self, site: SiteId) -> float | None:
        """D of the papers: the delay from the site to here."""
        return self.delays_us[site]


Estimates = OnlineEstimates | KnownEstimates
