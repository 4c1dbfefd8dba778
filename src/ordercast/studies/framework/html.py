"""A report as one HTML page that refers to nothing outside itself: styles and pictures are part of it."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from ordercast.studies.framework.claims import Outcome, Verdict
from ordercast.studies.framework.figures import Picture
from ordercast.studies.framework.study import Studied
from ordercast.studies.framework.summary import NOTHING, claim_id, grid_line, verdict_line
from ordercast.studies.framework.tables import Table

STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #222; background: #fff; }
body { max-width: 68rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2, h3 { line-height: 1.25; }
h2 { margin-top: 3rem; border-top: 1px solid #ddd; padding-top: 1.5rem; }
.source { color: #666; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: 0.5rem 0 1.5rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.25rem 0.75rem; border-bottom: 1px solid #ddd; vertical-align: top; }
th { text-align: left; background: #f5f5f5; font-weight: 600; }
.figures th, .figures td { text-align: right; }
.claims th .source { font-weight: 400; margin-left: 0.5rem; }
.claims td a { color: inherit; }
tr:target { background: #fff7d6; }
.best { font-weight: 700; }
.section td { border-top: 2px solid #999; }
.verdict { white-space: nowrap; font-weight: 600; }
.reproduced { color: #00704f; }
.differs { color: #8a5a00; }
.missed { color: #b00020; }
.because { color: #555; }
figure { margin: 1rem 0; }
figure img { max-width: 100%; height: auto; }
figcaption { color: #555; }
"""

VERDICT_CLASSES = {Verdict.REPRODUCED: "reproduced", Verdict.DIFFERS: "differs", Verdict.MISSED: "missed"}


def page(studied: Sequence[Studied], directory: Path) -> str:
    """The whole report; the pictures are read from the directory."""
    body = "\n".join(line for each in studied for line in _study(each, directory))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>ordercast: studies</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<h1>ordercast: studies</h1>\n<p>{escape(verdict_line(studied))}</p>\n"
        f"{_all_claims(studied) if len(studied) > 1 else ''}\n{body}\n</body>\n</html>\n"
    )


def _all_claims(studied: Sequence[Studied]) -> str:
    """Every claim and its verdict, by study, with links to where more is said."""
    rows = []
    for each in studied:
        name, title = escape(each.study.name), escape(each.study.title)
        head = f'<th colspan="2"><a href="#{name}">{title}</a> <span class="source">{escape(each.study.source)}</span>'
        rows.append(f"<tr>{head}</th></tr>")
        for number, (claim, outcome) in enumerate(each.outcomes, 1):
            link = f'<a href="#{escape(claim_id(each, number))}">{escape(claim.text)}</a>'
            rows.append(f"<tr>{_verdict(outcome)}<td>{link}</td></tr>")
    return f'<div class="wide"><table class="claims">{"".join(rows)}</table></div>'


def _verdict(outcome: Outcome) -> str:
    return f'<td class="verdict {VERDICT_CLASSES[outcome.verdict]}">{escape(outcome.verdict)}</td>'


def _study(studied: Studied, directory: Path) -> Iterator[str]:
    study = studied.study
    yield f'<h2 id="{escape(study.name)}">{escape(study.title)}</h2>'
    yield f'<p class="source"><code>{escape(study.name)}</code>: {escape(study.source)}</p>'
    yield f"<p>{escape(study.question)}</p>"
    yield f"<p><b>Measured.</b> {escape(study.metric)}</p>"
    yield f"<p><b>The grid.</b> {escape(grid_line(studied))}</p>"
    for picture in study.pictures:
        if picture.applies(studied.results):
            yield _figure(picture, directory)
    yield "<h3>Claims</h3>"
    yield from _claims(studied)
    for table in studied.tables:
        yield f"<h3>{escape(table.title)}</h3>"
        yield from _table(table)
    if study.notes:
        yield "<h3>How it was read</h3>"
        yield "<ul>" + "".join(f"<li>{escape(note)}</li>" for note in study.notes) + "</ul>"


def _figure(picture: Picture, directory: Path) -> str:
    """The picture as a data URI: several SVGs in one page would share their ids."""
    data = base64.b64encode((directory / f"{picture.name}.svg").read_bytes()).decode("ascii")
    caption = escape(picture.caption)
    image = f'<img alt="{caption}" src="data:image/svg+xml;base64,{data}">'
    return f"<figure>{image}<figcaption>{caption}</figcaption></figure>"


def _claims(studied: Studied) -> Iterator[str]:
    yield '<div class="wide"><table><tr><th>verdict</th><th>claim</th>'
    yield "<th>measured</th><th>published</th><th>said in</th></tr>"
    for number, (claim, outcome) in enumerate(studied.outcomes, 1):
        because = f'<div class="because">… {escape(outcome.because)}.</div>' if outcome.because else ""
        yield f'<tr id="{escape(claim_id(studied, number))}">{_verdict(outcome)}<td>{escape(claim.text)}{because}</td>'
        yield "".join(
            f"<td>{escape(text)}</td>" for text in (outcome.measured, claim.published or NOTHING, claim.source)
        )
        yield "</tr>"
    yield "</table></div>"


def _table(table: Table) -> Iterator[str]:
    headings = "".join(f"<th>{escape(column.title)}</th>" for column in table.columns)
    yield f'<div class="wide"><table class="figures"><tr>{headings}</tr>'
    for row in range(len(table.rows)):
        best = table.best(row)
        cells = (
            f'<td class="best">{escape(text)}</td>' if index in best else f"<td>{escape(text)}</td>"
            for index, text in enumerate(table.texts(row))
        )
        yield ('<tr class="section">' if table.begins_section(row) else "<tr>") + "".join(cells) + "</tr>"
    yield "</table></div>"
