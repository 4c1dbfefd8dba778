"""Answers to what has been retracted: which may come up before it, and which not."""

from __future__ import annotations

from ordercast.core.deliveries import Entered, Finalized
from ordercast.core.ids import ViewId
from ordercast.core.messages import Level
from ordercast.core.views import View
from tests.verify.group.story import NEXT_VIEW, A, B, C, Story, begun, message

QUESTION, ANSWER, LATER, OTHER = message(B, 0), message(C, 0), message(C, 1), message(A, 0)
CAUSAL = message(C, 2, Level.CAUSAL)
WITHOUT_B = View(ViewId(2), (A, C))
WITH_B_AGAIN = View(ViewId(3), (A, B, C))


def after_a_break() -> Story:
    """Who retracts has come to its view from outside: the check of mixed levels has nothing to say from then on."""
    story = begun()
    story.checker.mixed.on_break()
    return story


def retracted() -> Story:
    """C delivers what B asks and answers that, then has to take it back; A has ordered something else there."""
    story = after_a_break()
    story.multicasts(QUESTION, OTHER)
    story.orders(C, QUESTION)
    story.multicasts(ANSWER)
    story.retracts(C, 1)
    story.orders(A, OTHER)
    return story


def test_an_answer_behind_its_question() -> None:
    story = retracted()
    story.orders(A, QUESTION, ANSWER)
    story.finalizes(A)
    assert story.broken == []


def test_an_answer_before_its_question_though_that_was_retracted() -> None:
    story = retracted()
    story.orders(A, ANSWER, QUESTION)
    story.finalizes(A)
    assert story.broken == ["causal order"]


def test_a_later_message_of_the_same_site_is_an_answer_too() -> None:
    story = retracted()
    story.multicasts(LATER)
    story.orders(A, ANSWER, LATER, QUESTION)
    story.finalizes(A)
    assert story.broken == ["causal order", "causal order"]


def test_what_was_multicast_before_the_question_was_shown_is_no_answer() -> None:
    story = after_a_break()
    story.multicasts(QUESTION, ANSWER)
    story.orders(C, QUESTION)
    story.retracts(C, 1)
    story.orders(A, ANSWER, QUESTION)
    story.finalizes(A)
    assert story.broken == []


def test_a_question_of_somebody_who_was_away() -> None:
    story = retracted()
    story.enter(WITHOUT_B, A)
    story.orders(A, ANSWER)
    story.enter(WITH_B_AGAIN, A)
    story.orders(A, QUESTION)
    story.finalizes(A)
    assert story.broken == []


def test_an_answer_that_came_up_as_the_view_was_closed_without_the_question() -> None:
    story = retracted()
    story.orders(A, ANSWER)
    story.enter(WITHOUT_B, A)
    story.enter(WITH_B_AGAIN, A)
    story.orders(A, QUESTION)
    story.finalizes(A)
    assert story.broken == []


def test_a_question_of_somebody_who_was_a_member_throughout() -> None:
    story = retracted()
    story.orders(A, ANSWER)
    story.enter(NEXT_VIEW, A)
    story.orders(A, QUESTION)
    story.finalizes(A)
    assert story.broken == ["causal order"]


def test_what_is_retracted_may_never_come_up() -> None:
    story = retracted()
    story.orders(A, ANSWER)
    story.finalizes(A)
    assert story.broken == []


def test_who_answers_a_causal_message_follows_what_its_site_has_retracted() -> None:
    for views, broken in (((NEXT_VIEW,), []), ((NEXT_VIEW, WITH_B_AGAIN), ["causal order"])):
        story = after_a_break()
        story.multicasts(QUESTION)
        story.orders(C, QUESTION)
        story.checker.on_group(0, C, Entered(WITH_B_AGAIN, False))
        story.retracts(C, 1)
        story.multicasts(CAUSAL)
        for view in views:
            story.enter(view, A)
        story.delivers(A, CAUSAL)
        story.multicasts(OTHER)
        story.orders(A, OTHER, QUESTION)
        story.finalizes(A)
        assert story.broken == broken


def test_a_new_life_has_retracted_nothing() -> None:
    story = after_a_break()
    story.multicasts(QUESTION)
    story.orders(C, QUESTION)
    story.tells(C, Finalized(1))
    story.retracts(C, 1)
    story.checker.on_recover(0, C, 1)
    story.multicasts(ANSWER)
    story.orders(A, ANSWER, QUESTION)
    story.finalizes(A)
    assert story.broken == []
