"""What a planted bug is, how the fuzzer finds it, and how the failing case is made small."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import AbstractContextManager
from unittest.mock import patch

from msgspec import Struct

from ordercast.simulator import simulation
from ordercast.simulator.chooser import Chooser, RecordingChooser, ReplayingChooser
from ordercast.verify.fuzz.campaign import chooser_of
from ordercast.verify.fuzz.case import run_case
from ordercast.verify.fuzz.shrink import shrink_case

Plant = Callable[[], AbstractContextManager[object]]

SEEDS = range(500)
"""Where a bug must show."""

PICKS_MAX = 20
"""So short must the case be that shows it."""

SHRUNK_MAX = 3
"""So many failing seeds are made small before the shortest case must do."""

DRAIN_US = 20_000_000
"""A small case that has not settled so long after its traffic does not settle at all, as a rule."""


class Planted(Struct, frozen=True):
    """A bug put into the real code for the time of a `with` block."""

    name: str
    plant: Plant
    blind: bool
    """Whether it was written down before its author had read the checks."""
    protocol: str | None = None
    """The ordering protocol that it is in: all seeds and picks then run it, whatever they draw."""


class Found(Struct, frozen=True):
    """Where the fuzzer met a bug, and the small case that shows it."""

    seed: int
    picks: tuple[int, ...]
    broken: str
    """The property that does not hold, or the error that is raised."""


def failure_of(chooser: Chooser, protocol: str | None = None) -> str | None:
    """What is wrong in a case. With a bug inside, any error is a way to notice it."""
    try:
        with patch.object(simulation, "DRAIN_LIMIT_US", DRAIN_US):
            return run_case(chooser, protocol).failure
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def failure_with(bug: Planted, picks: Iterable[int]) -> str | None:
    """What is wrong in the case of these picks with the bug inside."""
    with bug.plant():
        return failure_of(ReplayingChooser(list(picks)), bug.protocol)


def find(bug: Planted, seeds: Iterable[int] = SEEDS) -> int | None:
    """The first seed whose case fails with the bug inside."""
    with bug.plant():
        return next((seed for seed in seeds if failure_of(chooser_of(seed), bug.protocol)), None)


def shrunk(bug: Planted, seed: int) -> Found:
    """The smallest case found that fails with the bug inside as the seed does."""
    with bug.plant():
        recording = RecordingChooser(chooser_of(seed))
        first = failure_of(recording, bug.protocol)
        assert first is not None, f"seed {seed} does not fail"
        broken = first.split(":")[0]

        def fails(picks: list[int]) -> bool:
            again = failure_of(ReplayingChooser(picks), bug.protocol)
            return again is not None and again.split(":")[0] == broken

        return Found(seed, tuple(shrink_case(recording.picks, fails, PICKS_MAX)), broken)


def search(bug: Planted) -> Found | None:
    """Find a bug and make its case small; from other seeds too, if the first does not shrink far enough."""
    best: Found | None = None
    first = 0
    for _ in range(SHRUNK_MAX):
        seed = find(bug, range(first, SEEDS.stop))
        if seed is None:
            break
        found = shrunk(bug, seed)
        best = found if best is None else min(best, found, key=lambda each: len(each.picks))
        if len(best.picks) <= PICKS_MAX:
            break
        first = seed + 1
    return best


def search_all(bugs: Sequence[Planted], processes: int) -> Iterable[tuple[Planted, Found | None]]:
    """All of them, as they are found."""
    with ProcessPoolExecutor(processes) as pool:
        under_way = {pool.submit(search, bug): bug for bug in bugs}
        for done in as_completed(under_way):
            yield under_way[done], done.result()
