"""The claims about nine scenarios in one run, on results that are made up."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from ordercast.studies.framework.claims import Verdict
from ordercast.studies.framework.results import Entry, Results
from ordercast.studies.framework.study import Size
from ordercast.studies.nine_scenarios import SCENARIOS
from ordercast.studies.scenarios_in_sequence import IN_SEQUENCE, STUDY
from tests.studies.made_up import run_result, verdicts

CLAIMS = STUDY.claims
QUASI_PERIODIC, POISSON, WHOLE, WHOLE_POISSON, LITTLE, MUCH, CONSTANT, SETTLES = range(8)

WHOLE_MS = {"dynamic-hybrid": 560.0, "token-site": 730.0, "rs-symmetric": 1060.0}
POISSON_COSTS = {"dynamic-hybrid": 1.05, "token-site": 1.0, "rs-symmetric": 1.5}


def measured(
    source: str = "",
    whole: Mapping[str, float] = WHOLE_MS,
    costs: Mapping[str, float] = POISSON_COSTS,
    **changes: float,
) -> Results:
    """550 ms everywhere and a second to settle; changed in scenario 4 with one source, or with both."""
    steady = {f"{name}/{scenario}": value for scenario in SCENARIOS for name, value in USUAL.items()}
    entries = []
    for run in STUDY.grid(Size.QUICK):
        labels = run.labels
        changed = {f"{name}/4": value for name, value in changes.items()} if source in ("", labels["source"]) else {}
        last_ms = 550.0
        if labels["scenario"] == IN_SEQUENCE:
            protocol = str(labels["protocol"])
            last_ms = whole[protocol] * (costs[protocol] if labels["source"] == "poisson" else 1.0)
        entries.append(Entry(labels, run_result(last_ms), {"switches_per_minute": 5.0, **steady, **changed}))
    return Results(entries)


USUAL = {"steady_ms": 550.0, "settle_s": 1.0, "peak_ms": 900.0, "switches": 2.0}


def missed(results: Results) -> set[int]:
    return {index for index, verdict in enumerate(verdicts(CLAIMS, results)) if verdict is Verdict.MISSED}


def test_what_the_papers_lead_one_to_expect_bears_out_every_claim() -> None:
    assert verdicts(CLAIMS, measured()) == [Verdict.REPRODUCED] * len(CLAIMS)


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        (measured("quasi-periodic", steady_ms=606.0), {QUASI_PERIODIC, CONSTANT}),
        (measured("poisson", steady_ms=606.0), {POISSON}),
        (measured("poisson", settle_s=5.5), {SETTLES}),
        (measured("quasi-periodic", settle_s=5.5), {SETTLES}),
        (measured(whole=WHOLE_MS | {"token-site": 559.0}), {WHOLE, WHOLE_POISSON}),
        (measured(whole=WHOLE_MS | {"rs-symmetric": 560.0}), {WHOLE}),
        (measured(costs=POISSON_COSTS | {"token-site": 0.7}), {WHOLE_POISSON}),
        (measured(costs=POISSON_COSTS | {"dynamic-hybrid": 1.2}), {LITTLE}),
        (measured(costs=POISSON_COSTS | {"dynamic-hybrid": 0.99}), {LITTLE}),
        (measured(costs=POISSON_COSTS | {"rs-symmetric": 1.2}), {MUCH}),
    ],
)
def test_each_claim_can_be_missed(results: Results, expected: set[int]) -> None:
    assert missed(results) == expected


def test_a_table_for_each_source_and_one_of_the_whole_runs() -> None:
    quasi_periodic, poisson, whole = STUDY.tables(measured("poisson", steady_ms=561.0))
    assert quasi_periodic.texts(3) == ["4", "HHHHL", "2.0", "900", "1.0", "550.0", "550.0", "1.000"]
    assert poisson.texts(3)[5:] == ["561.0", "550.0", "1.020"]
    assert whole.texts(0) == ["quasi-periodic", "560.0", "730.0", "1060.0", "5.0"]
    assert whole.best(0) == [1]
