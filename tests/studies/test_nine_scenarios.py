"""The claims about the nine scenarios, on results that are made up."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from ordercast.studies import nine_scenarios
from ordercast.studies.framework.claims import Verdict
from ordercast.studies.framework.results import Label, Results
from ordercast.studies.framework.study import Size
from tests.studies.made_up import results_of, verdicts

STUDY = nine_scenarios.STUDY
CLAIMS = STUDY.claims

FLAT, BEST, TOKEN_SHINES, TOKEN_SUFFERS, SYMMETRIC_SHINES, SYMMETRIC_SUFFERS = range(6)

TOKEN_SITE = {1: 555.0, 2: 555.0, 3: 555.0, 4: 690.0, 5: 730.0, 6: 810.0, 7: 815.0, 8: 900.0, 9: 765.0}

Change = tuple[str, int, float]
"""A protocol, a scenario and its latency there."""


def as_published(labels: Mapping[str, Label], changes: tuple[Change, ...] = ()) -> float:
    """What the papers lead one to expect."""
    protocol, scenario = str(labels["protocol"]), int(labels["scenario"])
    for changed_protocol, changed_scenario, latency_ms in changes:
        if (protocol, scenario) == (changed_protocol, changed_scenario):
            return latency_ms
    if protocol == "hybrid":
        return 550.0
    if protocol in ("token-site", "migrating-token"):
        return TOKEN_SITE[scenario]
    return 550.0 if scenario == 9 else 1200.0


def measured(*changes: Change) -> Results:
    return results_of(STUDY, Size.QUICK, lambda labels: as_published(labels, changes))


def test_what_the_papers_lead_one_to_expect_bears_out_every_claim() -> None:
    assert verdicts(CLAIMS, measured()) == [Verdict.REPRODUCED] * len(CLAIMS)


@pytest.mark.parametrize(
    ("changes", "missed"),
    [
        ((("hybrid", 6, 651.0),), {FLAT}),
        ((("hybrid", 4, 640.0), ("token-site", 4, 600.0)), {BEST}),
        ((("migrating-token", 5, 520.0),), {BEST}),
        ((("symmetric", 2, 554.0),), {TOKEN_SHINES}),
        ((("token-site", 8, 769.0),), {TOKEN_SUFFERS}),
        ((("rs-symmetric", 9, 567.0),), {SYMMETRIC_SHINES}),
        ((("rs-symmetric", 9, 533.0),), {SYMMETRIC_SHINES}),
        ((("rs-symmetric", 3, 879.0),), {SYMMETRIC_SUFFERS}),
        ((("rs-symmetric", 1, 540.0),), {TOKEN_SHINES, SYMMETRIC_SUFFERS}),
    ],
)
def test_each_claim_can_be_missed(changes: tuple[Change, ...], missed: set[int]) -> None:
    found = verdicts(CLAIMS, measured(*changes))
    assert {index for index, verdict in enumerate(found) if verdict is Verdict.MISSED} == missed


def test_the_claims_are_about_the_papers_figure_alone() -> None:
    """What Poisson sources and online estimates do is shown, and judged by no claim."""

    def bad_elsewhere(labels: Mapping[str, Label]) -> float:
        return as_published(labels) if nine_scenarios.MAIN.items() <= labels.items() else 5000.0

    found = results_of(STUDY, Size.FULL, bad_elsewhere)
    assert verdicts(CLAIMS, found) == [Verdict.REPRODUCED] * len(CLAIMS)
    assert len(STUDY.tables(found)) == 4


def test_the_rows_show_the_limit_and_the_ratio_to_it() -> None:
    (table,) = STUDY.tables(measured())
    assert [column.title for column in table.columns[-2:]] == ["limit", "hybrid / limit"]
    assert table.texts(7)[:2] == ["8", "HLLHH"]
    assert table.texts(7)[-2:] == ["50.0", "11.000"]
