"""The report of one or more studies: HTML that needs nothing but itself, Markdown, and the pictures beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ordercast.core.errors import NotFit, WrongUse
from ordercast.studies.framework import figures, html, markdown
from ordercast.studies.framework.study import Studied
from ordercast.studies.framework.tables import cell_value


def prepare(directory: Path) -> None:
    """Make sure that a report can be written there, before hours of work and not after."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise WrongUse(f"--out: {directory} is a file, expected a directory") from None
    except OSError as error:
        raise NotFit(f"--out: {directory} cannot be made ({error.strerror})") from error


def write(studied: Sequence[Studied], directory: Path) -> Path:
    """Write report.html, report.md and the pictures; returns where report.html lies."""
    report = directory / "report.html"
    try:
        for each in studied:
            for picture in pictures(each):
                figures.save(picture, each.results, directory)
        (directory / "report.md").write_text(markdown.page(studied), encoding="utf-8")
        report.write_text(html.page(studied, directory), encoding="utf-8")
    except OSError as error:
        raise NotFit(f"{error.filename or directory}: the report cannot be written ({error.strerror})") from error
    return report


def pictures(studied: Studied) -> Iterator[figures.Picture]:
    """The pictures that the results allow."""
    return (picture for picture in studied.study.pictures if picture.applies(studied.results))


def as_data(studied: Studied) -> dict[str, Any]:
    """A study's claims and tables for programs."""
    return {
        "study": studied.study.name,
        "title": studied.study.title,
        "source": studied.study.source,
        "metric": studied.study.metric,
        "size": studied.size.value,
        "grid": studied.results.grid(),
        "runs": len(studied.results.entries),
        "good": studied.good,
        "claims": [
            {
                "claim": claim.text,
                "source": claim.source,
                "verdict": outcome.verdict.value,
                "published": claim.published or None,
                "measured": outcome.measured,
                "because": outcome.because or None,
            }
            for claim, outcome in studied.outcomes
        ],
        "tables": [
            {
                "title": table.title,
                "columns": [column.title for column in table.columns],
                "rows": [
                    [cell_value(cell, column) for cell, column in zip(row, table.columns, strict=True)]
                    for row in table.rows
                ],
            }
            for table in studied.tables
        ],
        "pictures": [f"{picture.name}.{ending}" for picture in pictures(studied) for ending in ("svg", "png")],
    }
