"""The claims about fourteen sites in five towns, on results that are made up."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from ordercast.studies.complex_scenario import CHANGING, PUBLISHED_MS, STUDY
from ordercast.studies.framework.claims import Verdict
from ordercast.studies.framework.five_towns import LASTS_S, SITES, changing_traffic
from ordercast.studies.framework.results import Label, Results
from ordercast.studies.framework.study import Size
from tests.studies.made_up import results_of, verdicts

CLAIMS = STUDY.claims
AVERAGE, BEST, PLACE, TOKEN, SYMMETRIC, DYNAMIC = range(6)


def measured(**changes: float) -> Results:
    """As published, with the token from a tenth better to a tenth worse; or changed, by protocol or by place."""

    def last_ms(labels: Mapping[str, Label]) -> float:
        published = PUBLISHED_MS[str(labels["load"])]
        protocol, token = str(labels["protocol"]), str(labels["token"])
        name = {"dynamic-hybrid": "hybrid", "rs-symmetric": "symmetric"}.get(protocol, protocol)
        factor = {"lis1": 0.9, "bos1": 1.1}.get(token, 1.0) * changes.get(token or protocol.replace("-", "_"), 1.0)
        return published[name] * factor

    return results_of(STUDY, Size.QUICK, last_ms)


def test_what_was_published_bears_out_every_claim() -> None:
    assert verdicts(CLAIMS, measured()) == [Verdict.REPRODUCED] * len(CLAIMS)


@pytest.mark.parametrize(
    ("changes", "missed"),
    [
        ({"lis1": 0.6}, {BEST}),
        ({"lis1": 1.2, "bos1": 0.95}, {PLACE}),
        ({"symmetric": 0.7}, {SYMMETRIC}),
        ({"dynamic_hybrid": 1.2}, {TOKEN, DYNAMIC}),
        ({"hybrid": 1.7, "dynamic_hybrid": 1.7}, {AVERAGE, BEST, TOKEN, SYMMETRIC}),
    ],
)
def test_each_claim_can_be_missed(changes: dict[str, float], missed: set[int]) -> None:
    found = verdicts(CLAIMS, measured(**changes))
    assert {index for index, verdict in enumerate(found) if verdict is Verdict.MISSED} == missed


def test_ratios_stand_beside_those_published() -> None:
    latencies, beside, ratios = STUDY.tables(measured())
    assert latencies.texts(2)[:3] == ["changing", "none", "753"]
    assert [beside.texts(row)[2::2] for row in range(3)] == [
        ["647", "1034", "1839"],
        ["727", "1034", "1096"],
        ["753", "1010", "2211"],
    ]
    assert beside.texts(2)[1::2] == ["753", latencies.texts(2)[5], "2211"]
    assert ratios.texts(0) == ["poisson", "1.44", "1.76", "1.60", "2.84", "2.84", "2.84"]
    assert [ratios.texts(row)[3] for row in range(3)] == ["1.60", "1.42", "1.34"]


def test_rates_change_all_the_time_and_the_same_way_for_one_seed() -> None:
    entries = changing_traffic(1, 60.0)
    for site in SITES:
        mine = [entry for entry in entries if entry["sites"] == [site]]
        assert [entry["until_s"] for entry in mine] == [*(entry["from_s"] for entry in mine[1:]), 60.0]
        assert mine[0]["from_s"] == 0
        assert all(entry["until_s"] - entry["from_s"] >= LASTS_S[0] - 0.1 for entry in mine[:-1])
    assert len({entry["rate"] for entry in entries}) == 6
    assert entries == changing_traffic(1, 60.0) != changing_traffic(2, 60.0)


def test_every_run_with_changing_rates_of_a_seed_has_the_same_traffic() -> None:
    runs = [run for run in STUDY.grid(Size.QUICK) if run.labels["load"] == CHANGING]
    assert all(run.scenario["traffic"] == runs[0].scenario["traffic"] for run in runs)
