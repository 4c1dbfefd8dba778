"""What happens to a frame between two sites: it is dropped, or waits its time. No device and no clock in here.

As in the simulator, what was sent before a cut still arrives, and no frame overtakes another one of its pair.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from heapq import heappop, heappush

from ordercast.planning.topology import Distribution, Topology
from ordercast.simulator.distributions import quantiles

QUEUED_BYTES_MAX = 64 << 20
"""Of one pair; what comes then is dropped, as a full router does."""

LATE_NS = 1_000_000
"""A frame that leaves so long after its time counts as late."""

_TO, _GROUP_BIT = 5, 1
"""Where a destination's hardware address has its host number; and the bit in its first byte that means many."""


class Pair:
    """One direction between two sites."""

    __slots__ = (
        "bytes",
        "carried",
        "cut",
        "delay_ns",
        "dropped_by_cut",
        "dropped_by_loss",
        "dropped_by_overflow",
        "dropped_by_receiver",
        "loss",
        "newest_ns",
        "queued_bytes",
        "source",
        "spread_ns",
        "to",
    )

    def __init__(self, source: int, to: int, delay_ns: int, spread_ns: float) -> None:
        self.source = source
        self.to = to
        self.delay_ns = delay_ns
        self.spread_ns = spread_ns
        self.loss = 0.0
        self.cut = False
        self.newest_ns = 0
        """When the frame that came last leaves: none may overtake it."""
        self.queued_bytes = 0
        self.carried = self.bytes = 0
        self.dropped_by_cut = self.dropped_by_loss = self.dropped_by_overflow = self.dropped_by_receiver = 0


Sender = Callable[[bytes], object]


class Switch:
    """All pairs, and the frames that wait."""

    def __init__(self, topology: Topology, senders: Sequence[Sender], header_bytes: int = 0) -> None:
        """`senders` write a frame to each site; `header_bytes` stand before each frame and are not looked at."""
        everyone = range(len(topology.names))
        self._rows = [[self._pair(topology, source, to) for to in everyone] for source in everyone]
        self._fan_out = [[pair for pair in row if pair.to != pair.source] for row in self._rows]
        self._senders = senders
        self._first, self._last = header_bytes, header_bytes + _TO
        self._waiting: list[tuple[int, int, Pair, bytes]] = []
        self._sequence = 0
        self._distribution: Distribution = topology.distribution
        self._quantiles: tuple[float, ...] = ()
        if any(pair.spread_ns for pair in self.pairs()):
            self._load_quantiles()
        self.late_frames = self.late_ns_max = 0

    @staticmethod
    def _pair(topology: Topology, source: int, to: int) -> Pair:
        spread_us = math.sqrt(topology.variance_us2[source][to])
        return Pair(source, to, round(topology.mean_us[source][to] * 1e3), spread_us * 1e3)

    def _load_quantiles(self) -> None:
        if not self._quantiles and self._distribution != "constant":
            self._quantiles = quantiles(self._distribution)

    def pairs(self) -> list[Pair]:
        """Every pair of two different sites."""
        return [pair for row in self._fan_out for pair in row]

    def pair(self, source: int, to: int) -> Pair:
        """One direction between two sites."""
        return self._rows[source][to]

    def set_delay(self, pair: Pair, delay_ns: int, spread_ns: float) -> None:
        """From the next frame on; it does not overtake those that are under way."""
        pair.delay_ns, pair.spread_ns = delay_ns, spread_ns
        if spread_ns:
            self._load_quantiles()

    def take(self, source: int, frame: bytes, now_ns: int) -> None:
        """A site has sent this frame."""
        if frame[self._first] & _GROUP_BIT:
            for pair in self._fan_out[source]:
                self._carry(pair, frame, now_ns)
        else:
            to = frame[self._last] - 1
            if 0 <= to < len(self._rows) and to != source:
                self._carry(self._rows[source][to], frame, now_ns)

    def _carry(self, pair: Pair, frame: bytes, now_ns: int) -> None:
        if pair.cut:
            pair.dropped_by_cut += 1
        elif pair.loss and random.random() < pair.loss:
            pair.dropped_by_loss += 1
        elif pair.queued_bytes + len(frame) > QUEUED_BYTES_MAX:
            pair.dropped_by_overflow += 1
        else:
            due_ns = now_ns + pair.delay_ns
            if pair.spread_ns and self._quantiles:
                due_ns = max(now_ns, due_ns + round(pair.spread_ns * random.choice(self._quantiles)))
            due_ns = pair.newest_ns = max(due_ns, pair.newest_ns)
            pair.queued_bytes += len(frame)
            self._sequence += 1
            heappush(self._waiting, (due_ns, self._sequence, pair, frame))

    @property
    def next_ns(self) -> int | None:
        """When the next frame is due; None if none waits."""
        return self._waiting[0][0] if self._waiting else None

    def deliver(self, now_ns: int) -> None:
        """Write out all frames that are due."""
        waiting = self._waiting
        while waiting and waiting[0][0] <= now_ns:
            due_ns, _, pair, frame = heappop(waiting)
            pair.queued_bytes -= len(frame)
            late_ns = now_ns - due_ns
            if late_ns > LATE_NS:
                self.late_frames += 1
            if late_ns > self.late_ns_max:
                self.late_ns_max = late_ns
            try:
                self._senders[pair.to](frame)
            except OSError:
                # The site has taken its device down: as if its cable were pulled.
                pair.dropped_by_receiver += 1
            else:
                pair.carried += 1
                pair.bytes += len(frame)
