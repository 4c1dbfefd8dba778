"""Planted bugs of which no seed among the first 500 is known: for each a directed test, which fails with it inside."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from ordercast.simulator.chooser import ReplayingChooser
from tests.protocols.groups import test_lives
from tests.protocols.links import test_over_streams, test_reliable
from tests.protocols.membership import test_choice, test_coordination
from tests.verify.fuzz.making import failure_of
from tests.verify.fuzz.planted import BUGS


def _holds_in_a_case(picks: list[int]) -> None:
    """A case that a later seed has given, or one of these when the draw was another."""
    assert failure_of(ReplayingChooser(picks)) is None


SHOWN: dict[str, Callable[[], None]] = {
    "retransmission is tried once only": (
        test_reliable.test_before_anything_is_measured_a_lost_frame_goes_again_after_the_first_timeout_and_then_ever_later
    ),
    "frames for an earlier life are taken": (
        test_over_streams.test_a_site_that_has_restarted_says_so_once_and_gets_nothing_meant_for_its_earlier_life
    ),
    "promise is not kept": test_coordination.test_a_promise_outlives_the_life_that_has_made_it,
    "lower ballot is accepted": test_coordination.test_nothing_is_agreed_to_under_a_lower_ballot_than_was_promised,
    "accepted successor is ignored by the next coordinator": (
        test_coordination.test_what_another_coordinator_may_have_had_decided_is_proposed_again
    ),
    "decided once the coordinator agrees": partial(
        test_coordination.test_it_takes_a_quorum_to_decide_though_nobody_else_can_be_heard, [test_coordination.A], False
    ),
    "restarted member counts as aligned": test_choice.test_of_two_logs_of_one_length_only_one_is_the_order,
    "messages of the old view are thrown away at once": (
        test_coordination.test_members_that_are_late_get_what_they_lack_of_the_view_before
    ),
    "unstable bundles are forgotten": (
        test_lives.test_what_the_view_that_went_on_without_this_site_may_have_lost_is_multicast_again
    ),
    "log with a hole counts for finality": test_lives.test_a_log_with_a_hole_tells_others_nothing,
    "ack of another life is accepted": test_reliable.test_an_acknowledgement_meant_for_an_earlier_life_says_nothing,
    "view is decided without a whole log": partial(
        test_coordination.test_without_the_whole_order_among_those_who_promise_nothing_is_proposed, False
    ),
    "nobody sees that a member has stopped": partial(
        test_coordination.test_a_member_that_has_stopped_or_does_not_hear_us_is_a_reason_to_change_it,
        test_coordination.alive(stopped=True),
    ),
    "view is closed with a successor of a ballot that is over": (
        test_coordination.test_a_view_is_not_closed_with_a_successor_of_a_ballot_that_is_over
    ),
    "sessions are counted from the start of the view though the log is not": (
        test_lives.test_who_has_sent_what_is_known_though_the_log_begins_later_than_the_view
    ),
    "stable as soon as one other has it": partial(
        _holds_in_a_case, [3, 2, 0, 0, 3, 22, 1, 3, 1, 127, 0, 1, 2, 42, 3, 16]
    ),
    "snapshot makes a site forget what it has delivered": partial(
        _holds_in_a_case, [2, 0, 0, 7, 2, 1, 4, 3, 0, 2, 13, 1, 0, 1, 44]
    ),
    "answers do not wait for what others tell first": partial(
        _holds_in_a_case, [7, 0, 0, 15, 0, 0, 0, 0, 0, 2, 0, 1, 1, 8, 2, 0, 2, 6, 3, 247]
    ),
    "restarted site makes its own log final": test_lives.test_a_life_that_has_not_been_in_a_view_makes_nothing_final,
}


@pytest.mark.parametrize("name", SHOWN)
def test_with_the_bug_inside_its_test_fails(name: str) -> None:
    (bug,) = (bug for bug in BUGS if bug.name == name)
    with bug.plant(), pytest.raises(AssertionError):
        SHOWN[name]()
    SHOWN[name]()
