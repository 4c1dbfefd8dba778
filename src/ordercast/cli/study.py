"""`ordercast study`: run the papers' tables and figures again, and judge what they claim."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ordercast.cli.engines import POOL, SPARK, engine
from ordercast.cli.on_spark import spark_choice, spark_options
from ordercast.cli.output import console, counting
from ordercast.core.errors import WrongUse

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ordercast.studies.framework.grid import Runner
    from ordercast.studies.framework.study import Size, Studied, Study
    from ordercast.studies.framework.tables import Table as Figures

TEXT_WIDTH = 100
"""Longer lines of prose are hard to read; tables may be wider."""


@click.command("study")
@click.argument("name", required=False)
@click.option("--list", "listing", is_flag=True, help="Say which studies there are.")
@click.option("--quick", is_flag=True, help="A smaller grid, which still checks every claim.")
@click.option("--full", is_flag=True, help="Every variant, also those that no claim is about.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("out"),
    show_default=True,
    help="Where the report goes: report.html, report.md and the pictures.",
)
@click.option(
    "--engine",
    "engine_name",
    type=click.Choice([POOL, SPARK]),
    default=POOL,
    show_default=True,
    help="What runs the grid: processes here, or Spark, which needs Java and keeps finished runs in OUT/runs.",
)
@spark_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
@click.pass_context
def command(
    context: click.Context,
    name: str | None,
    listing: bool,
    quick: bool,
    full: bool,
    out: Path,
    engine_name: str,
    master: str | None,
    conf: tuple[str, ...],
    as_json: bool,
) -> None:
    """Run a study: a table or figure of the papers, computed again.

    NAME is one of those that --list shows, or "all". Prints tables and the verdict on every claim, and writes a
    report with pictures. Exit code 1 if a claim is missed.
    """
    from ordercast.studies.framework import report
    from ordercast.studies.framework.study import all_studies, find
    from ordercast.studies.framework.summary import verdict_line

    studies = all_studies()
    if listing:
        _print_list(studies, as_json)
        return
    if name is None:
        raise WrongUse(f"study: expected a NAME: {', '.join(study.name for study in studies)}, or all")
    size = _size(quick, full)
    chosen = studies if name == "all" else [find(name, studies)]
    report.prepare(out)
    with engine(engine_name, out / "runs", spark_choice(master, conf)) as runner:
        studied = [_conduct(study, size, runner, as_json) for study in chosen]
    path = report.write(studied, out)
    if as_json:
        _print_json({"studies": [report.as_data(each) for each in studied], "report": str(path)})
    else:
        click.echo(f"{verdict_line(studied)}\nReport with pictures: {path}")
    if not all(each.good for each in studied):
        context.exit(1)


def _size(quick: bool, full: bool) -> Size:
    from ordercast.studies.framework.study import Size

    if quick and full:
        raise WrongUse("study: expected --quick or --full, not both")
    return Size.QUICK if quick else Size.FULL if full else Size.NORMAL


def _conduct(study: Study, size: Size, runner: Runner, as_json: bool) -> Studied:
    """Run one study; for people, say what it is about before and what came of it after."""
    from ordercast.studies.framework.study import conduct

    if not as_json:
        _print_introduction(study)
    with counting(study.name) as on_progress:
        studied = conduct(study, size, runner=runner, on_progress=on_progress)
    if not as_json:
        _print_outcome(studied)
    return studied


# --- for programs ---


def _print_json(value: object) -> None:
    click.echo(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


# --- for people ---


def _print_list(studies: Sequence[Study], as_json: bool) -> None:
    if as_json:
        _print_json([{"study": each.name, "title": each.title, "source": each.source} for each in studies])
        return
    from rich.table import Table

    table = Table("study", "what it shows", "said in", box=None, padding=(0, 2, 0, 0))
    for each in studies:
        table.add_row(f"[bold]{each.name}[/bold]", each.title, each.source)
    console().print(table)


def _print_introduction(study: Study) -> None:
    _print_prose(f"[bold]{study.title}[/bold] ({study.source})\n\n{study.question}\n\nMeasured: {study.metric}\n")


def _print_outcome(studied: Studied) -> None:
    for table in studied.tables:
        console().print(_table(table))
        click.echo()
    _print_prose(_claims(studied))
    click.echo()


def _print_prose(text: RenderableType) -> None:
    where = console()
    where.print(text, width=min(TEXT_WIDTH, where.width))


def _table(table: Figures) -> RenderableType:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    shown = Table(title=table.title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, show_edge=False)
    shown.padding, shown.pad_edge = (0, 0, 0, 1), False
    texts = [table.texts(row) for row in range(len(table.rows))]
    for index, column in enumerate(table.columns):
        heading = _folding(column.title)
        width = max(map(len, (*heading.split(), *(row[index] for row in texts))))
        shown.add_column(heading, justify="right", vertical="bottom", width=width)
    for row in range(len(table.rows)):
        best = table.best(row)
        if table.begins_section(row):
            shown.add_section()
        shown.add_row(*(f"[bold]{text}[/bold]" if at in best else text for at, text in enumerate(texts[row])))
    return shown


def _folding(title: str) -> str:
    """A heading that may break after a hyphen, so that columns stay narrow: the tables fit into 80 columns."""
    return title.replace("-", "-\n").replace(" (", "\n(").replace(" / ", " /\n")


def _claims(studied: Studied) -> RenderableType:
    from rich.table import Table

    from ordercast.studies.framework.claims import Verdict

    colours = {Verdict.REPRODUCED: "green", Verdict.DIFFERS: "yellow", Verdict.MISSED: "bold red"}
    shown = Table.grid(padding=(0, 2, 0, 0))
    shown.add_column(no_wrap=True)
    shown.add_column()
    for claim, outcome in studied.outcomes:
        because = f"\n[yellow]… {outcome.because}.[/yellow]" if outcome.because else ""
        verdict = f"[{colours[outcome.verdict]}]{outcome.verdict}[/]"
        published = f" Published: {claim.published}." if claim.published else ""
        shown.add_row(verdict, f"{claim.text}\n[dim]Measured: {outcome.measured}.{published}[/dim]{because}")
    return shown
