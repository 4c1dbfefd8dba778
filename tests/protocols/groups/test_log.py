"""Positions, what is final, what is kept, and who has sent what."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordercast.core.ids import ViewId
from ordercast.core.messages import Bundle
from ordercast.core.views import View
from ordercast.protocols.groups.log import Base, Log, Sessions, first_difference
from tests.protocols.groups.made import VIEW, A, B, bundle

CONTENTS = st.lists(st.one_of(st.just(VIEW), st.integers(1, 4)), max_size=40)


def filled(contents: list[View | int], retained_positions: int = 10_000) -> Log:
    """A log with these views, and bundles of A with so many messages."""
    log, seq = Log(retained_positions=retained_positions), 0
    for content in contents:
        if isinstance(content, View):
            log.append(content)
        else:
            log.append(bundle(A, seq, bodies=content))
            seq += content
    return log


def test_a_bundle_takes_as_many_positions_as_it_has_messages_and_a_view_takes_one() -> None:
    log = filled([VIEW, 3, 1, VIEW])
    assert [(entry.position, entry.end) for entry in log.entries] == [(0, 1), (1, 4), (4, 5), (5, 6)]
    assert log.length == 6


def test_the_digest_tells_what_was_ordered_and_in_which_order() -> None:
    one, other = Log(), Log()
    for log, order in ((one, (A, B)), (other, (B, A))):
        for site in order:
            log.append(bundle(site, 0))
    assert one.length == other.length
    assert one.digest != other.digest
    assert filled([VIEW, 2]).digest == filled([VIEW, 2]).digest
    assert filled([View(ViewId(2), (A,))]).digest != filled([VIEW]).digest


@given(CONTENTS, st.integers(0, 60), st.integers(1, 9))
def test_a_trimmed_log_knows_of_what_it_keeps_what_a_whole_one_knows(
    contents: list[View | int], final: int, retained_positions: int
) -> None:
    whole, trimmed = filled(contents), filled(contents, retained_positions)
    ends = [0, *(entry.end for entry in whole.entries)]
    final = max(end for end in ends if end <= final)
    trimmed.finalize(final)
    base = trimmed.base.position
    assert final - 2 * retained_positions <= base <= max(0, final - retained_positions + 3)
    assert trimmed.base.digest == whole.digest_at(base)
    assert (trimmed.length, trimmed.digest) == (whole.length, whole.digest)
    for end in ends:
        assert trimmed.digest_at(end) == (whole.digest_at(end) if end >= base else None)
    assert trimmed.slice(base, trimmed.length) == whole.slice(base, whole.length)
    again = Log()
    for entry in whole.slice(0, base):
        again.append(entry.content)
    assert trimmed.sessions_at_base == again.sessions


def test_inside_a_bundle_there_is_no_digest() -> None:
    log = filled([3])
    assert [log.digest_at(position) for position in (1, 2, 4)] == [None, None, None]


def test_what_is_tentative_can_be_truncated_and_what_is_final_cannot() -> None:
    log = filled([VIEW, 1, 1, 1])
    log.finalize(2)
    log.truncate(2)
    assert log.length == 2
    with pytest.raises(AssertionError):
        log.truncate(1)


def test_a_log_begins_anew_with_somebody_elses_order() -> None:
    log = filled([VIEW, 1])
    log.restart_at(Base(40, 4711), Sessions({1: 5}, {2: 6}))
    assert (log.length, log.final, log.digest, log.entries) == (40, 40, 4711, [])
    log.append(bundle(B, 0))
    assert (log.entries[0].position, log.sessions_at_base) == (40, Sessions({1: 5}, {2: 6}))


# --- who has sent what ---


@given(st.lists(st.tuples(st.sampled_from([A, B]), st.integers(0, 1), st.booleans()), max_size=30))
def test_what_comes_twice_is_recognised(sent: list[tuple[int, int, bool]]) -> None:
    """Of each life of each site, for the ordered and for the others by themselves."""
    sessions, next_seq = Sessions(), dict.fromkeys(sent, 0)
    taken: list[tuple[Bundle, bool]] = []
    for origin, life, ordered in sent:
        new = bundle(A if origin == A else B, next_seq[origin, life, ordered], bodies=2, life=life)
        next_seq[origin, life, ordered] += 2
        assert sessions.is_new(new, ordered)
        sessions.take(new, ordered)
        taken.append((new, ordered))
        assert not any(sessions.is_new(*each) for each in taken)


def test_a_copy_does_not_follow() -> None:
    sessions = Sessions()
    copy = sessions.copy()
    sessions.take(bundle(A, 0), ordered=True)
    assert copy == Sessions()


# --- the first difference ---


def test_logs_that_agree_have_no_difference_and_a_longer_one_differs_behind_the_other() -> None:
    whole, short = filled([VIEW, 2, 1]).entries, filled([VIEW, 2]).entries
    assert first_difference(whole, whole) is None
    assert first_difference(short, whole) is None
    assert first_difference(whole, short) == 3
    assert first_difference(whole, []) == 0
    assert first_difference([], whole) is None


def test_the_first_entry_that_is_not_the_same_counts() -> None:
    mine, theirs = filled([VIEW, 1, 1, 1]).entries, filled([VIEW, 1, 2, 1]).entries
    theirs[2] = filled([VIEW, 1, VIEW]).entries[2]
    assert first_difference(mine, theirs) == 2
