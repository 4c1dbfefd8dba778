"""Fifo and causal delivery, virtual synchrony, and agreed messages that follow each other by way of causal ones."""

from __future__ import annotations

from ordercast.core.messages import Level
from tests.verify.group.story import NEXT_VIEW, A, B, C, begun, message

FIFO, CAUSAL = Level.FIFO, Level.CAUSAL
LIVES = {A: 0, B: 0, C: 0}


def test_a_good_run_is_good() -> None:
    story = begun()
    question, answer = message(A, 0, CAUSAL), message(B, 0, CAUSAL)
    story.multicasts(question)
    story.delivers(A, question)
    story.delivers(B, question)
    story.multicasts(answer)
    for site in (A, B):
        story.delivers(site, answer)
    story.delivers(C, question, answer)
    story.enter(NEXT_VIEW, continuing=True)
    assert story.broken == []
    assert story.checker.missing((A, B, C), LIVES) is None


def test_a_message_that_nobody_has_multicast() -> None:
    story = begun()
    story.delivers(B, message(A, 0, FIFO))
    assert story.broken == ["creation"]


def test_messages_of_one_sender_in_another_order_or_twice() -> None:
    first, second = message(A, 0, FIFO), message(A, 1, FIFO)
    for order in ((second, first), (first, first)):
        story = begun()
        story.multicasts(first, second)
        story.delivers(B, *order)
        assert story.broken == ["FIFO or duplication"]


def test_an_answer_before_its_question() -> None:
    story = begun()
    question = message(A, 0, FIFO)
    story.multicasts(question)
    story.delivers(B, question)
    story.multicasts(message(B, 0, CAUSAL))
    story.delivers(C, message(B, 0, CAUSAL))
    assert story.broken == ["causal order"]


def test_a_fifo_answer_may_come_before_its_question() -> None:
    story = begun()
    question = message(A, 0, FIFO)
    story.multicasts(question)
    story.delivers(B, question)
    story.multicasts(message(B, 0, FIFO))
    story.delivers(C, message(B, 0, FIFO))
    assert story.broken == []


def test_an_agreed_answer_before_a_causal_question() -> None:
    story = begun()
    question, answer = message(A, 0, CAUSAL), message(B, 0, past=(1, 0, 0))
    story.multicasts(question)
    story.delivers(B, question)
    story.multicasts(answer)
    story.orders(C, answer)
    assert story.broken == ["causal order"]


# --- virtual synchrony ---


def test_who_go_together_must_have_delivered_the_same() -> None:
    story = begun()
    story.multicasts(message(A, 0, FIFO))
    story.delivers(A, message(A, 0, FIFO))
    story.enter(NEXT_VIEW, A, B, continuing=True)
    assert story.broken == ["virtual synchrony"]


def test_who_comes_from_outside_need_not() -> None:
    story = begun()
    story.multicasts(message(A, 0, FIFO))
    story.delivers(A, message(A, 0, FIFO))
    story.enter(NEXT_VIEW, A, continuing=True)
    story.enter(NEXT_VIEW, B)
    assert story.broken == []


def test_a_message_that_its_own_site_has_not_delivered() -> None:
    story = begun()
    story.multicasts(message(A, 0, CAUSAL))
    story.delivers(B, message(A, 0, CAUSAL))
    missing = story.checker.missing((A, B, C), LIVES)
    assert missing == "self-inclusion: message 0 of A has not been delivered to its own site"


# --- agreed after causal after agreed ---


def test_an_agreed_message_before_one_that_it_follows_by_way_of_a_causal_one() -> None:
    """Finding 5."""
    agreed, causal, follower = message(A, 0), message(A, 1, CAUSAL), message(B, 0)
    for order, broken in (((agreed, follower), []), ((follower, agreed), ["mixed levels"])):
        story = begun()
        story.multicasts(agreed, causal)
        story.delivers(B, causal)
        story.multicasts(follower)
        story.orders(C, *order)
        story.finalizes(C)
        assert story.broken == broken


def test_after_a_break_nothing_is_promised_of_that() -> None:
    story = begun()
    story.multicasts(message(A, 0), message(A, 1, CAUSAL))
    story.delivers(B, message(A, 1, CAUSAL))
    story.multicasts(message(B, 0))
    story.enter(NEXT_VIEW, C)
    story.orders(C, message(B, 0), message(A, 0))
    story.finalizes(C)
    assert story.broken == []
