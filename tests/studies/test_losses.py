"""The claims about losses, on results that are made up."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from ordercast.studies.framework.claims import Verdict
from ordercast.studies.framework.results import Entry, Label, Results
from ordercast.studies.framework.study import Size
from ordercast.studies.losses import STUDY
from tests.studies.made_up import run_result, verdicts

CLAIMS = STUDY.claims
FREE, ONE_REPAIR, ONE_PERCENT, FIVE_PERCENT, OVERHEAD, LEAD = range(6)

LATENCY_MS = {0.0: 550.0, 0.1: 900.0, 1.0: 1700.0, 5.0: 3000.0}
"""Of hybrid, by loss; the token site takes 200 ms more."""

TRANSMISSIONS = {0.0: 1.0, 0.1: 1.1, 1.0: 1.3, 5.0: 2.5}

Change = tuple[dict[str, Label], float | None, float]
"""Whose, and the latency and transmissions there."""


def measured(*changes: Change) -> Results:
    """Mean and 99th percentile are the same here."""
    return Results(_entry(run.labels, changes) for run in STUDY.grid(Size.NORMAL))


def _entry(labels: Mapping[str, Label], changes: tuple[Change, ...]) -> Entry:
    loss = float(labels["loss_percent"])
    latency_ms: float | None = LATENCY_MS[loss] + (200.0 if labels["protocol"] == "token-site" else 0.0)
    transmissions = TRANSMISSIONS[loss]
    for whose, changed_ms, changed in changes:
        if whose.items() <= labels.items():
            latency_ms, transmissions = changed_ms, changed
    return Entry(dict(labels), run_result(latency_ms, transmissions=transmissions))


def test_losses_that_are_repaired_in_time_bear_out_every_claim() -> None:
    assert verdicts(CLAIMS, measured()) == [Verdict.REPRODUCED] * len(CLAIMS)


TOKEN: dict[str, Label] = {"protocol": "token-site", "scenario": 9}
HYBRID: dict[str, Label] = {"protocol": "hybrid", "tickets": "piggyback", "scenario": 8}


@pytest.mark.parametrize(
    ("change", "missed"),
    [
        (({**TOKEN, "loss_percent": 0.0, "stack": "full"}, 770.0, 1.0), {FREE}),
        (({**TOKEN, "loss_percent": 0.1}, 3000.0, 1.1), {ONE_REPAIR}),
        (({**TOKEN, "loss_percent": 1.0}, 2400.0, 1.3), {ONE_PERCENT}),
        (({**TOKEN, "loss_percent": 5.0}, 5100.0, 2.5), {FIVE_PERCENT}),
        (({**TOKEN, "loss_percent": 5.0}, None, 2.5), {FIVE_PERCENT}),
        (({**TOKEN, "loss_percent": 1.0}, 1900.0, 3.1), {OVERHEAD}),
        (({**HYBRID, "loss_percent": 1.0}, 1901.0, 1.3), {LEAD}),
    ],
)
def test_one_case_is_enough_to_miss_a_claim(change: Change, missed: set[int]) -> None:
    found = verdicts(CLAIMS, measured(change))
    assert [index for index, verdict in enumerate(found) if verdict is Verdict.MISSED] == sorted(missed)


def test_acknowledgements_at_once_are_a_difference_that_is_understood() -> None:
    found = measured(({**TOKEN, "loss_percent": 1.0}, 1900.0, 1.5))
    assert verdicts(CLAIMS, found)[OVERHEAD] is Verdict.DIFFERS
