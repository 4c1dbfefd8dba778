"""Two processes, message by message: the runs are the golden ones, and each claim can be missed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import pytest

from ordercast.simulator.scenario import from_table
from ordercast.studies.framework.claims import Verdict
from ordercast.studies.framework.grid import run_grid
from ordercast.studies.framework.results import Entry, Results
from ordercast.studies.framework.study import Size, conduct
from ordercast.studies.two_processes import (
    DRAWN_OFFSET_MS,
    PLAIN,
    PROTOCOLS,
    STUDY,
    SYNCHRONISED,
    scenario,
    sent_ms,
)
from tests.golden.test_golden import HERE as GOLDEN
from tests.golden.test_golden import scenario_of
from tests.studies.made_up import run_result, verdicts

CLAIMS = STUDY.claims
TWO_DELAYS, AS_THEY_COME, A_GAP, MOST = range(4)

A_AT_A = {PLAIN: 180.0, SYNCHRONISED: 120.0}
A_AT_B = {PLAIN: 100.0, SYNCHRONISED: 100.0}
"""How long A's messages wait at A and at B, in ms; those of B take 100 ms."""


def measured(at_a: Mapping[str, float] = A_AT_A, at_b: Mapping[str, float] = A_AT_B) -> Results:
    found = []
    for run in STUDY.grid(Size.NORMAL):
        protocol = str(run.labels["protocol"])
        waits_ms = {"A_ms/a": at_a[protocol], "B_ms/a": at_b[protocol], "A_ms/b": 100.0, "B_ms/b": 100.0}
        course = {f"{name}{number}": wait_ms for name, wait_ms in waits_ms.items() for number in range(100)}
        found.append(Entry(run.labels, run_result(), course))
    return Results(found)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_runs_are_the_golden_ones(protocol: str) -> None:
    golden = scenario_of(GOLDEN / f"{protocol}-two-rates.txt")
    assert from_table(scenario(protocol, DRAWN_OFFSET_MS, golden.duration_s)) == golden


def test_what_the_papers_say_bears_out_every_claim() -> None:
    assert verdicts(CLAIMS, measured()) == [Verdict.REPRODUCED] * len(CLAIMS)


@pytest.mark.parametrize(
    ("results", "missed"),
    [
        (measured(A_AT_A | {PLAIN: 169.0}), {TWO_DELAYS}),
        (measured(at_b=A_AT_B | {PLAIN: 102.0}), {AS_THEY_COME}),
        (measured(A_AT_A | {SYNCHRONISED: 141.0}), {A_GAP}),
        (measured(at_b=A_AT_B | {SYNCHRONISED: 181.0}), {MOST}),
    ],
)
def test_each_claim_can_be_missed(results: Results, missed: set[int]) -> None:
    found = verdicts(CLAIMS, results)
    assert {index for index, verdict in enumerate(found) if verdict is Verdict.MISSED} == missed


def test_a_real_run_knows_every_message_and_can_be_drawn() -> None:
    from matplotlib.figure import Figure

    studied = conduct(STUDY, Size.QUICK, runner=partial(run_grid, workers=1))
    plain = studied.results.where(protocol=PLAIN)
    assert [plain.figure(f"A_ms/a{number}") for number in range(6)] == [0.0, 85.0, 105.0, 125.0, 145.0, 165.0]
    assert [plain.figure(f"ticket/b{number}") for number in range(6)] == [1, 2, 3, 4, 5, 7]
    assert [sent_ms(name, 5) for name in ("a3", "b0", "b2")] == [60, 5, 85]
    (picture,) = STUDY.pictures
    panels = list(Figure().subplots(2, 1))
    picture.draw(panels, studied.results)
    assert "after 175 ms" in panels[0].get_title()
    assert all("b0: 95 ms" in [text.get_text() for text in panel.texts] for panel in panels)
