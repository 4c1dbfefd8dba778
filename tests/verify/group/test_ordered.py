"""Positions, finality, views in the order, safe delivery: what is a violation and what is not."""

from __future__ import annotations

import pytest

from ordercast.core.deliveries import Delivered, Diverged, Finalized, Logged, Snapshot, Truncated
from ordercast.core.entries import Entry
from ordercast.core.messages import Level
from tests.verify.group.story import NEXT_VIEW, A, B, C, Story, begun, message

M, N = message(A, 0), message(B, 0)


def ordering(*sites: int, resilience: int = 0) -> Story:
    """M and N are multicast; these sites order both, in this order."""
    story = begun(resilience)
    story.multicasts(M, N)
    for site in (A, B, C):
        if site in sites:
            story.orders(site, M, N)
    return story


def test_a_good_run_is_good() -> None:
    story = ordering(A, B, C)
    for site in (A, B, C):
        story.finalizes(site)
    story.enter(NEXT_VIEW, continuing=True)
    assert story.broken == []
    assert story.checker.missing((A, B, C), {A: 0, B: 0, C: 0}) is None


def test_a_position_left_out_in_the_log() -> None:
    story = begun()
    story.multicasts(M)
    story.tells(A, Logged(Entry(2, 3, M, 0)))
    assert story.broken == ["positions"]


def test_a_position_shown_too_early_or_twice() -> None:
    story = begun()
    story.multicasts(M, N)
    story.logs_only(A, M)
    story.logs_only(A, N)
    story.tells(A, Delivered(N, 2, False))
    assert story.broken == ["positions"]
    story = ordering(A)
    story.tells(A, Delivered(M, 1, False))
    assert story.broken == ["positions"]


def test_something_else_shown_than_logged() -> None:
    story = begun()
    story.multicasts(M, N)
    story.logs_only(A, M)
    story.tells(A, Delivered(N, 1, False))
    assert story.broken == ["positions"]


def test_a_message_that_nobody_has_multicast() -> None:
    story = begun()
    story.orders(A, M)
    assert story.broken == ["creation"]


def test_two_orders_before_one_view() -> None:
    story = ordering(A)
    story.orders(B, N, M)
    story.enter(NEXT_VIEW, A, B)
    assert story.broken == ["view agreement"]


# --- finality ---


def test_two_final_orders() -> None:
    story = ordering(A)
    story.orders(B, N, M)
    story.finalizes(A)
    assert story.broken == []
    story.finalizes(B)
    assert story.broken == ["finality", "finality"]


def test_something_final_taken_back() -> None:
    story = ordering(A)
    story.finalizes(A)
    story.tells(A, Truncated(1))
    assert story.broken == ["finality"]


def test_something_tentative_taken_back_is_no_violation() -> None:
    story = ordering(A, B)
    story.finalizes(B)
    story.retracts(A, 1)
    story.orders(A, M, N)
    story.finalizes(A)
    assert story.broken == []


@pytest.mark.parametrize("below", [1, 9])
def test_final_is_never_less_than_before_nor_more_than_is_logged(below: int) -> None:
    story = ordering(A)
    story.tells(A, Finalized(2), Finalized(below))
    assert story.broken == ["finality"]


def test_a_snapshot_that_goes_back_behind_what_is_final() -> None:
    story = ordering(A)
    story.finalizes(A)
    story.tells(A, Snapshot(2, b""))
    assert story.broken == ["finality"]


def test_a_digest_alarm() -> None:
    story = begun()
    story.tells(A, Diverged(7, B))
    assert story.broken == ["digest alarm"]


# --- in the one final order ---


def test_messages_of_one_sender_in_another_order_or_twice() -> None:
    for seqs in ((1, 0), (0, 0)):
        story = begun()
        story.multicasts(message(A, 0), message(A, 1))
        story.orders(A, *(message(A, seq) for seq in seqs))
        story.finalizes(A)
        assert story.broken == ["FIFO or duplication"]


def test_an_answer_before_its_question() -> None:
    story = begun()
    story.multicasts(M)
    story.orders(B, M)
    story.multicasts(N)
    story.orders(A, N, M)
    story.finalizes(A)
    assert story.broken == ["causal order", "mixed levels"]


def test_a_message_that_nobody_has_given_a_final_position() -> None:
    story = ordering(A, B, C)
    missing = story.checker.missing((A, B, C), {A: 0, B: 0, C: 0})
    assert missing == "validity: message 0 of A has no final position"
    assert story.checker.missing((B, C), {A: 0, B: 1, C: 0}) is None


# --- safe ---

S = message(A, 0, Level.SAFE)


@pytest.mark.parametrize(("resilience", "enough"), [(0, 2), (1, 2), (2, 3)])
def test_safe_takes_enough_members(resilience: int, enough: int) -> None:
    for holders in (1, 2, 3):
        story = begun(resilience)
        story.multicasts(S)
        for site in (A, B, C)[:holders]:
            story.logs_only(site, S)
        story.finalizes(A)
        story.tells(A, Delivered(S, 1, True))
        assert story.broken == ([] if holders >= enough else ["safe delivery"])


def test_safe_before_it_is_final() -> None:
    story = begun()
    story.multicasts(S)
    for site in (A, B, C):
        story.logs_only(site, S)
    story.tells(A, Delivered(S, 1, True))
    assert story.broken == ["safe delivery"]


def held_by_a_and_a_snapshot(position: int) -> Story:
    """A has S at position 1, and it is final; C begins with a snapshot."""
    story = begun()
    story.multicasts(S)
    story.logs_only(A, S)
    story.finalizes(A)
    story.tells(C, Snapshot(position, b""))
    return story


@pytest.mark.parametrize(("position", "broken"), [(1, ["safe delivery"]), (2, []), (3, [])])
def test_who_begins_with_a_snapshot_holds_what_is_below_it(position: int, broken: list[str]) -> None:
    story = held_by_a_and_a_snapshot(position)
    story.tells(A, Delivered(S, 1, True))
    assert story.broken == broken


def test_a_snapshot_holds_nothing_but_the_final_order() -> None:
    other, story = message(B, 0, Level.SAFE), held_by_a_and_a_snapshot(2)
    story.multicasts(other)
    story.logs_only(B, other)
    story.finalizes(B)
    story.tells(B, Delivered(other, 1, True))
    assert story.broken == ["finality", "safe delivery"]


# --- lives ---


def test_a_new_life_is_shown_again_what_was_not_final() -> None:
    story = ordering(A)
    story.tells(A, Finalized(2))
    story.checker.on_recover(0, A, 1)
    story.tells(A, Delivered(N, 2, False))
    assert story.broken == []
    story.tells(A, Delivered(M, 1, False))
    assert story.broken == ["positions"]


def test_after_a_snapshot_positions_go_on_from_there() -> None:
    story = ordering(A, B)
    story.tells(C, Snapshot(3, b""))
    story.checker.on_multicast(0, B, message(B, 1))
    story.tells(C, Logged(Entry(3, 4, message(B, 1), 0)), Delivered(message(B, 1), 3, False))
    assert story.broken == []
