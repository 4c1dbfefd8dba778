"""Options of the source: what is understood, and what is said of the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from ordercast.core.errors import WrongUse
from ordercast.pipeline.streaming.options import COLUMNS, ReadOptions


def test_what_is_not_said_has_a_default() -> None:
    options = ReadOptions.of({"path": "here"})
    assert options == ReadOptions(path=Path("here").absolute())
    assert options.columns == COLUMNS
    assert [options.tasks_for(positions) for positions in (0, 1, 50_000, 50_001, 500_000)] == [1, 1, 1, 2, 10]


def test_names_are_taken_as_spark_gives_them() -> None:
    given = {"path": "/p", "StartingPosition": "Latest", "maxpositionsperbatch": "10", "numTasks": "3"}
    given |= {"ROWS": "messages"}
    options = ReadOptions.of(given | {"columns": "kind, position,kind", "start": "5", "stop": "9", "group": "orders"})
    assert options == ReadOptions(
        path=Path("/p"), starting_position="latest", batch_positions_max=10, tasks=3, rows="messages",
        columns=("kind", "position"), start=5, stop=9, group="orders",
    )  # fmt: skip
    assert [options.tasks_for(positions) for positions in (0, 1, 2, 500_000)] == [1, 1, 2, 3]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "say which log to read"),
        ({"path": "p", "begin": "3"}, "there is no option 'begin'; expected one of path, start, "),
        ({"path": "p", "start": "latest"}, "start is 'latest'; expected a position or earliest"),
        (
            {"path": "p", "startingPosition": "-1"},
            "startingPosition is '-1'; expected a position or earliest or",
        ),
        ({"path": "p", "numTasks": "0"}, "numTasks is '0'; expected a number from 1 on"),
        ({"path": "p", "rows": "some"}, "rows is 'some'; expected one of all, messages"),
        ({"path": "p", "columns": "kind,colour"}, "columns is 'colour'; expected one of position, entry, "),
    ],
)
def test_a_mistake_is_answered_by_what_was_expected(given: dict[str, str], said: str) -> None:
    with pytest.raises(WrongUse, match=f"^{said}"):
        ReadOptions.of(given)
