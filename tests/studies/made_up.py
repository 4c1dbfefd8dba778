"""Results that nobody has measured, to see what the claims make of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ordercast.simulator.statistics import Summary
from ordercast.studies.framework.claims import Claim, Verdict
from ordercast.studies.framework.results import Entry, Label, Labels, Results
from ordercast.studies.framework.study import Size, Study
from ordercast.verify.run import Latency, LimitMs, Overhead, RunResult
from ordercast.verify.verdict import Stalled


class Same(Mapping[str, float]):
    """Whatever a study's own measure is asked for, this is the answer."""

    def __init__(self, value: float) -> None:
        self._value = value

    def __getitem__(self, name: str) -> float:
        return self._value

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def run_result(
    last_ms: float | None = 100.0,
    limit_ms: float | None = 50.0,
    violations: tuple[str, ...] = (),
    stalled: Stalled | None = None,
    transmissions: float = 1.0,
) -> RunResult:
    """One run with this mean last-recipient latency, this limit, and so many transmissions beyond each message."""
    last = None if last_ms is None else Summary(last_ms, last_ms, last_ms, last_ms)
    return RunResult(
        protocol="made-up",
        seed=1,
        messages=1,
        events=1,
        latency_ms=Latency(last, None, None, {}),
        overhead_per_multicast=None if last_ms is None else Overhead(transmissions, None),
        limit_ms=LimitMs(limit_ms, None),
        violations=list(violations),
        stalled=stalled,
    )


def results_of(study: Study, size: Size, last_ms: Callable[[Mapping[str, Label]], float | None]) -> Results:
    """For every run of a study's grid what `last_ms` says of its labels; the study's own measure finds the same."""
    return Results(_entry(run.labels, last_ms(run.labels)) for run in study.grid(size))


def _entry(labels: Labels, last_ms: float | None) -> Entry:
    return Entry(labels, run_result(last_ms), {} if last_ms is None else Same(last_ms))


def results(entries: list[tuple[Labels, float]]) -> Results:
    """For each set of labels this latency."""
    return Results(Entry(labels, run_result(last_ms)) for labels, last_ms in entries)


def verdicts(claims: tuple[Claim, ...], among: Results) -> list[Verdict]:
    """What becomes of each claim."""
    return [claim.check(among).verdict for claim in claims]
