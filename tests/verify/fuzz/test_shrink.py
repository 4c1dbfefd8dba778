"""Shrinking on predicates whose smallest failing list is known."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ordercast.simulator.chooser import RecordingChooser, ReplayingChooser
from ordercast.verify.fuzz import shrink as module
from ordercast.verify.fuzz.campaign import chooser_of
from ordercast.verify.fuzz.draw import Draw, drawn_from
from ordercast.verify.fuzz.drawn import without_trailing_zeros
from ordercast.verify.fuzz.shrink import shrink, shrink_case

PICKS = st.lists(st.integers(0, 9), max_size=40)


@given(PICKS)
def test_what_always_fails_shrinks_to_nothing(picks: list[int]) -> None:
    assert shrink(picks, lambda _: True) == []


@given(PICKS, st.integers(1, 9))
def test_one_large_pick_is_enough(picks: list[int], least: int) -> None:
    assert shrink([*picks, 9], lambda each: any(pick >= least for pick in each)) == [least]


def test_a_pair_at_a_distance_comes_together() -> None:
    picks = [4, 1, 1, 7, 2, 0, 0, 3, 9, 5, 5, 5]

    def fails(each: list[int]) -> bool:
        return 7 in each and 9 in each[each.index(7) :]

    assert shrink(picks, fails) == [7, 9]


def test_a_pick_that_must_stay_where_it_is_keeps_zeros_before_it() -> None:
    picks = [5, 3, 8, 6, 2, 9, 4]
    assert shrink(picks, lambda each: len(each) > 4 and each[4] >= 2) == [0, 0, 0, 0, 2]


def test_a_long_tail_that_does_not_matter_is_cut_in_few_runs() -> None:
    runs = []

    def fails(each: list[int]) -> bool:
        runs.append(each)
        return each[:2] == [1, 1]

    assert shrink([1, 1, *[3] * 5000], fails) == [1, 1]
    assert len(runs) < 50


@given(PICKS)
def test_the_result_fails_and_is_no_larger(picks: list[int]) -> None:
    def fails(each: list[int]) -> bool:
        return sum(each) % 7 == sum(picks) % 7

    smaller = shrink(picks, fails)
    assert fails(smaller)
    assert len(smaller) <= len(picks)
    assert sum(smaller) <= sum(picks)


def test_the_search_ends_though_there_is_more_to_try() -> None:
    runs = []

    def fails(each: list[int]) -> bool:
        runs.append(each)
        return len(each) >= 2000

    assert len(shrink([1] * 4000, fails)) >= 2000
    assert len(runs) <= module.RUNS_MAX


def test_zeros_at_the_end_say_nothing() -> None:
    assert without_trailing_zeros([0, 1, 0, 0]) == [0, 1]
    assert without_trailing_zeros([0, 0]) == []


# --- cases, by whole things ---


def picks_of(seed: int) -> list[int]:
    recording = RecordingChooser(chooser_of(seed))
    Draw(recording).case()
    return recording.picks


@given(st.integers(0, 2000))
def test_thing_by_thing_is_the_same_case(seed: int) -> None:
    drawn = drawn_from(picks_of(seed))
    assert Draw(ReplayingChooser(drawn.picks())).case() == Draw(chooser_of(seed)).case()
    assert drawn_from(drawn.picks()) == drawn


@given(st.lists(st.integers(0, 1 << 17), max_size=60))
def test_what_is_past_its_range_is_kept_as_it_counts(picks: list[int]) -> None:
    tidied = drawn_from(picks).picks()
    assert Draw(ReplayingChooser(tidied)).case() == Draw(ReplayingChooser(picks)).case()
    assert len(tidied) <= len(picks)
    assert all(mine <= given for mine, given in zip(tidied[:3], picks, strict=False))


def crashes(picks: list[int]) -> bool:
    return any(fault["kind"] == "crash" for fault in Draw(ReplayingChooser(picks)).case().table["fault"])


CRASHES = [seed for seed in range(120) if crashes(picks_of(seed))]


def test_cases_are_brought_down_to_what_matters_in_few_runs() -> None:
    runs: list[list[int]] = []

    def fails(picks: list[int]) -> bool:
        runs.append(picks)
        return crashes(picks)

    for seed in CRASHES:
        small = shrink_case(picks_of(seed), fails, enough=9)
        assert crashes(small)
        assert len(small) <= 9
    assert len(runs) <= 10 * len(CRASHES)


def test_nothing_is_tried_twice() -> None:
    runs: list[tuple[int, ...]] = []

    def fails(picks: list[int]) -> bool:
        runs.append(tuple(picks))
        return crashes(picks)

    shrink_case(picks_of(CRASHES[0]), fails)
    assert len(set(runs)) == len(runs)


def test_with_nothing_said_to_be_enough_single_picks_are_lowered_too() -> None:
    assert shrink_case(picks_of(CRASHES[0]), crashes) == [0, 0, 0, 0, 1]
