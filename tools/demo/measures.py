"""What the participants of the demonstration see: latencies, and whether all see the same."""

from __future__ import annotations

import math

from msgspec import Struct

from tools.demo.plan import LOAD_S, PHASES, SITES, phase_at

SETTLE_S = 5.0
"""The beginning of each phase is not measured: the sites have to find out about the new load."""


class Sent(Struct):
    """A message on its way."""

    at_s: float
    site: str
    delivered_s: dict[str, float] = {}
    """By site."""


class Outcome(Struct):
    """What came of a phase."""

    messages: int
    mean_ms: float
    p50_ms: float
    p99_ms: float
    limit_ms: float


class Measures:
    """Filled in as messages are multicast and delivered; times are seconds since the load began."""

    def __init__(self) -> None:
        self.sent: dict[bytes, Sent] = {}
        self.receipts = 0
        self.unknown = 0
        """Multicasts whose outcome a participant was not told, since its site was killed."""
        self.seen: dict[str, dict[int, bytes]] = {name: {} for name in SITES}

    def on_multicast(self, site: str, key: bytes, at_s: float) -> None:
        """A participant multicasts."""
        self.sent[key] = Sent(at_s, site)

    def on_delivery(self, site: str, key: bytes, position: int, at_s: float) -> None:
        """A participant gets a message, for the first time or, after a retraction, once more."""
        self.seen[site][position] = key
        sent = self.sent.get(key)
        if sent is not None:
            sent.delivered_s[site] = at_s

    def on_retracted(self, site: str, from_position: int) -> None:
        """What a participant got from there on is void."""
        for position in [each for each in self.seen[site] if each >= from_position]:
            del self.seen[site][position]

    def disagreements(self) -> int:
        """Positions at which two participants have different messages."""
        known: dict[int, bytes] = {}
        return sum(known.setdefault(place, key) != key for seen in self.seen.values() for place, key in seen.items())

    def last_ms(self, sent: Sent, down: tuple[float, float], victim: str) -> float | None:
        """Until the last site that was up had it; None if it is not known there yet."""
        during = down[0] - 3.0 <= sent.at_s <= down[1] + 8.0
        needed = [name for name in SITES if not (during and name == victim)]
        if any(name not in sent.delivered_s for name in needed):
            return None
        return (max(sent.delivered_s[name] for name in needed) - sent.at_s) * 1000

    def lost(self) -> int:
        """Messages that some participant has not got."""
        known = [frozenset(seen.values()) for seen in self.seen.values()]
        return sum(any(key not in seen for seen in known) for key in self.sent)

    def doubled(self) -> int:
        """Messages that stand at two positions."""
        return sum(len(seen) - len(set(seen.values())) for seen in self.seen.values())

    def by_phase(self, down: tuple[float, float], victim: str, limits: list[float]) -> list[Outcome]:
        """The figures of each phase, without its beginning, and without the crash."""
        latencies: list[list[float]] = [[] for _ in PHASES]
        begins = [sum(phase.seconds for phase in PHASES[:index]) for index in range(len(PHASES))]
        for sent in self.sent.values():
            phase = phase_at(sent.at_s)
            crash = down[0] - 1.0 <= sent.at_s <= down[1] + 8.0
            if sent.at_s - begins[phase] >= SETTLE_S and not crash and sent.at_s < LOAD_S - 1.0:
                last = self.last_ms(sent, down, victim)
                if last is not None:
                    latencies[phase].append(last)
        return [_outcome(sorted(found), limit) for found, limit in zip(latencies, limits, strict=True)]


def _outcome(latencies: list[float], limit_ms: float) -> Outcome:
    if not latencies:
        return Outcome(0, math.nan, math.nan, math.nan, limit_ms)
    mean = sum(latencies) / len(latencies)
    return Outcome(
        len(latencies), mean, latencies[len(latencies) // 2], latencies[len(latencies) * 99 // 100], limit_ms
    )
