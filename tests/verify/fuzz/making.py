"""What a planted bug is, how the fuzzer finds it, and how the failing case is made small."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager
from itertools import islice

from msgspec import Struct

from ordercast.simulator.chooser import Chooser, RecordingChooser, ReplayingChooser
from ordercast.verify.fuzz.campaign import chooser_of
from ordercast.verify.fuzz.case import run_case
from ordercast.verify.fuzz.shrink import shrink

Plant = Callable[[], AbstractContextManager[object]]

SEEDS = range(500)
"""Where a bug must show."""

PICKS_MAX = 20
"""So short must the case be that shows it."""


class Planted(Struct, frozen=True):
    """A bug put into the real code for the time of a `with` block."""

    name: str
    plant: Plant
    blind: bool
    """Whether it was written down before its author had read the checks."""


class Found(Struct, frozen=True):
    """Where the fuzzer met a bug, and the small case that shows it."""

    seed: int
    picks: tuple[int, ...]
    failure: str

    @property
    def broken(self) -> str:
        """The name of the property."""
        return self.failure.split(":")[0]


def failure_of(chooser: Chooser) -> str | None:
    """What is wrong in a case. With a bug inside, any error is a way to notice it."""
    try:
        return run_case(chooser).failure
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def failure_with(bug: Planted, picks: Iterable[int]) -> str | None:
    """What is wrong in the case of these picks with the bug inside."""
    with bug.plant():
        return failure_of(ReplayingChooser(list(picks)))


def find(bug: Planted, seeds: Iterable[int] = SEEDS) -> int | None:
    """The first seed whose case fails with the bug inside."""
    with bug.plant():
        return next((seed for seed in seeds if failure_of(chooser_of(seed))), None)


def failing_seeds(bug: Planted, count: int) -> list[int]:
    """The first few such seeds."""
    with bug.plant():
        return list(islice((seed for seed in SEEDS if failure_of(chooser_of(seed))), count))


def shrunk(bug: Planted, seed: int) -> Found:
    """The smallest case found that fails with the bug inside, and passes without."""
    with bug.plant():
        recording = RecordingChooser(chooser_of(seed))
        first = failure_of(recording)
        assert first is not None, f"seed {seed} does not fail"
        broken = first.split(":")[0]

        def fails(picks: list[int]) -> bool:
            again = failure_of(ReplayingChooser(picks))
            return again is not None and again.split(":")[0] == broken

        picks = shrink(recording.picks, fails)
        return Found(seed, tuple(picks), failure_of(ReplayingChooser(picks)) or first)


def search(bug: Planted) -> Found | None:
    """Find a bug and make its case small; a second and third seed if the first does not shrink far enough."""
    best: Found | None = None
    for seed in failing_seeds(bug, 1):
        best = shrunk(bug, seed)
    if best is None or len(best.picks) <= PICKS_MAX:
        return best
    others = [shrunk(bug, seed) for seed in failing_seeds(bug, 3)[1:]]
    return min([best, *others], key=lambda found: len(found.picks))


def search_all(bugs: tuple[Planted, ...]) -> Iterable[tuple[Planted, Found | None]]:
    """All of them on all processors, in order."""
    with ProcessPoolExecutor() as pool:
        yield from zip(bugs, pool.map(search, bugs), strict=True)
