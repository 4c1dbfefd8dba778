"""Figures of a run, gathered while it goes on: memory does not grow with its length."""

from __future__ import annotations

import math
from collections import deque

from msgspec import Struct

from ordercast.core.ids import ORIGIN_SHIFT, MessageId, SiteId
from ordercast.core.messages import Bundle
from ordercast.simulator.observer import Observer

BUCKETS_PER_DOUBLING = 128
"""Quantiles come from buckets on a logarithmic scale; the error is below 0.3 %."""


class Summary(Struct, frozen=True):
    """Four figures of a sample, in milliseconds."""

    mean: float
    p50: float
    p99: float
    max: float


class Histogram:
    """A sample of latencies."""

    __slots__ = ("_buckets", "_count", "_max", "_sum")

    def __init__(self) -> None:
        self._count = 0
        self._sum = 0.0
        self._max = 0.0
        self._buckets: dict[int, int] = {}

    def add(self, value_us: float) -> None:
        """One more value."""
        self._count += 1
        self._sum += value_us
        if value_us > self._max:
            self._max = value_us
        bucket = int(math.log2(value_us + 1) * BUCKETS_PER_DOUBLING)
        self._buckets[bucket] = self._buckets.get(bucket, 0) + 1

    def include(self, other: Histogram) -> None:
        """All values of another sample."""
        self._count += other._count
        self._sum += other._sum
        self._max = max(self._max, other._max)
        for bucket, count in other._buckets.items():
            self._buckets[bucket] = self._buckets.get(bucket, 0) + count

    def summary(self) -> Summary | None:
        """The figures in milliseconds; None without values."""
        if not self._count:
            return None
        mean = self._sum / self._count
        return Summary(*(round(us / 1000, 3) for us in (mean, self._quantile(0.5), self._quantile(0.99), self._max)))

    def _quantile(self, part: float) -> float:
        wanted, seen = part * self._count, 0
        for bucket in sorted(self._buckets):
            seen += self._buckets[bucket]
            if seen >= wanted:
                middle = 2 ** ((bucket + 0.5) / BUCKETS_PER_DOUBLING) - 1
                return min(middle, self._max)
        return self._max


class LatencySummaries(Struct, frozen=True):
    """The papers' metric, and two others."""

    last: Summary | None
    """From the multicast to the delivery at the last member."""
    mean_recipient: Summary | None
    """From the multicast to the delivery, averaged over the members including the sender."""
    sender: Summary | None
    """From the multicast to the delivery at the sender."""


class _Histograms:
    """The three latencies of one sender, or of all."""

    def __init__(self) -> None:
        self.last = Histogram()
        self.mean_recipient = Histogram()
        self.sender = Histogram()

    def add(self, flight: _Flight) -> None:
        self.last.add(flight.last_us)
        self.mean_recipient.add(flight.sum_us / flight.delivered)
        if flight.sender_us is not None:
            self.sender.add(flight.sender_us)

    def include(self, other: _Histograms) -> None:
        self.last.include(other.last)
        self.mean_recipient.include(other.mean_recipient)
        self.sender.include(other.sender)

    def summaries(self) -> LatencySummaries:
        return LatencySummaries(self.last.summary(), self.mean_recipient.summary(), self.sender.summary())


class _Flight:
    """A message that has not been delivered everywhere yet."""

    __slots__ = ("delivered", "last_us", "missing", "origin", "sender_us", "sent_us", "sum_us")

    def __init__(self, sent_us: int, origin: SiteId, missing: int) -> None:
        self.sent_us = sent_us
        self.origin = origin
        self.missing = missing
        """One bit for each site that is up and has not delivered it."""
        self.delivered = 0
        self.sum_us = 0
        self.last_us = 0
        self.sender_us: int | None = None


class LatencyStatistics(Observer):
    """Latencies of the messages sent after the warm-up.

    Messages are taken in the order in which they were sent, each once it has been delivered at every site that is
    up. Those behind the first message still in flight when the traffic ends are left out, early or late, so that
    leaving them out does not favour the fast ones.
    """

    def __init__(self, sites: int, warmup_us: int) -> None:
        self.messages = 0
        self._up = (1 << sites) - 1
        self._others = [~(1 << site) for site in range(sites)]
        """For each site the bits of all others."""
        self._warmup_us = warmup_us
        self._flights: dict[MessageId, _Flight] = {}
        self._in_order: deque[_Flight] = deque()
        self._measuring = True
        self._per_site: dict[SiteId, _Histograms] = {}

    def on_multicast(self, at_us: int, site: SiteId, bundle: Bundle) -> None:
        self.messages += len(bundle.bodies)
        if at_us >= self._warmup_us:
            flight = self._flights[bundle.id] = _Flight(at_us, site, self._up)
            self._in_order.append(flight)

    def on_deliver(self, at_us: int, site: SiteId, bundle: Bundle) -> None:
        if not self._measuring:
            return
        flight = self._flights.get(bundle.id)
        if flight is None or not flight.missing >> site & 1:
            return
        latency_us = at_us - flight.sent_us
        flight.missing &= self._others[site]
        flight.delivered += 1
        flight.sum_us += latency_us
        flight.last_us = latency_us
        if site == bundle.id >> ORIGIN_SHIFT:
            flight.sender_us = latency_us
        if not flight.missing:
            del self._flights[bundle.id]
            self._take()

    def on_crash(self, at_us: int, site: SiteId) -> None:
        self._up &= self._others[site]
        for message, flight in list(self._flights.items()):
            flight.missing &= self._up
            if not flight.missing:
                del self._flights[message]
        self._take()

    def on_recover(self, at_us: int, site: SiteId, incarnation: int) -> None:
        self._up |= 1 << site

    def on_traffic_end(self, at_us: int) -> None:
        self._measuring = False
        self._flights.clear()
        self._in_order.clear()

    def _take(self) -> None:
        while self._in_order and not self._in_order[0].missing:
            flight = self._in_order.popleft()
            if not flight.delivered:
                continue
            histograms = self._per_site.get(flight.origin)
            if histograms is None:
                histograms = self._per_site[flight.origin] = _Histograms()
            histograms.add(flight)

    def total(self) -> LatencySummaries:
        """Over all messages."""
        total = _Histograms()
        for site in sorted(self._per_site):
            total.include(self._per_site[site])
        return total.summaries()

    def per_site(self) -> dict[SiteId, LatencySummaries]:
        """By sender."""
        return {site: self._per_site[site].summaries() for site in sorted(self._per_site)}
