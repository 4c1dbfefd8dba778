"""What is known of runs before their messages are looked at. Without Spark: views are few."""

from __future__ import annotations

from ordercast.core.trace import JOINS, Kind, TraceRecord
from ordercast.pipeline.audit.known import Life, Run, Runs


def view(site: int, members: tuple[int, ...], size: int | None = None, number: int = 1) -> TraceRecord:
    return TraceRecord(
        run="r",
        site=site,
        incarnation=0,
        index=0,
        at_us=0,
        kind=Kind.VIEW,
        view=number,
        members=members,
        size=size,
        detail=JOINS,
    )


def runs(*records: TraceRecord) -> Runs:
    return Runs(r=Run(lives={each.site: Life(course=[each]) for each in records}))


def test_the_members_of_a_view_are_those_of_whom_all_tell() -> None:
    found = runs(view(0, (0, 1), 2), view(1, (0, 1), 2))
    assert found.members() == [("r", 1, 0, 2), ("r", 1, 1, 2)]
    assert found.sites() == [("r", 0), ("r", 1)]


def test_a_view_told_in_two_ways_has_none_that_are_sure() -> None:
    found = runs(view(0, (0, 1, 2)), view(1, (0, 1)))
    assert found.members() == []
    assert found.sites() == [("r", 0), ("r", 1)]


def test_nor_has_one_that_wants_more_holders_than_it_has_members() -> None:
    assert runs(view(0, (0,), 2), view(1, (0,), 1)).members() == []


def test_each_view_counts_by_itself() -> None:
    found = runs(view(0, (0, 1), 2), view(2, (2,), 1, number=2))
    assert [row[1:3] for row in found.members()] == [(1, 0), (1, 1), (2, 2)]


def test_what_is_looked_for_is_what_is_there() -> None:
    found = runs(view(0, (0,)))
    assert [found.have_unordered, found.have_retracted, found.have_safe] == [False, False, False]
    found["r"].lives[0].unordered = 3
    assert found.have_unordered
