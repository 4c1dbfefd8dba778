"""What holds for every study there is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import pytest
from msgspec.structs import replace

from ordercast.core.errors import WrongUse
from ordercast.simulator.observer import MakeMeasure
from ordercast.simulator.scenario import from_table
from ordercast.studies.framework.grid import Point, Ran, run_grid
from ordercast.studies.framework.receipts import Receipts
from ordercast.studies.framework.study import Size, Study, all_studies, conduct, find, judge
from tests.studies.made_up import results_of

STUDIES = all_studies()
IN_THIS_PROCESS = partial(run_grid, workers=1)
EVERY_STUDY = pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)


NAMES = [
    "complex-scenario",
    "crash",
    "detectors-and-policies",
    "losses",
    "nine-scenarios",
    "rate-synchronisation",
    "scenarios-in-sequence",
    "sequencer-crash",
    "thirty-processes",
    "two-processes",
]


def test_every_study_is_there() -> None:
    assert [study.name for study in STUDIES] == NAMES


def test_a_study_is_found_by_its_name() -> None:
    assert find("nine-scenarios", STUDIES).source.startswith("hybrid report")
    with pytest.raises(WrongUse, match="no study 'ten-scenarios': expected one of complex-scenario, crash, "):
        find("ten-scenarios", STUDIES)


@EVERY_STUDY
@pytest.mark.parametrize("size", list(Size))
def test_every_run_of_a_grid_is_a_scenario_with_labels_of_its_own(study: Study, size: Size) -> None:
    runs = study.grid(size)
    for run in runs:
        scenario = from_table(run.scenario)
        assert scenario.protocol.name == run.labels["protocol"]
        assert scenario.seed == run.labels["seed"]
    assert len({tuple(sorted(run.labels.items(), key=str)) for run in runs}) == len(runs)


@EVERY_STUDY
def test_quick_is_smaller_than_normal(study: Study) -> None:
    assert len(study.grid(Size.QUICK)) < len(study.grid(Size.NORMAL)) <= len(study.grid(Size.FULL))


@EVERY_STUDY
@pytest.mark.parametrize("size", list(Size))
def test_every_size_checks_every_claim(study: Study, size: Size) -> None:
    judged = judge(study, size, results_of(study, size, lambda labels: 100.0))
    assert len(judged.outcomes) == len(study.claims) + 1
    for claim, found in judged.outcomes:
        assert "nan" not in found.measured, claim.text


@EVERY_STUDY
def test_every_size_fills_every_cell(study: Study) -> None:
    for size in Size:
        for table in judge(study, size, results_of(study, size, lambda labels: 100.0)).tables:
            assert table.rows
            assert all("–" not in table.texts(row) for row in range(len(table.rows)))


@EVERY_STUDY
def test_a_claim_about_a_figure_of_the_papers_says_what_is_published(study: Study) -> None:
    for claim in study.claims:
        assert bool(claim.published) == ("report" in claim.source or "short paper" in claim.source), claim.text


@EVERY_STUDY
def test_a_figure_that_was_not_measured_bears_out_no_claim(study: Study) -> None:
    judged = judge(study, Size.QUICK, results_of(study, Size.QUICK, lambda labels: None))
    missed = [found.verdict.name for _, found in judged.outcomes[:-1]]
    assert missed == ["MISSED"] * len(study.claims)
    assert not judged.good


@EVERY_STUDY
def test_every_picture_can_be_drawn_and_names_its_axes(study: Study) -> None:
    from matplotlib.figure import Figure

    found = results_of(study, Size.FULL, lambda labels: 100.0)
    for picture in study.pictures:
        assert picture.applies(found)
        panels = list(Figure().subplots(picture.rows, picture.columns, squeeze=False).flat)
        picture.draw(panels, found)
        assert all(panel.lines or panel.patches for panel in panels)
        assert panels[0].get_ylabel()
        assert panels[-1].get_xlabel() or all(text.get_text() for text in panels[-1].get_xticklabels())


def test_pictures_of_all_studies_have_names_of_their_own() -> None:
    names = [picture.name for study in STUDIES for picture in study.pictures]
    assert len(set(names)) == len(names)


def test_progress_is_told_run_by_run() -> None:
    study = shortened(find("nine-scenarios", STUDIES), 3)
    told: list[tuple[int, int]] = []
    conduct(study, Size.QUICK, runner=IN_THIS_PROCESS, on_progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_whatever_runs_the_grid_is_given_the_measure_and_may_answer_in_any_order() -> None:
    study = replace(shortened(find("sequencer-crash", STUDIES), 3), claims=())
    given: list[MakeMeasure | None] = []

    def backwards(points: Sequence[Point], measure: MakeMeasure | None) -> Iterator[tuple[int, Ran]]:
        given.append(measure)
        yield from reversed(list(IN_THIS_PROCESS(points, measure)))

    usual, other = (conduct(study, Size.QUICK, runner=runner) for runner in (IN_THIS_PROCESS, backwards))
    assert given == [Receipts]
    assert [entry.labels for entry in other.results.entries] == [entry.labels for entry in usual.results.entries]
    assert [entry.result for entry in other.results.entries] == [entry.result for entry in usual.results.entries]


def shortened(study: Study, runs: int) -> Study:
    """The same study with few and short runs, and without claims and tables."""
    few = study.grid(Size.QUICK)[:runs]
    short = [replace(run, scenario={**run.scenario, "duration_s": 0.5, "warmup_s": 0.0}) for run in few]
    return replace(study, grid=lambda size: short, tables=lambda results: [], claims=())
