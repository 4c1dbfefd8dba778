"""The claims about detectors and policies, on results that are made up."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from ordercast.studies.detectors_and_policies import NINE, STUDY, TOWNS
from ordercast.studies.framework.claims import Verdict
from ordercast.studies.framework.results import Label, Results
from ordercast.studies.framework.study import Size
from tests.studies.made_up import results_of, verdicts

CLAIMS = STUDY.claims
TOGETHER, ONE_BY_ONE, PAPERS, REGULAR = range(4)

USUAL = {"mean-shift": 660.0, "ewma": 630.0, "cusum": 600.0, "kalman": 605.0}


def measured(*changes: tuple[dict[str, Label], float]) -> Results:
    """A forecast saves a little; with these labels the latency is changed by this factor."""

    def last_ms(labels: Mapping[str, Label]) -> float:
        latency = USUAL[str(labels["detector"])] * (0.99 if labels["policy"] == "least-latency" else 1.0)
        for where, factor in changes:
            latency *= factor if where.items() <= labels.items() else 1.0
        return latency

    return results_of(STUDY, Size.QUICK, last_ms)


def test_what_is_expected_bears_out_every_claim() -> None:
    assert verdicts(CLAIMS, measured()) == [Verdict.REPRODUCED] * len(CLAIMS)


@pytest.mark.parametrize(
    ("where", "factor", "missed"),
    [
        ({"detector": "cusum", "policy": "least-latency", "load": NINE}, 1.07, {TOGETHER}),
        (
            {"detector": "cusum", "policy": "pairwise", "load": NINE, "source": "quasi-periodic"},
            1.06,
            {TOGETHER, REGULAR},
        ),
        ({"detector": "cusum", "policy": "pairwise", "load": TOWNS, "source": "quasi-periodic"}, 1.1, {ONE_BY_ONE}),
        ({"detector": "cusum", "policy": "least-latency", "load": TOWNS, "seed": 2}, 1.4, {ONE_BY_ONE}),
        ({"detector": "mean-shift", "source": "poisson", "load": NINE}, 0.9, {PAPERS}),
        ({"detector": "kalman", "source": "quasi-periodic", "load": NINE, "policy": "pairwise"}, 1.02, {REGULAR}),
    ],
)
def test_each_claim_can_be_missed(where: dict[str, Label], factor: float, missed: set[int]) -> None:
    found = verdicts(CLAIMS, measured((where, factor)))
    assert {index for index, verdict in enumerate(found) if verdict is Verdict.MISSED} == missed


def test_the_time_to_settle_is_told_where_all_change_together() -> None:
    nine, towns, _ = STUDY.tables(measured())
    assert len(nine.columns) == len(towns.columns) + 2
    assert nine.texts(5)[:4] == ["cusum", "least-latency", "594", "594"]


def test_seeds_stand_side_by_side_where_sites_change_one_by_one() -> None:
    slow_with_two: dict[str, Label] = {"detector": "cusum", "policy": "least-latency", "seed": 2, "source": "poisson"}
    *_, by_seed = STUDY.tables(measured((slow_with_two, 2.0)))
    assert [by_seed.texts(row)[-1] for row in range(6)] == ["1.01", "1.01", "1.01", "1.01", "0.51", "1.01"]
