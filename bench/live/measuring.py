"""Every system under every load."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from bench.live.systems import System
from bench.peers.loads import Load, Order, Outcome
from ordercast.core.errors import NotFit


class Effort(NamedTuple):
    """How much is measured."""

    sites: tuple[int, ...]
    sizes: tuple[int, ...]
    rates: tuple[int, ...]
    paced_size: int
    seconds: float

    def loads(self, members: int) -> list[Load]:
        """Flat out with each size, and paced with each rate."""
        flat = [Load(members, size, 0.0, self.seconds) for size in self.sizes]
        return flat + [Load(members, self.paced_size, float(rate), self.seconds) for rate in self.rates]


class Measurement(NamedTuple):
    """One system under one load."""

    system: str
    is_own: bool
    load: Load
    outcome: Outcome | None
    """None if it has failed."""
    failure: str
    processor: float | None
    """What its daemons took, warm-up and end included, in seconds of a core for each second that counts."""
    load_average: float
    """Of the machine, just before: what others do takes time from everybody measured."""

    @property
    def is_good(self) -> bool:
        """Whether it came to its end with the same order everywhere."""
        return self.outcome is not None and self.outcome.order is Order.SAME

    def __str__(self) -> str:
        load = self.load
        rate = f"at {load.rate:g}/s" if load.rate else "flat out"
        what = f"{self.system}, {load.members} members, {load.size_bytes} bytes {rate}"
        return f"{what}: {self._figures()} (load average {self.load_average:.1f})"

    def _figures(self) -> str:
        outcome = self.outcome
        if outcome is None:
            return self.failure
        figures = f"{outcome.slowest_per_s:,.0f}/s"
        if outcome.latency_ms is not None:
            own_p50, own_p99, last_p50, last_p99, _ = outcome.latency_ms
            figures = f"own {own_p50:.2f}/{own_p99:.2f} ms, last {last_p50:.2f}/{last_p99:.2f} ms"
        if outcome.view_changes:
            figures += f", {outcome.view_changes} view changes"
        return figures if outcome.order is Order.SAME else f"{figures}, ORDER {outcome.order.upper()}"

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        outcome = self.outcome
        latency = None if outcome is None or outcome.latency_ms is None else outcome.latency_ms._asdict()
        return {
            "system": self.system,
            "sites": self.load.members,
            "size_bytes": self.load.size_bytes,
            "rate": self.load.rate,
            "seconds": self.load.seconds,
            "delivered_per_s": None if outcome is None else outcome.delivered_per_s,
            "order": None if outcome is None else outcome.order,
            "latency_ms": latency,
            "view_changes": None if outcome is None else outcome.view_changes,
            "failure": self.failure,
            "daemons_processor": self.processor,
            "load_average": self.load_average,
        }


def measure(systems: Sequence[System], effort: Effort, say: Callable[[str], None]) -> list[Measurement]:
    """One after the other; every load gets a group of its own."""
    measurements = []
    for members in effort.sites:
        for system in systems:
            for load in effort.loads(members):
                measurements.append(_measure(system, load))
                say(str(measurements[-1]))
    return measurements


def _measure(system: System, load: Load) -> Measurement:
    load_average = os.getloadavg()[0]
    try:
        with system.begin(load.members) as running:
            before_s = running.processor_s()
            outcome = running.run(load)
            after_s = running.processor_s()
    except NotFit as error:
        return Measurement(system.name, system.is_own, load, None, str(error), None, load_average)
    processor = None if before_s is None or after_s is None else (after_s - before_s) / load.seconds
    return Measurement(system.name, system.is_own, load, outcome, "", processor, load_average)
