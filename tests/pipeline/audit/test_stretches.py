"""Which blocks a life goes through as it should. Without Spark: blocks are few."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from ordercast.core.trace import JOINS, Kind, TraceRecord
from ordercast.pipeline.audit.stretches import Block, Layout, course_of

LIFE = 1 << 12


def record(index: int, kind: Kind, **columns: Any) -> TraceRecord:
    return TraceRecord(run="r", site=1, incarnation=0, index=index, at_us=0, kind=kind, **columns)


BEGIN = [
    record(0, Kind.VIEW, view=7, members=(0, 1), detail=JOINS),
    record(1, Kind.VIEW, view=7, members=(0, 1), position=0, delivery_index=0),
]


def block(number: int, **changes: Any) -> Block:
    """Four positions; a record each, and no other between."""
    first = 4 * number
    whole = Block(
        life=LIFE,
        block=number,
        index_min=first + 1,
        index_max=first + 4,
        number_min=first,
        number_max=first + 3,
        place_min=first,
        place_max=first + 3,
        view_min=7,
        view_max=7,
        control=1 if number == 0 else 0,
        positioned=4,
        safe=0,
    )
    return replace(whole, **changes)


BLOCKS = [block(number) for number in range(6)]


def suspects(blocks: list[Block], *more: TraceRecord, final: int = 24) -> set[int]:
    return Layout(blocks, {LIFE: course_of([*BEGIN, *more])}, {LIFE: final}, ()).suspects


def with_changed(number: int, **changes: Any) -> list[Block]:
    return [replace(each, **changes) if each.block == number else each for each in BLOCKS]


def test_only_the_block_with_the_view_is_looked_at() -> None:
    assert suspects(BLOCKS) == {0}


@pytest.mark.parametrize(
    "changes",
    [{"place_min": 13}, {"number_min": 13}, {"index_min": 12}],
    ids=["position", "number", "record"],
)
def test_a_block_that_does_not_go_on_is_a_suspect_with_the_one_before(changes: dict[str, int]) -> None:
    assert suspects(with_changed(3, **changes)) == {0, 2, 3}


@pytest.mark.parametrize("changes", [{"view_min": -1}, {"view_min": 8, "view_max": 8}, {"control": 1}])
def test_so_is_one_in_another_view_or_with_more_than_messages(changes: dict[str, int]) -> None:
    assert suspects(with_changed(3, **changes)) == {0, 3}


def test_what_is_not_final_anywhere_is_looked_at() -> None:
    assert suspects(BLOCKS, final=18) == {0, 4, 5}


def test_what_is_retracted_is_looked_at_and_what_comes_after() -> None:
    """Behind a retraction no view is known until one comes up."""
    assert suspects(BLOCKS, record(13, Kind.RETRACT, position=9)) >= {2, 3}


def test_safe_messages_want_one_view_installed_throughout() -> None:
    blocks = with_changed(3, safe=2)
    assert suspects(blocks) == {0}
    assert suspects(blocks, record(15, Kind.VIEW, view=8, members=(0, 1), detail=JOINS)) == {0, 3}


def test_a_life_passes_over_all_others() -> None:
    layout = Layout(BLOCKS, {LIFE: course_of(BEGIN)}, {LIFE: 24}, {3})
    assert layout.quiet() == [(4, 8), (8, 12), (16, 20), (20, 24)]
    stretches = layout.stretches({1: {LIFE: LIFE << 25 | 5}})
    assert [each.end for each in stretches[LIFE]] == [8, 12, 20, 24]
    assert [each.newest for each in stretches[LIFE]] == [{LIFE: 5}, {}, {}, {}]
    assert layout.telling == {LIFE}
    assert list(layout.around(LIFE, 14)) == [3]
