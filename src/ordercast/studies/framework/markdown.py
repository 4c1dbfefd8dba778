"""A report as Markdown, with the pictures as files beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ordercast.studies.framework.study import Studied
from ordercast.studies.framework.tables import Table


def page(studied: Sequence[Studied]) -> str:
    """The whole report."""
    return "\n".join(["# Studies", "", *(line for each in studied for line in _study(each))])


def _study(studied: Studied) -> Iterator[str]:
    study = studied.study
    yield from (f"## {study.title}", "", f"`{study.name}`: {study.source}", "", study.question, "")
    for picture in study.pictures:
        if picture.applies(studied.results):
            yield from (f"![{picture.caption}]({picture.name}.svg)", "", f"*{picture.caption}*", "")
    yield from ("### Claims", "")
    yield from _claims(studied)
    for table in studied.tables:
        yield from ("", f"### {table.title}", "")
        yield from _table(table)
    if study.notes:
        yield from ("", "### How it was read", "")
        yield from (f"- {note}" for note in study.notes)
    yield from ("", f"{len(studied.results.entries)} runs, size `{studied.size}`.", "")


def _claims(studied: Studied) -> Iterator[str]:
    yield from ("| verdict | claim | measured | said in |", "|---|---|---|---|")
    for claim, outcome in studied.outcomes:
        verdict = f"**{outcome.verdict}**" + (f" {outcome.because}" if outcome.because else "")
        yield f"| {verdict} | {claim.text} | {outcome.measured} | {claim.source} |"


def _table(table: Table) -> Iterator[str]:
    yield "| " + " | ".join(column.title for column in table.columns) + " |"
    yield "|" + "---:|" * len(table.columns)
    for row in range(len(table.rows)):
        best = table.best(row)
        texts = (f"**{text}**" if index in best else text for index, text in enumerate(table.texts(row)))
        yield "| " + " | ".join(texts) + " |"
