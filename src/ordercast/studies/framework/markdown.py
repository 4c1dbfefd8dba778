"""A report as Markdown, with the pictures as files beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ordercast.studies.framework.study import Studied
from ordercast.studies.framework.summary import NOTHING, claim_id, grid_line, verdict_line
from ordercast.studies.framework.tables import Table


def page(studied: Sequence[Studied]) -> str:
    """The whole report."""
    contents = _all_claims(studied) if len(studied) > 1 else ()
    body = (line for each in studied for line in _study(each))
    return "\n".join(["# ordercast: studies", "", verdict_line(studied), "", *contents, *body])


def _all_claims(studied: Sequence[Studied]) -> Iterator[str]:
    """Every claim and its verdict, by study, with links to where more is said."""
    yield from ("| study | verdict | claim |", "|---|---|---|")
    for each in studied:
        for number, (claim, outcome) in enumerate(each.outcomes, 1):
            study = f"[{each.study.name}](#{each.study.name})"
            yield f"| {study} | **{outcome.verdict}** | [{claim.text}](#{claim_id(each, number)}) |"
    yield ""


def _study(studied: Studied) -> Iterator[str]:
    study = studied.study
    yield from (f'<a id="{study.name}"></a>', "", f"## {study.title}", "")
    yield from (f"`{study.name}`: {study.source}", "", study.question, "")
    yield from (f"**Measured.** {study.metric}", "", f"**The grid.** {grid_line(studied)}", "")
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
    yield ""


def _claims(studied: Studied) -> Iterator[str]:
    yield from ("| verdict | claim | measured | published | said in |", "|---|---|---|---|---|")
    for number, (claim, outcome) in enumerate(studied.outcomes, 1):
        because = f" … {outcome.because}." if outcome.because else ""
        texts = (claim.text + because, outcome.measured, claim.published or NOTHING, claim.source)
        yield f'| <a id="{claim_id(studied, number)}"></a>**{outcome.verdict}** | {" | ".join(texts)} |'


def _table(table: Table) -> Iterator[str]:
    yield "| " + " | ".join(column.title for column in table.columns) + " |"
    yield "|" + "---:|" * len(table.columns)
    for row in range(len(table.rows)):
        best = table.best(row)
        texts = (f"**{text}**" if index in best else text for index, text in enumerate(table.texts(row)))
        yield "| " + " | ".join(texts) + " |"
