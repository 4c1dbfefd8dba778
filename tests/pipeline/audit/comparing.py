"""Traces with planted mistakes on disk, and verdicts compared."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec.structs import replace

from ordercast.core.trace import TraceRecord
from ordercast.records.runs import Traces, records_of
from ordercast.records.traces import TraceWriter
from ordercast.verify.audit.run import Verdict, audit
from tests.verify.audit.planting import Plant

ALL = 10**9
BITS = 4
"""Blocks of 16 positions, so that short traces have quiet ones too."""


def write(directory: Path, run: str, records: Iterable[TraceRecord]) -> None:
    with TraceWriter(directory, run) as writer:
        for each in records:
            writer.write(replace(each, run=run))


def write_planted(
    directory: Path, name: str, records: list[TraceRecord], plants: Sequence[Plant], rng: random.Random
) -> int:
    """The trace, and once more with each of the mistakes for which it has a place; returns how many there are."""
    write(directory, name, records)
    made = 1
    for plant in plants:
        planted = plant(records, rng)
        if planted is not None:
            write(directory, f"{name} {plant.__name__}", planted.records)
            made += 1
    return made


def comparable(verdict: Verdict) -> Verdict:
    """At the end of a run the checks go through lives in the order in which they have met them."""
    violations = sorted(verdict.violations, key=repr)
    violated = dict(sorted(verdict.violated.items()))
    return replace(verdict, violations=violations, violated=violated, remarks=sorted(verdict.remarks))


def differing(verdicts: Iterable[Verdict], traces: Traces) -> list[tuple[Verdict, Verdict]]:
    """Verdicts that are not those of the plain audit, with those."""
    found = []
    for verdict in verdicts:
        plain = audit(records_of(verdict.run, traces.of(verdict.run)), verdict.run, ALL)
        if comparable(verdict) != comparable(plain):
            found.append((verdict, plain))
    return found
