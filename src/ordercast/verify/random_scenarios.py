"""Run many small random scenarios under all checks.

    python -m ordercast.verify.random_scenarios --seeds 10000
    python -m ordercast.verify.random_scenarios --first 4711 --toml > scenario.toml

Every run must end, none may violate anything, and only those with losses, crashes or partitions may stall. Each run
is judged twice, by `verify.online` and by `verify.properties`, which must agree.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import click
import msgspec
from msgspec import Struct

from ordercast.core.effects import Out
from ordercast.core.events import Event, Now
from ordercast.core.layer import Layer, Waiting
from ordercast.protocols.ordering.catalogue import PROTOCOLS
from ordercast.protocols.ordering.setup import Setup
from ordercast.simulator.scenario import from_table
from ordercast.simulator.simulation import BuildLayer
from ordercast.verify import properties
from ordercast.verify.history import HistoryCollector
from ordercast.verify.run import RunResult, run
from ordercast.verify.scenario_draw import as_toml, draw, may_stall

EVENTS_MAX = 2_000_000
"""Far more than any of these scenarios needs at one site: a run that gets there would go on for ever."""

CHUNK = 50
"""Seeds given to a process at once."""

BAD_ANSWER = 1


class NeverEnds(Exception):
    """A run goes on and on."""


class Bounded:
    """A layer that is stopped after too many events."""

    def __init__(self, layer: Layer, events_max: int) -> None:
        self._layer = layer
        self._events_left = events_max

    @property
    def WIRE(self) -> Any:
        return self._layer.WIRE

    def handle(self, event: Event, now: Now, out: Out) -> None:
        self._events_left -= 1
        if self._events_left < 0:
            raise NeverEnds
        self._layer.handle(event, now, out)

    def waiting_for(self) -> Waiting | None:
        return self._layer.waiting_for()


class Verdict(Struct, frozen=True):
    """What came of one seed."""

    seed: int
    protocol: str
    may_stall: bool
    result: RunResult | None
    """None if the run never ended."""
    complaints: list[str]
    """Empty if all was as it must be."""


class Tally(Struct):
    """Figures of all runs of one protocol."""

    runs: int = 0
    messages: int = 0
    events: int = 0
    with_harmful_faults: int = 0
    stalled: int = 0
    bad: int = 0

    def add(self, verdict: Verdict) -> None:
        """Count one more run."""
        self.runs += 1
        self.with_harmful_faults += verdict.may_stall
        self.bad += bool(verdict.complaints)
        if verdict.result is not None:
            self.messages += verdict.result.messages
            self.events += verdict.result.events
            self.stalled += verdict.result.stalled is not None


def try_seed(seed: int, *, build: BuildLayer | None = None, events_max: int = EVENTS_MAX) -> Verdict:
    """Run the scenario of a seed. `build` replaces the protocol, so that tests can plant bugs."""
    table = draw(seed)
    scenario = from_table(table, f"seed {seed}")
    make = build or PROTOCOLS[scenario.protocol.name].build

    def bounded(setup: Setup) -> Layer:
        return Bounded(make(setup), events_max)

    collector = HistoryCollector(scenario.topology().names)
    try:
        result = run(scenario, build=bounded, observers=(collector,), with_limit=False)
    except NeverEnds:
        return Verdict(seed, scenario.protocol.name, may_stall(table), None, ["the run never ends"])
    complaints = list(result.violations)
    if result.stalled is not None and not may_stall(table):
        complaints.append(f"{result.stalled.site} waits for {result.stalled.waiting_for}")
    plain = properties.check(collector.histories, drained=result.stalled is None)
    if bool(plain) != bool(result.violations):
        complaints.append(f"the plain properties disagree: {[str(violation) for violation in plain]}")
    return Verdict(seed, scenario.protocol.name, may_stall(table), result, complaints)


def _try_seeds(seeds: Sequence[int]) -> list[Verdict]:
    return [try_seed(seed) for seed in seeds]


def try_many(seeds: Sequence[int], processes: int) -> Iterator[Verdict]:
    """Run the scenarios of many seeds, in the order of the seeds."""
    chunks = [seeds[start : start + CHUNK] for start in range(0, len(seeds), CHUNK)]
    if processes == 1:
        for chunk in chunks:
            yield from _try_seeds(chunk)
        return
    with ProcessPoolExecutor(processes) as pool:
        for verdicts in pool.map(_try_seeds, chunks):
            yield from verdicts


@click.command()
@click.option("--seeds", default=300, show_default=True, help="How many scenarios to run.")
@click.option("--first", default=0, show_default=True, help="The first seed.")
@click.option("--processes", default=2, show_default=True, help="How many to run at a time.")
@click.option("--json", "as_json", is_flag=True, help="Print every verdict as a line of JSON.")
@click.option("--toml", "show_first", is_flag=True, help="Print the scenario of the first seed, and run nothing.")
@click.pass_context
def main(ctx: click.Context, seeds: int, first: int, processes: int, as_json: bool, show_first: bool) -> None:
    """Run many small random scenarios under all checks. Exit code 1 tells that some went wrong."""
    if show_first:
        click.echo(as_toml(draw(first)), nl=False)
        return
    tallies = {name: Tally() for name in PROTOCOLS}
    report = _report_json if as_json else _report
    for verdict in try_many(range(first, first + seeds), processes):
        tallies[verdict.protocol].add(verdict)
        report(verdict)
        if sys.stderr.isatty():
            click.echo(f"\r{verdict.seed - first + 1:,} of {seeds:,} scenarios", err=True, nl=False)
    if sys.stderr.isatty():
        click.echo("\r\033[K", err=True, nl=False)
    if not as_json:
        _show(tallies)
    if any(tally.bad for tally in tallies.values()):
        ctx.exit(BAD_ANSWER)


def _report_json(verdict: Verdict) -> None:
    click.echo(msgspec.json.encode(verdict))


def _report(verdict: Verdict) -> None:
    for complaint in verdict.complaints:
        click.echo(f"seed {verdict.seed}, {verdict.protocol}: {complaint}")


COLUMNS: dict[str, Callable[[Tally], int]] = {
    "runs": lambda tally: tally.runs,
    "messages": lambda tally: tally.messages,
    "events": lambda tally: tally.events,
    "with loss, crash or partition": lambda tally: tally.with_harmful_faults,
    "stalled": lambda tally: tally.stalled,
    "bad": lambda tally: tally.bad,
}


def _show(tallies: dict[str, Tally]) -> None:
    click.echo(f"{'':16}" + "".join(f"{column:>{len(column) + 4}}" for column in COLUMNS))
    for name, tally in tallies.items():
        figures = "".join(f"{figure(tally):>{len(column) + 4},}" for column, figure in COLUMNS.items())
        click.echo(f"{name:16}{figures}")


if __name__ == "__main__":
    main()
