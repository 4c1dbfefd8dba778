"""`python -m tests.pipeline.audit`: verdicts on many random traces, on Spark and by the plain audit."""

from __future__ import annotations

import random
import sys
import tempfile
from pathlib import Path

import click

from ordercast.pipeline.audit.directory import audit_traces
from ordercast.pipeline.session import spark_session
from ordercast.records.runs import find_traces
from tests.pipeline.audit.comparing import ALL, BITS, differing, write_planted
from tests.verify.audit.catalogue import PLANTS
from tests.verify.audit.traces import fuzz_trace

RECORDS_MAX = 4000
PLANTS_PER_TRACE = 4


def write_traces(directory: Path, first_seed: int, count: int) -> int:
    """At least so many traces of what the fuzzer draws, most with a mistake; returns the next seed."""
    seed, made = first_seed, 0
    while made < count:
        records = fuzz_trace(seed)
        if len(records) <= RECORDS_MAX:
            plants = [PLANTS[(seed * PLANTS_PER_TRACE + number) % len(PLANTS)] for number in range(PLANTS_PER_TRACE)]
            made += write_planted(directory, str(seed), records, plants, random.Random(seed))
        seed += 1
    return seed


@click.command()
@click.option("--count", type=click.IntRange(min=1), default=2000, show_default=True, help="So many traces.")
@click.option("--at-once", type=click.IntRange(min=1), default=250, show_default=True, help="In one Spark job.")
@click.option("--seed", default=10_000, show_default=True, help="The first.")
@click.option("--exact", is_flag=True)
def main(count: int, at_once: int, seed: int, exact: bool) -> None:
    """Compare verdicts; exit code 1 if any differ."""
    judged = violated = different = 0
    with spark_session() as session:
        while judged < count:
            with tempfile.TemporaryDirectory() as scratch:
                seed = write_traces(Path(scratch), seed, min(at_once, count - judged))
                traces = find_traces(Path(scratch))
                verdicts, _ = audit_traces(session, traces, exact=exact, shown_max=ALL, bits=BITS)
                found = differing(verdicts, traces)
            judged += len(verdicts)
            violated += sum(1 for verdict in verdicts if verdict.violations)
            different += len(found)
            click.echo(f"{judged:,} traces, {violated:,} with violations, {different} verdicts differ")
            for ours, plain in found:
                click.echo(f"{ours.run}: Spark {ours.violated} {ours.remarks}, plain {plain.violated} {plain.remarks}")
                only = [each for each in plain.violations if each not in ours.violations][:2]
                click.echo(f"  {only} against {[each for each in ours.violations if each not in plain.violations][:2]}")
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
