"""The coordinator's choice of the next view: who is in, what counts, what must be proposed again."""

from __future__ import annotations

from typing import Any

import msgspec

from ordercast.core.ids import SiteId, ViewId
from ordercast.core.views import View
from ordercast.protocols.membership.choice import Joiner, Promises, can_choose, choose, may_be_decided
from ordercast.protocols.membership.messages import Cut, Floor, Promise, Successor
from tests.layers import sites

A, B, C, D, E = sites(5)
VIEW = View(ViewId(3), (A, B, C, D, E), (0, 0, 1, 0, 0))


def promise(site: SiteId, **different: Any) -> Promise:
    """A running, aligned member that trusts everybody, with ten entries in its log and one message of each."""
    usual = Promise(
        view=VIEW.id,
        ballot=(7, A),
        incarnation=VIEW.incarnation(site) or 0,
        running=True,
        aligned=True,
        closed=False,
        ordered=10,
        digest=1000,
        held=(1, 1, 1, 1, 1),
        accepted=None,
        whole=False,
        suspects=(),
        hears=(A, B, C, D, E),
    )
    return msgspec.structs.replace(usual, **different)


def promises(*of: SiteId, **different: Any) -> Promises:
    return {site: promise(site, **different) for site in of}


def chosen(given: Promises, joiners: dict[SiteId, Joiner] | None = None, leaving: tuple[SiteId, ...] = ()) -> Successor:
    return choose(VIEW, given, joiners or {}, leaving)


def accepted(round_: int, *aligned: SiteId) -> tuple[tuple[int, SiteId], Successor]:
    """A successor that somebody has agreed to."""
    return (round_, B), Successor(View(ViewId(4), (A, B, C)), (), aligned or (A, B, C), None)


# --- whether ---


def test_it_takes_a_quorum_and_in_it_one_that_knows_the_whole_order() -> None:
    assert not can_choose(VIEW, promises(A, B))
    assert can_choose(VIEW, promises(C, D, E))
    assert not can_choose(VIEW, promises(A, B, C, aligned=False))
    assert can_choose(VIEW, {**promises(A, B, aligned=False), C: promise(C)})


def test_of_two_halves_the_one_with_the_lowest_id_is_a_quorum() -> None:
    four = View(ViewId(3), (A, B, C, D))
    assert four.is_quorum((A, D))
    assert not four.is_quorum((B, C))
    assert View(ViewId(3), (B, C)).is_quorum((B,))
    assert not four.is_quorum((A, E))


# --- who ---


def test_who_promised_is_in_with_the_life_in_which_it_did() -> None:
    next_view = chosen({**promises(A, B), C: promise(C, incarnation=4)}).view
    assert next_view == View(ViewId(4), (A, B, C), (0, 0, 4))


def test_who_leaves_is_out() -> None:
    assert chosen(promises(A, B, C, D), leaving=(B,)).view.members == (A, C, D)


def test_if_all_leave_they_stay() -> None:
    assert chosen(promises(A, B, C), leaving=(A, B, C)).view.members == (A, B, C)


def test_who_does_not_get_along_with_lower_ones_is_left_out() -> None:
    given = promises(A, B, C, D)
    given[D] = promise(D, suspects=(B,))
    assert chosen(given).view.members == (A, B, C)
    given = promises(A, B, C, D)
    given[A] = promise(A, suspects=(C,))
    assert chosen(given).view.members == (A, B, D)


def test_but_not_if_the_rest_is_no_quorum() -> None:
    given = promises(A, B, C)
    given[C] = promise(C, suspects=(A,))
    assert chosen(given).view.members == (A, B, C)


def test_nor_if_nobody_else_knows_the_whole_order() -> None:
    given = promises(A, B, C, aligned=False)
    given[D] = promise(D, suspects=(A,))
    assert chosen(given).view.members == (A, B, C, D)


def test_a_joiner_comes_in_if_it_hears_and_is_heard_by_all() -> None:
    given = promises(A, B, C)
    assert chosen(given, {D: Joiner(5, (A, B, C))}).view == View(ViewId(4), (A, B, C, D), (0, 0, 1, 5))
    assert chosen(given, {D: Joiner(5, (A, B))}).view.members == (A, B, C)
    given[B] = promise(B, hears=(A, C))
    assert chosen(given, {D: Joiner(5, (A, B, C))}).view.members == (A, B, C)


# --- what counts ---


def test_the_cut_is_all_that_any_running_member_has() -> None:
    given = {
        A: promise(A, held=(5, 2, 0, 0, 0)),
        B: promise(B, held=(4, 7, 0, 0, 3)),
        C: promise(C, held=(), running=False),
    }
    assert chosen(given).cuts == (Cut(A, 5, A), Cut(B, 7, B), Cut(C, 0, A), Cut(D, 0, A), Cut(E, 3, B))


def test_running_members_with_a_whole_log_hold_the_whole_order() -> None:
    given = {**promises(A, B), C: promise(C, aligned=False), D: promise(D, running=False, held=())}
    successor = chosen(given)
    assert (successor.aligned, successor.floor) == ((A, B), None)


def test_a_restarted_member_with_a_longer_log_has_the_order() -> None:
    """It may hold final entries that no running member has."""
    given = {**promises(A, B), D: promise(D, running=False, held=(), ordered=12, digest=1200)}
    successor = chosen(given)
    assert (successor.aligned, successor.floor) == ((D,), Floor(12, 1200))


def test_a_restarted_member_with_a_shorter_log_does_not() -> None:
    given = {**promises(A, B), D: promise(D, running=False, held=(), ordered=9)}
    assert chosen(given).floor is None


def test_nor_one_whose_log_has_a_hole() -> None:
    given = {**promises(A, B), D: promise(D, running=False, held=(), ordered=12, aligned=False)}
    assert chosen(given).floor is None


def test_after_a_restart_of_all_the_longest_logs_have_the_order() -> None:
    given = {
        A: promise(A, running=False, held=(), ordered=8),
        B: promise(B, running=False, held=(), ordered=11, digest=1100),
        C: promise(C, running=False, held=(), ordered=11, digest=1100),
    }
    successor = chosen(given)
    assert (successor.aligned, successor.floor) == ((B, C), Floor(11, 1100))
    assert successor.cuts == tuple(Cut(site, 0, A) for site in VIEW.members)


def test_of_two_logs_of_one_length_only_one_is_the_order() -> None:
    """Both have closed the view, with different cuts, and restarted."""
    given = {
        A: promise(A, running=False, held=(), ordered=8),
        B: promise(B, running=False, held=(), ordered=11, digest=1100),
        C: promise(C, running=False, held=(), ordered=11, digest=1111),
    }
    successor = chosen(given)
    assert (successor.aligned, successor.floor) == ((B,), Floor(11, 1100))


def test_who_has_closed_the_view_cannot_order_another_cut() -> None:
    given = {**promises(A, B), C: promise(C, closed=True, ordered=14)}
    successor = chosen(given)
    assert (successor.view.members, successor.aligned, successor.floor) == ((A, B, C), (A, B), None)


def test_if_nobody_else_is_left_what_one_has_closed_it_with_is_the_order() -> None:
    given = {
        A: promise(A, running=False, held=(), ordered=9),
        B: promise(B, closed=True, ordered=12, digest=1200),
        C: promise(C, closed=True, ordered=14, digest=1400),
        D: promise(D, aligned=False, ordered=20),
    }
    successor = chosen(given)
    assert (successor.aligned, successor.floor) == ((C,), Floor(14, 1400))


def test_what_a_leaving_member_holds_counts() -> None:
    """Something may be final because it and one that is gone have ordered it."""
    given = {A: promise(A), B: promise(B), C: promise(C, held=(1, 1, 5, 3, 1))}
    assert chosen(given, leaving=(C,)).cuts == (Cut(A, 1, A), Cut(B, 1, A), Cut(C, 5, C), Cut(D, 3, C), Cut(E, 1, A))


def test_a_member_whose_log_is_needed_does_not_leave_yet() -> None:
    given = {**promises(A, B), C: promise(C, running=False, held=(), ordered=12)}
    assert chosen(given, leaving=(C,)).view.members == (A, B, C)
    given = {**promises(A, B, running=False, held=()), C: promise(C, ordered=12)}
    assert chosen(given, leaving=(C,)).view.members == (A, B, C)


# --- what may have been decided ---


def test_what_may_have_been_decided_is_proposed_again() -> None:
    _, old = accepted(3)
    given = {**promises(A, B), C: promise(C, accepted=accepted(3), whole=True)}
    assert chosen(given) == old
    assert chosen({**given, D: promise(D)}, leaving=(B,)) == old


def test_of_several_the_one_under_the_highest_ballot() -> None:
    newer = ((5, C), Successor(View(ViewId(4), (C, D, E)), (), (C, D, E), None))
    given = {A: promise(A, accepted=accepted(3), whole=True), C: promise(C, accepted=newer, whole=True), D: promise(D)}
    assert chosen(given) == newer[1]


def test_without_a_whole_log_behind_it_nothing_was_decided() -> None:
    """Finding 8: all who were to hold the order have answered, and none of them does."""
    _, old = accepted(3, A)
    given = {A: promise(A, accepted=accepted(3, A), whole=False), B: promise(B), C: promise(C)}
    assert not may_be_decided(old, given)
    assert chosen(given) != old


def test_unless_somebody_who_was_to_hold_the_order_has_not_answered() -> None:
    _, old = accepted(3, A, E)
    given = {A: promise(A, accepted=accepted(3, A, E), whole=False), B: promise(B), C: promise(C)}
    assert may_be_decided(old, given)
    assert chosen(given) == old
