"""`ordercast watch`: the logs of several sites, compared as they grow."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import Struct

from ordercast.cli.following import followed
from ordercast.cli.on_spark import SparkChoice, spark_choice, spark_options
from ordercast.cli.output import print_json
from ordercast.pipeline.streaming.comparison import Violation

if TYPE_CHECKING:
    from ordercast.pipeline.streaming.watch import Watch

BAD_ANSWER = 1


class Watched(Struct, frozen=True):
    """What `--json` prints."""

    sites: list[str]
    start: int
    compared: int
    """All sites agree from `start` up to here."""
    violation: Violation | None


@click.command("watch", short_help="Compare the order at several sites, as it comes.")
@click.argument("logs", metavar="LOGDIR...", nargs=-1, required=True,
                type=click.Path(path_type=Path, exists=True, file_okay=False))  # fmt: skip
@click.option("--from", "start", type=click.IntRange(0), metavar="POSITION",
              help="Begin here.  [default: the first position that all sites keep]")  # fmt: skip
@click.option("--once", is_flag=True, help="End at what is final now; otherwise at a violation, or by Ctrl-C.")
@spark_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object at the end.")
@click.pass_context
def command(
    ctx: click.Context,
    logs: tuple[Path, ...],
    start: int | None,
    once: bool,
    master: str | None,
    conf: tuple[str, ...],
    as_json: bool,
) -> None:
    """Follow the ordered logs of two or more sites, and compare what is final: each position must hold the same
    everywhere, none may be missing or come twice, and no message may come twice.

    The sites may run. The first violation is named with its position, its sites and what they hold, within seconds,
    and ends the command with exit code 1.

    \b
      ordercast watch data/lis1 data/lis2 data/por1
      ordercast watch data/* --once --json
    """
    from ordercast.pipeline.streaming.watch import Watch

    watch = Watch(dict(zip(_names(logs), logs, strict=True)), start)
    _follow(watch, once, spark_choice(master, conf))
    found = Watched(list(watch.comparison.names), watch.start, watch.comparison.compared, watch.violation)
    if as_json:
        print_json(found)
    else:
        _show(found)
    if found.violation is not None:
        ctx.exit(BAD_ANSWER)


def _follow(watch: Watch, once: bool, spark: SparkChoice) -> None:
    from ordercast.pipeline.streaming.mistakes import in_one_line

    with spark.session() as session, in_one_line(), watch.following(session, once=once) as query:
        followed(query, lambda: _progress(watch), endless=not once, done=watch.found.is_set)


def _progress(watch: Watch) -> str:
    """How far each site is."""
    comparison = watch.comparison
    places = ", ".join(f"{name} {place:,}" for name, place in zip(comparison.names, comparison.next, strict=True))
    return f"the same up to {comparison.compared:,} ({places})"


def _names(logs: Sequence[Path]) -> tuple[str, ...]:
    """As short as they can be told apart by."""
    names = tuple(log.absolute().name for log in logs)
    return names if len(set(names)) == len(names) else tuple(map(str, logs))


def _show(found: Watched) -> None:
    if found.violation is not None:
        click.echo(f"violated: {found.violation}")
    else:
        click.echo(f"good: {', '.join(found.sites)} hold the same from {found.start:,} up to {found.compared:,}")
