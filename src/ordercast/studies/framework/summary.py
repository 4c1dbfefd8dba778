"""What a report says in a line: how the claims came out, what was run, and where a claim is found."""

from __future__ import annotations

from collections.abc import Sequence

from ordercast.studies.framework.claims import Verdict
from ordercast.studies.framework.results import Label
from ordercast.studies.framework.study import Studied

NOTHING = "–"
"""In a table, where there is nothing to tell."""


def verdict_line(studied: Sequence[Studied]) -> str:
    """How many claims came to what, in words."""
    verdicts = [outcome.verdict for each in studied for _, outcome in each.outcomes]
    counts = {verdict: verdicts.count(verdict) for verdict in Verdict}
    parts = [f"{counts[Verdict.REPRODUCED]} of {len(verdicts)} claims reproduced"]
    if (differing := counts[Verdict.DIFFERS]) > 0:
        parts.append(f"{differing} {'differs' if differing == 1 else 'differ'} for a reason that is understood")
    if counts[Verdict.MISSED]:
        parts.append(f"{counts[Verdict.MISSED]} not reproduced")
    return ", ".join(parts) + "."


def grid_line(studied: Studied) -> str:
    """How many runs there are, and of what: every label with the values that it takes."""
    labels = (f"{label.replace('_', ' ')}: {_listed(values)}" for label, values in studied.results.grid().items())
    return f"{len(studied.results.entries)} runs, size {studied.size}; {'; '.join(labels)}."


def _listed(values: Sequence[Label]) -> str:
    return ", ".join("none" if value == "" else f"{value}" for value in values)


def claim_id(studied: Studied, number: int) -> str:
    """What a page calls a study's claim, counted from 1, so that others can point at it."""
    return f"{studied.study.name}-claim-{number}"
