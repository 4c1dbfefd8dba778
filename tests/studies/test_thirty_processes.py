"""The claims about thirty processes, on results that are made up."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from ordercast.studies.framework.claims import Verdict
from ordercast.studies.framework.results import Label, Results
from ordercast.studies.framework.study import Size
from ordercast.studies.thirty_processes import STUDY
from tests.studies.made_up import results_of, verdicts

CLAIMS = STUDY.claims
REPRODUCED, DIFFERS, MISSED = Verdict.REPRODUCED, Verdict.DIFFERS, Verdict.MISSED

Labels = Mapping[str, Label]


def on_lines(delays: float = 2.0, gaps: float = 1.0) -> Callable[[Labels], float]:
    """The token site at so many delays, rs-symmetric at D + so many gaps of 100 ms."""

    def last_ms(labels: Labels) -> float:
        delay_ms = float(labels["delay_ms"])
        return delays * delay_ms if labels["protocol"] == "token-site" else delay_ms + gaps * 100

    return last_ms


def measured(last_ms: Callable[[Labels], float]) -> Results:
    return results_of(STUDY, Size.NORMAL, last_ms)


def test_the_papers_lines_bear_out_every_claim() -> None:
    found = measured(on_lines())
    assert verdicts(CLAIMS, found) == [REPRODUCED] * 3
    assert CLAIMS[2].check(found).measured == "they cross at D = 100 ms"


@pytest.mark.parametrize("delays", [1.7, 2.3])
def test_a_token_site_off_two_delays_misses_its_claim(delays: float) -> None:
    assert verdicts(CLAIMS, measured(on_lines(delays=delays)))[0] is MISSED


def test_faster_than_the_papers_symmetric_is_a_difference_that_is_understood() -> None:
    assert verdicts(CLAIMS, measured(on_lines(gaps=0.5))) == [REPRODUCED, DIFFERS, REPRODUCED]


@pytest.mark.parametrize("gaps", [0.1, 2.6])
def test_symmetric_far_off_its_line_misses_its_claim(gaps: float) -> None:
    assert verdicts(CLAIMS, measured(on_lines(gaps=gaps)))[1] is MISSED


def test_one_seed_is_enough_to_miss() -> None:
    expected = on_lines()

    def last_ms(labels: Labels) -> float:
        slow = labels["seed"] == 2 and labels["delay_ms"] == 150 and labels["estimates"] != "known"
        return expected(labels) * 2 if slow else expected(labels)

    assert verdicts(CLAIMS, measured(last_ms)) == [MISSED, MISSED, REPRODUCED]


@pytest.mark.parametrize("gaps", [0.1, 5.0])
def test_lines_that_do_not_cross_miss_their_claim(gaps: float) -> None:
    assert verdicts(CLAIMS, measured(on_lines(gaps=gaps)))[2] is MISSED
