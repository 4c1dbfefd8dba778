"""Many seeds on all processors, and what they met."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

from msgspec import Struct

from ordercast.simulator.chooser import RecordingChooser, ReplayingChooser, SeededChooser
from ordercast.verify.fuzz.case import Outcome, Plant, run_case
from ordercast.verify.fuzz.shrink import shrink_case


class Totals(Struct):
    """What all seeds came to."""

    seeds: int = 0
    failures: int = 0
    blocked: int = 0
    simulated_hours: float = 0.0
    events: int = 0
    views: int = 0
    told: dict[str, int] = {}
    faults: dict[str, int] = {}
    met: dict[str, int] = {}
    switches: dict[str, int] = {}
    switches_met: dict[str, int] = {}

    def add(self, outcome: Outcome) -> None:
        """One more seed."""
        self.seeds += 1
        self.failures += outcome.failure is not None
        self.blocked += outcome.blocked
        self.simulated_hours += outcome.simulated_s / 3600
        self.events += outcome.events
        self.views += outcome.views
        for counts in ("told", "faults", "met", "switches", "switches_met"):
            mine = getattr(self, counts)
            for name, count in getattr(outcome, counts).items():
                mine[name] = mine.get(name, 0) + count


def chooser_of(seed: int) -> SeededChooser:
    """The decisions of a seed."""
    return SeededChooser(f"fuzz {seed}")


def run_seed(seed: int, protocol: str | None = None) -> Outcome:
    """Run the case of a seed."""
    return run_case(chooser_of(seed), protocol)


def run_seeds(seeds: range, protocol: str | None = None) -> Iterator[tuple[int, Outcome]]:
    """Run many seeds on all processors, in order."""
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        yield from zip(seeds, pool.map(run_seed, seeds, [protocol] * len(seeds), chunksize=4), strict=True)


def replay(picks: list[int], protocol: str | None = None, plant: Plant | None = None) -> Outcome:
    """Run the case that a list of picks describes."""
    return run_case(ReplayingChooser(picks), protocol, plant)


def shrink_seed(seed: int, protocol: str | None = None, plant: Plant | None = None) -> tuple[list[int], str]:
    """The smallest list of picks found that fails as the seed does, and how."""
    recording = RecordingChooser(chooser_of(seed))
    failure = run_case(recording, protocol, plant).failure
    assert failure is not None, f"seed {seed} does not fail"
    kind = failure.split(":")[0]

    def fails(picks: list[int]) -> bool:
        again = replay(picks, protocol, plant).failure
        return again is not None and again.split(":")[0] == kind

    picks = shrink_case(recording.picks, fails)
    return picks, replay(picks, protocol, plant).failure or failure
