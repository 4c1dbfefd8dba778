"""Estimates of rates and delays, from samples as they come in (hybrid report, section 4.2).

Which detector turns gaps into a mean can be chosen (planning/detectors/). Round trips always go through the papers'
mean-shift: they vary little, and shift by less than their size, which is what the other detectors look for.
"""

from __future__ import annotations

from msgspec import Struct, field

from ordercast.core.ids import SiteId
from ordercast.planning.detectors.catalogue import DEFAULT, DETECTORS, AnyDetector
from ordercast.planning.detectors.detector import RUN_LENGTH
from ordercast.planning.detectors.mean_shift import MeanShift


class Gaps(Struct):
    """The mean gap between the messages of one site, from the time stamps that it puts on them."""

    newest_us: int
    """The newest time stamp, on the sender's clock."""
    arrived_us: int
    """When it arrived, on ours."""
    detector: AnyDetector = field(default_factory=MeanShift)

    def add(self, sent_us: int, now_us: int) -> None:
        """Another message, with this time stamp, has arrived."""
        self.detector.add(sent_us - self.newest_us)
        self.newest_us = sent_us
        self.arrived_us = now_us

    def mean_us(self, now_us: int) -> float | None:
        """The mean gap; one that is still open counts once it is long enough to tell something."""
        detector = self.detector
        return None if detector.count == 0 else detector.mean_with_open(now_us - self.arrived_us)


class OnlineEstimates(Struct, tag="online"):
    """Measured by the site itself: nothing is handed in from outside."""

    gaps: dict[SiteId, Gaps] = {}
    round_trips: dict[SiteId, MeanShift] = {}
    detector: str = DEFAULT
    """By what gaps become a mean: a name in `DETECTORS`."""

    def heard(self, sender: SiteId, sent_us: int, now_us: int) -> None:
        """A message of `sender` with its time stamp has arrived."""
        gaps = self.gaps.get(sender)
        if gaps is None:
            self.gaps[sender] = Gaps(sent_us, now_us, DETECTORS[self.detector]())
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

    def doubt(self, site: SiteId) -> float:
        """The standard error of X, relative to it; 1 of a site that has not been heard."""
        gaps = self.gaps.get(site)
        return 1.0 if gaps is None else gaps.detector.doubt

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

    def doubt(self, site: SiteId) -> float:
        """None."""
        return 0.0

    def newest_us(self, site: SiteId) -> int:
        """Not known; 0."""
        return 0

    def delay_from_us(self, site: SiteId) -> float | None:
        """D of the papers: the delay from the site to here."""
        return self.delays_us[site]


Estimates = OnlineEstimates | KnownEstimates
