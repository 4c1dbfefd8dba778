"""The coordinator: when a successor is decided, and what makes it begin a change."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from ordercast.core.effects import Effects, Save, Send
from ordercast.core.events import Now
from ordercast.core.ids import SiteId, ViewId
from ordercast.core.views import View
from ordercast.protocols.links.frames import Unreliable
from ordercast.protocols.membership import coordination, succession
from ordercast.protocols.membership.acceptor import Acceptor
from ordercast.protocols.membership.coordination import Proposal
from ordercast.protocols.membership.messages import (
    Accept,
    Accepted,
    Alive,
    Ballot,
    Cut,
    Prepare,
    Promise,
    Refuse,
    Successor,
    Supply,
    Want,
)
from ordercast.protocols.membership.traffic import Traffic
from ordercast.protocols.membership.view_synchrony import ViewSynchrony
from tests.layers import sites

A, B, C = sites(3)
VIEW = View(ViewId(1), (A, B, C))
NOW = Now(1_000, 1_000, 0)
WITHOUT_B = Successor(View(ViewId(2), (A, C)), (), (A, C), None)
BALLOT: Ballot = (3, A)
LONG_US = 1 << 40
"""After so much silence everybody is suspected."""


def member(me: SiteId = A) -> ViewSynchrony[str]:
    """A running, aligned member of the view."""
    local = ViewSynchrony.start(me, 0, (A, B, C), 0, None)
    local.acceptor = Acceptor(VIEW, aligned=True)
    local.traffic = Traffic.of(VIEW)
    local.running, local.phase = True, "open"
    return local


def alive(*, stopped: bool = False, view: View = VIEW, suspects: tuple[SiteId, ...] = ()) -> Alive:
    return Alive(0, view, 0, 0, 0, (), suspects, (A, B, C), joining=False, leaving=False, stopped=stopped)


def needs_change(**of_b: Alive) -> bool:
    local = member()
    local.alives = {B: of_b.get("b", alive()), C: alive()}
    return coordination.needs_change(local, coordination.present(local, 1_000), 1_000)


def test_a_view_that_is_as_it_should_be_is_left_alone() -> None:
    assert not needs_change()


@pytest.mark.parametrize("heartbeat", [alive(stopped=True), alive(suspects=(A,))], ids=["stopped", "deaf"])
def test_a_member_that_has_stopped_or_does_not_hear_us_is_a_reason_to_change_it(heartbeat: Alive) -> None:
    assert needs_change(b=heartbeat)


def test_whoever_stopped_in_an_earlier_view_is_none() -> None:
    assert not needs_change(b=alive(stopped=True, view=View(ViewId(0), (A, B, C))))


@pytest.mark.parametrize(("sender", "vouches"), [(A, True), (B, False), (C, True)])
def test_only_who_is_to_hold_the_order_can_vouch_for_it(sender: SiteId, vouches: bool) -> None:
    """Else the next coordinator, who asks those only, could take for undecided what was decided."""
    local = member()
    local.proposal = Proposal(BALLOT, 0, successor=WITHOUT_B)
    coordination.on_accepted(local, sender, Accepted(VIEW.id, BALLOT, True), NOW, Effects())
    assert local.proposal is not None
    assert (local.proposal.accepted, local.proposal.whole) == ([sender], vouches)


def test_a_view_is_not_closed_with_a_successor_of_a_ballot_that_is_over() -> None:
    """Finding 17: the member still lacks a message of the cut; then it promises a higher ballot."""
    local, out = member(C), Effects()
    successor = Successor(View(ViewId(2), (A, C)), (Cut(A, 1, A),), (A, C), None)
    succession.on_accept(local, A, Accept(VIEW.id, BALLOT, successor), NOW, out)
    before = local.closing
    succession.on_prepare(local, B, Prepare(VIEW.id, (4, B)), NOW, out)
    assert (before, local.closing, local.phase) == ((BALLOT, successor), None, "stopped")


def promise(**different: Any) -> Promise:
    """A running, aligned member that trusts everybody."""
    usual = Promise(VIEW.id, BALLOT, 0, True, True, False, 0, 0, (0, 0, 0), None, False, (), (A, B, C))
    return replace(usual, **different)


@pytest.mark.parametrize("holds", [True, False])
def test_without_the_whole_order_among_those_who_promise_nothing_is_proposed(holds: bool) -> None:
    """Finding 8: they are a quorum, but who holds the order is not there."""
    local = member()
    local.proposal = Proposal(BALLOT, 0, dict.fromkeys((A, B, C), promise(aligned=holds)))
    coordination.try_to_choose(local, NOW, Effects())
    assert (local.proposal.successor is not None) == holds
    assert local.blocked != holds


def test_what_another_coordinator_may_have_had_decided_is_proposed_again() -> None:
    local = member()
    agreed = promise(accepted=((2, B), WITHOUT_B), whole=True)
    local.proposal = Proposal(BALLOT, 0, {A: promise(), B: promise(), C: agreed})
    coordination.try_to_choose(local, NOW, Effects())
    assert local.proposal.successor == WITHOUT_B


@pytest.mark.parametrize(("agreed", "decided"), [([A], False), ([A, C], True)])
def test_it_takes_a_quorum_to_decide_though_nobody_else_can_be_heard(agreed: list[SiteId], decided: bool) -> None:
    local, out = member(), Effects()
    local.proposal = Proposal(BALLOT, 0, successor=WITHOUT_B, accepted=agreed, whole=True)
    coordination.try_to_decide(local, Now(LONG_US, LONG_US, 0), out)
    told = [each.to for each in out.list if isinstance(each, Send) and isinstance(each.message, Unreliable)]
    assert told == ([B, C] if decided else [])


# --- what a member may agree to ---


def test_a_promise_outlives_the_life_that_has_made_it() -> None:
    local, out = member(C), Effects()
    succession.on_prepare(local, A, Prepare(VIEW.id, BALLOT), NOW, out)
    saved = [each.value for each in out.list if isinstance(each, Save)]
    assert [ViewSynchrony.start(C, 1, (A, B, C), 0, value).acceptor.promised for value in saved] == [BALLOT]


def test_nothing_is_agreed_to_under_a_lower_ballot_than_was_promised() -> None:
    local, out = member(C), Effects()
    succession.on_prepare(local, B, Prepare(VIEW.id, (4, B)), NOW, out)
    succession.on_accept(local, A, Accept(VIEW.id, BALLOT, WITHOUT_B), NOW, out)
    assert (local.acceptor.promised, local.closing) == ((4, B), None)
    assert Send(A, Unreliable(Refuse(VIEW.id, (4, B)))) in out.list


def test_members_that_are_late_get_what_they_lack_of_the_view_before() -> None:
    local, out = member(), Effects()
    local.previous = Traffic.of(View(ViewId(0), (A, B, C)))
    local.previous.senders[B].take(1, "late")
    succession.on_want(local, C, Want(ViewId(0), B, 0, 1), out)
    assert out.list == [Send(C, Unreliable(Supply(ViewId(0), B, 1, ("late",))))]
