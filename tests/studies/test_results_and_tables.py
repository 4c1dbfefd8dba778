"""Finding results by their labels, and tables as people and programs read them."""

from __future__ import annotations

import math

from ordercast.studies.framework.results import Entry, Results, lowest
from ordercast.studies.framework.tables import Column, Table, cell_text, cell_value
from tests.studies.made_up import results, run_result


def test_results_are_found_by_their_labels() -> None:
    found = results([({"protocol": "a", "seed": 1}, 10.0), ({"protocol": "b", "seed": 1}, 30.0)])
    assert found.last_ms(protocol="b") == 30.0
    assert found.limit_ms(protocol="b") == 50.0
    assert len(found.where(seed=1).entries) == 2
    assert found.where(protocol="a", seed=2).entries == ()


def test_seeds_are_averaged() -> None:
    found = results([({"protocol": "a", "seed": seed}, latency) for seed, latency in ((1, 10.0), (2, 20.0), (3, 60.0))])
    assert found.last_ms(protocol="a") == 30.0


def test_a_figure_that_any_run_lacks_is_not_a_number() -> None:
    found = Results([Entry({"seed": 1}, run_result(10.0)), Entry({"seed": 2}, run_result(None))])
    assert math.isnan(found.last_ms())
    assert math.isnan(found.last_ms(seed=3))
    assert found.last_ms(seed=1) == 10.0


def test_distinct_labels_keep_the_order_of_the_grid() -> None:
    found = results([({"delay_ms": delay}, 1.0) for delay in (400, 20, 400, 100)])
    assert found.distinct("delay_ms") == [400, 20, 100]


def test_the_lowest_of_figures_with_a_gap_is_a_gap() -> None:
    assert lowest([3.0, 1.0, 2.0]) == 1.0
    assert math.isnan(lowest([1.0, math.nan]))
    assert math.isnan(lowest([math.nan, 1.0]))


TABLE = Table(
    "a title",
    (Column("place"), Column("first", 1), Column("second", 1)),
    [("x", 1.26, 1.31), ("x", 2.0, math.nan), ("y", math.nan, None)],
    compared=(1, 2),
    section_by=0,
)


def test_cells_show_the_digits_of_their_column() -> None:
    assert TABLE.texts(0) == ["x", "1.3", "1.3"]
    assert TABLE.texts(1) == ["x", "2.0", "–"]
    assert cell_text(7, Column("count", 2)) == "7"
    assert cell_text(0.12345, Column("ratio", 3)) == "0.123"


def test_figures_that_look_the_same_are_both_the_best() -> None:
    assert TABLE.best(0) == [1, 2]
    assert TABLE.best(1) == [1]
    assert TABLE.best(2) == []


def test_a_section_begins_where_its_column_changes() -> None:
    assert [TABLE.begins_section(row) for row in range(3)] == [False, False, True]


def test_programs_get_numbers_or_nothing() -> None:
    assert cell_value(1.23456, Column("first", 1)) == 1.235
    assert cell_value(math.nan, Column("first", 1)) is None
    assert cell_value("x", Column("place")) == "x"
