"""One door for all chance: seeded, recorded, replayed."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from ordercast.simulator.chooser import RecordingChooser, ReplayingChooser, SeededChooser

questions = st.lists(st.integers(1, 1 << 30), max_size=30)


@given(st.integers() | st.text(), questions)
def test_a_seed_gives_the_same_answers_again(seed: int | str, options: list[int]) -> None:
    one, other = SeededChooser(seed), SeededChooser(seed)
    answers = [one.pick(each) for each in options]
    assert answers == [other.pick(each) for each in options]
    assert all(0 <= answer < each for answer, each in zip(answers, options, strict=True))


def test_seeds_differ_and_answers_are_even() -> None:
    counts = Counter(SeededChooser(seed).pick(8) for seed in range(8000))
    assert sorted(counts) == list(range(8))
    assert all(850 < count < 1150 for count in counts.values())


@given(st.integers(0, 1 << 40), questions)
def test_what_is_recorded_can_be_replayed(seed: int, options: list[int]) -> None:
    recorder, alone = RecordingChooser(SeededChooser(seed)), SeededChooser(seed)
    answers = [recorder.pick(each) for each in options]
    assert recorder.picks == answers == [alone.pick(each) for each in options]
    replay = ReplayingChooser(recorder.picks)
    assert [replay.pick(each) for each in options] == answers
    assert replay.used == len(options)


def test_past_the_end_the_tamest_choice_is_taken() -> None:
    replay = ReplayingChooser([3, 1])
    assert [replay.pick(4) for _ in range(5)] == [3, 1, 0, 0, 0]
    assert replay.used == 5


def test_a_number_too_large_for_its_question_counts_as_the_largest() -> None:
    replay = ReplayingChooser([99, 2, 7])
    assert [replay.pick(10), replay.pick(2), replay.pick(1)] == [9, 1, 0]
