"""The claims about rate synchronisation, on results that are made up."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from ordercast.studies.framework.claims import Verdict
from ordercast.studies.framework.results import Label, Results
from ordercast.studies.framework.study import Size
from ordercast.studies.rate_synchronisation import STUDY, WAIT_FOR_POISSON, WAIT_FOR_UNIFORM
from tests.studies.made_up import results_of, verdicts

CLAIMS = STUDY.claims
REPRODUCED, DIFFERS, MISSED = Verdict.REPRODUCED, Verdict.DIFFERS, Verdict.MISSED

GAP_MS = 200.0

Labels = Mapping[str, Label]


def on_lines(quasi_periodic: float, poisson: float, in_step: float = 0.5) -> Callable[[Labels], float]:
    """rs-symmetric at D + so many gaps, symmetric at 2·D + 10 ms."""
    gaps = {"quasi-periodic": quasi_periodic, "poisson": poisson, "periodic": in_step}

    def last_ms(labels: Labels) -> float:
        delay_ms = float(labels["delay_ms"])
        if labels["protocol"] == "symmetric":
            return 2 * delay_ms + 10
        return delay_ms + gaps[str(labels["source"])] * GAP_MS

    return last_ms


def measured(last_ms: Callable[[Labels], float]) -> Results:
    return results_of(STUDY, Size.QUICK, last_ms)


def test_the_papers_lines_bear_out_every_claim() -> None:
    assert verdicts(CLAIMS, measured(on_lines(0.5, 1.0))) == [REPRODUCED] * 4


def test_waiting_for_the_slowest_of_four_is_a_difference_that_is_understood() -> None:
    found = measured(on_lines(WAIT_FOR_UNIFORM, WAIT_FOR_POISSON))
    assert verdicts(CLAIMS, found) == [REPRODUCED, REPRODUCED, DIFFERS, DIFFERS]
    assert "0.8·t" in CLAIMS[2].check(found).because
    assert "2.08·t" in CLAIMS[3].check(found).because


def test_other_differences_are_misses() -> None:
    assert verdicts(CLAIMS, measured(on_lines(1.0, 4.0)))[2:] == [MISSED, MISSED]
    assert verdicts(CLAIMS, measured(on_lines(0.2, 0.1)))[2:] == [MISSED, MISSED]


def test_the_explanation_needs_the_sources_in_step_to_meet_the_papers_line() -> None:
    assert verdicts(CLAIMS, measured(on_lines(WAIT_FOR_UNIFORM, 1.0, in_step=0.8)))[2] is MISSED


@pytest.mark.parametrize("phase", ["random", "aligned"])
def test_symmetric_below_two_delays_misses_its_claim(phase: str) -> None:
    expected = on_lines(0.5, 1.0)

    def last_ms(labels: Labels) -> float:
        fast = labels["protocol"] == "symmetric" and labels["phase"] == phase and labels["delay_ms"] == 400
        return 799.0 if fast else expected(labels)

    assert verdicts(CLAIMS, measured(last_ms))[:2] == [MISSED, REPRODUCED]


@pytest.mark.parametrize("phase", ["random", "aligned"])
def test_rate_synchronised_above_a_delay_and_a_gap_misses_its_claim(phase: str) -> None:
    expected = on_lines(0.5, 1.0)

    def last_ms(labels: Labels) -> float:
        slow = labels["estimates"] == "online" and labels["phase"] == phase and labels["delay_ms"] == 400
        return 601.0 if slow else expected(labels)

    assert verdicts(CLAIMS, measured(last_ms))[:2] == [REPRODUCED, MISSED]


def test_known_estimates_are_shown_and_not_judged() -> None:
    expected = on_lines(0.5, 1.0)
    found = measured(lambda labels: 5000.0 if labels["estimates"] == "known" else expected(labels))
    assert verdicts(CLAIMS, found) == [REPRODUCED] * 4


def test_the_papers_lines_stand_beside_our_figures() -> None:
    table = STUDY.tables(measured(on_lines(0.5, 1.0)))[0]
    titles = [column.title for column in table.columns]
    row = dict(zip(titles, table.texts(0), strict=True))
    assert [row[f"paper {line}"] for line in ("D + t/2", "D + t", "2·D")] == ["150", "250", "100"]
    assert row["symmetric"] == "110.0"
