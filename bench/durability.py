"""Does the ordered log keep what it says it keeps? Lives of a log, each ended by a crash that some of what was not
synced survives, and what the next life finds (`bench.crashing` says how).

What is found must be what was asked for up to some point, without a gap and without anything twice; that point must not
be before what was reported durable (fsync policy `always`, or a crash of the process alone) or synced (the others); and
whoever reads the directory of segments must meet whole ones only.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from itertools import count, islice

import click

from bench.crashing.lives import CRASHES_PER_LIFE, LIVES_PER_SITE, Crash, Violation, crashes

RUNS = 10_000
SMOKE_RUNS = 20
TELL_EVERY = 500


def all_crashes(first_seed: int, runs: int) -> Iterator[Crash]:
    """So many, of as many sites as it takes."""
    return islice((crash for seed in count(first_seed) for crash in crashes(seed)), runs)


@click.command("durability")
@click.option("--runs", default=RUNS, show_default=True, help="How many crashes.")
@click.option("--seed", default=0, show_default=True, help=f"Of the first {CRASHES_PER_LIFE * LIVES_PER_SITE}.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of sentences.")
@click.option("--smoke", is_flag=True, help="The least that runs everything once; the figures mean nothing.")
def command(runs: int, seed: int, as_json: bool, smoke: bool) -> None:
    """Crashes of the ordered log: nothing durable is lost, nothing is doubled, no gap."""
    seen: Counter[str] = Counter()
    runs = SMOKE_RUNS if smoke else runs
    try:
        for number, crash in enumerate(all_crashes(seed, runs), 1):
            seen += _counted(crash)
            if number % TELL_EVERY == 0 and not as_json:
                click.echo(f"{number} of {runs} crashes", err=True)
    except Violation as violation:
        raise click.ClickException(str(violation)) from violation
    if as_json:
        click.echo(json.dumps({"runs": runs, **seen}, indent=2))
    else:
        click.echo(f"{runs} crashes: no gap, nothing doubled, nothing lost that was durable")
        for name, times in sorted(seen.items()):
            click.echo(f"  {name:<30}{times:>8}")


def _counted(crash: Crash) -> Counter[str]:
    """What was special about it, so that it can be seen that such cases were among them."""
    return Counter(
        {
            f"fsync {crash.policy}": 1,
            "of the process alone": int(crash.kept == 1.0),
            "requests lost": crash.requests - crash.found,
            "found beyond what was reported": int(crash.found > crash.durable),
        }
    )
