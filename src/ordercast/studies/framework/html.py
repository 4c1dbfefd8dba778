"""A report as one HTML page that refers to nothing outside itself: styles and pictures are part of it."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from ordercast.studies.framework.claims import Verdict
from ordercast.studies.framework.figures import Picture
from ordercast.studies.framework.study import Studied
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
    contents = "".join(
        f'<li><a href="#{escape(each.study.name)}">{escape(each.study.title)}</a></li>' for each in studied
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>ordercast: studies</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<h1>ordercast: studies</h1>\n<ul>{contents}</ul>\n{body}\n</body>\n</html>\n"
    )


def _study(studied: Studied, directory: Path) -> Iterator[str]:
    study = studied.study
    yield f'<h2 id="{escape(study.name)}">{escape(study.title)}</h2>'
    yield f'<p class="source"><code>{escape(study.name)}</code>: {escape(study.source)}</p>'
    yield f"<p>{escape(study.question)}</p>"
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
    yield f'<p class="source">{len(studied.results.entries)} runs, size {escape(studied.size)}.</p>'


def _figure(picture: Picture, directory: Path) -> str:
    """The picture as a data URI: several SVGs in one page would share their ids."""
    data = base64.b64encode((directory / f"{picture.name}.svg").read_bytes()).decode("ascii")
    caption = escape(picture.caption)
    image = f'<img alt="{caption}" src="data:image/svg+xml;base64,{data}">'
    return f"<figure>{image}<figcaption>{caption}</figcaption></figure>"


def _claims(studied: Studied) -> Iterator[str]:
    yield '<div class="wide"><table><tr><th>verdict</th><th>claim</th><th>measured</th><th>said in</th></tr>'
    for claim, outcome in studied.outcomes:
        verdict = f'<td class="verdict {VERDICT_CLASSES[outcome.verdict]}">{escape(outcome.verdict)}</td>'
        because = f'<div class="because">… {escape(outcome.because)}.</div>' if outcome.because else ""
        yield f"<tr>{verdict}<td>{escape(claim.text)}{because}</td>"
        yield f"<td>{escape(outcome.measured)}</td><td>{escape(claim.source)}</td></tr>"
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
