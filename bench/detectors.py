"""How well each detector knows the mean of a source, and how soon it notices that the source has changed."""

from __future__ import annotations

import json
import math
import random
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import click

from ordercast.planning.detectors.catalogue import DETECTORS, AnyDetector

Draw = Callable[[random.Random, float], float]

SOURCES: dict[str, Draw] = {
    "quasi-periodic": lambda rng, mean_us: max(0.0, rng.gauss(mean_us, 0.02 * mean_us)),
    "poisson": lambda rng, mean_us: rng.expovariate(1 / mean_us),
}

FAST_US, SLOW_US = 10_000.0, 1_000_000.0

SETTLING = 500
"""Samples before anything counts."""

SHIFTED = 1.5
"""A mean that one sample changes by this factor or its inverse has been shifted, not nudged."""

SAMPLES_MAX = 1000
"""Nobody needs longer to adapt."""

HEADINGS = ("error", "bias", "false /1000", "fall: gaps", "noticed", "rise: gaps", "in all", "noticed", "sample")

TABLE_WIDTH = 140


class Effort(NamedTuple):
    """How much is measured."""

    samples: int
    shifts: int


NORMAL, SMOKE = Effort(100_000, 200), Effort(1_000, 3)


class Steady(NamedTuple):
    """While nothing changes."""

    error: float
    """Root mean square of the relative error."""
    bias: float
    false_shifts: float
    """Per 1000 samples."""


class Shift(NamedTuple):
    """After a shift, until the mean stays within a factor of 2 of the new one; averages."""

    samples: float
    after_ms: float
    noticed_ms: float
    """Until it is nearer to the new mean than to the old one, gaps that are still open included."""


class Row(NamedTuple):
    """One detector and one kind of source."""

    detector: str
    source: str
    steady: Steady
    slower: Shift
    """From 100 to 1 message per second."""
    faster: Shift
    """From 1 to 100."""
    sample_ns: float


def measure(effort: Effort) -> Iterator[Row]:
    """All detectors on all sources."""
    for name, new in DETECTORS.items():
        for source, draw in SOURCES.items():
            yield Row(
                name,
                source,
                steady(new, draw, effort),
                shift(new, draw, FAST_US, SLOW_US, effort),
                shift(new, draw, SLOW_US, FAST_US, effort),
                sample_ns(new, draw, effort),
            )


def steady(new: Callable[[], AnyDetector], draw: Draw, effort: Effort) -> Steady:
    """Error, bias and false shifts on a source that stays as it is."""
    rng, detector = random.Random(1), new()
    _feed(detector, rng, draw, FAST_US, SETTLING)
    errors, shifts, before = [], 0, detector.mean
    for _ in range(effort.samples):
        sample = draw(rng, FAST_US)
        detector.add(sample)
        shifts += not 1 / SHIFTED < detector.mean / before < SHIFTED
        before = detector.mean
        errors.append(detector.mean / FAST_US - 1)
    squares = math.fsum(error * error for error in errors)
    count = len(errors)
    return Steady(math.sqrt(squares / count), math.fsum(errors) / count, 1000 * shifts / count)


def shift(new: Callable[[], AnyDetector], draw: Draw, from_us: float, to_us: float, effort: Effort) -> Shift:
    """How long a detector takes to follow, on the average."""
    found = [_follow(new(), random.Random(seed), draw, from_us, to_us) for seed in range(effort.shifts)]
    return Shift(*(math.fsum(column) / len(found) for column in zip(*found, strict=True)))


def _follow(detector: AnyDetector, rng: random.Random, draw: Draw, from_us: float, to_us: float) -> Shift:
    _feed(detector, rng, draw, from_us, SETTLING)
    middle_us, elapsed_us, noticed_us = math.sqrt(from_us * to_us), 0.0, math.inf
    count = 0
    while count < SAMPLES_MAX and not to_us / 2 < detector.mean < to_us * 2:
        count += 1
        gap_us = draw(rng, to_us)
        if to_us > from_us:
            noticed_us = min(noticed_us, elapsed_us + _noticed_open(detector, gap_us, middle_us))
        detector.add(gap_us)
        elapsed_us += gap_us
        if (detector.mean > middle_us) == (to_us > from_us):
            noticed_us = min(noticed_us, elapsed_us)
    return Shift(count, elapsed_us / 1e3, min(noticed_us, elapsed_us) / 1e3)


def _noticed_open(detector: AnyDetector, gap_us: float, middle_us: float) -> float:
    """When, during a gap, the mean with what is open of it passes the middle."""
    if detector.mean_with_open(gap_us) <= middle_us:
        return math.inf
    low, high = 0.0, gap_us
    while high - low > 1:
        half = (low + high) / 2
        low, high = (low, half) if detector.mean_with_open(half) > middle_us else (half, high)
    return high


def sample_ns(new: Callable[[], AnyDetector], draw: Draw, effort: Effort) -> float:
    """Processor time of one sample."""
    rng, detector = random.Random(1), new()
    samples = [draw(rng, FAST_US) for _ in range(effort.samples)]
    begin_ns = time.process_time_ns()
    for sample in samples:
        detector.add(sample)
    return (time.process_time_ns() - begin_ns) / len(samples)


def _feed(detector: AnyDetector, rng: random.Random, draw: Draw, mean_us: float, count: int) -> None:
    for _ in range(count):
        detector.add(draw(rng, mean_us))


@click.command("detectors")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
@click.option("--smoke", is_flag=True, help="The least that runs everything once; the figures mean nothing.")
def command(as_json: bool, smoke: bool) -> None:
    """Error, false shifts, and time to follow a source that changes."""
    rows = list(measure(SMOKE if smoke else NORMAL))
    if as_json:
        click.echo(json.dumps([_flat(row) for row in rows], indent=2))
    else:
        _print_table(rows)


def _flat(row: Row) -> dict[str, object]:
    steady, slower, faster = row.steady._asdict(), row.slower._asdict(), row.faster._asdict()
    return {**row._asdict(), "steady": steady, "slower": slower, "faster": faster}


def _print_table(rows: list[Row]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    title = "100 msg/s: error; falls to 1 msg/s, and rises from 1 msg/s to 100: gaps until known within a factor of 2"
    table = Table("detector", "source", title=title, title_justify="left", box=SIMPLE_HEAD)
    for heading in HEADINGS:
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(row.detector, row.source, *_cells(row))
    Console(highlight=False, width=TABLE_WIDTH).print(table)


def _cells(row: Row) -> tuple[str, ...]:
    return (
        f"{row.steady.error:.1%}",
        f"{row.steady.bias:+.1%}",
        f"{row.steady.false_shifts:.2f}",
        f"{row.slower.samples:.1f}",
        f"{row.slower.noticed_ms:,.0f} ms",
        f"{row.faster.samples:.1f}",
        f"{row.faster.after_ms:,.0f} ms",
        f"{row.faster.noticed_ms:,.0f} ms",
        f"{row.sample_ns:,.0f} ns",
    )
