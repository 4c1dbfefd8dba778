"""The coordinator: when a successor is decided, and what makes it begin a change."""

from __future__ import annotations

import pytest

from ordercast.core.effects import Effects
from ordercast.core.events import Now
from ordercast.core.ids import SiteId, ViewId
from ordercast.core.views import View
from ordercast.protocols.membership import coordination, succession
from ordercast.protocols.membership.acceptor import Acceptor
from ordercast.protocols.membership.coordination import Proposal
from ordercast.protocols.membership.messages import Accept, Accepted, Alive, Ballot, Cut, Prepare, Promise, Successor
from ordercast.protocols.membership.traffic import Traffic
from ordercast.protocols.membership.view_synchrony import ViewSynchrony
from tests.layers import sites

A, B, C = sites(3)
VIEW = View(ViewId(1), (A, B, C))
NOW = Now(1_000, 1_000, 0)
WITHOUT_B = Successor(View(ViewId(2), (A, C)), (), (A, C), None)
BALLOT: Ballot = (3, A)


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
    """Finding 13: the member still lacks a message of the cut; then it promises a higher ballot."""
    local, out = member(C), Effects()
    successor = Successor(View(ViewId(2), (A, C)), (Cut(A, 1, A),), (A, C), None)
    succession.on_accept(local, A, Accept(VIEW.id, BALLOT, successor), NOW, out)
    before = local.closing
    succession.on_prepare(local, B, Prepare(VIEW.id, (4, B)), NOW, out)
    assert (before, local.closing, local.phase) == ((BALLOT, successor), None, "stopped")


@pytest.mark.parametrize("holds", [True, False])
def test_without_the_whole_order_among_those_who_promise_nothing_is_proposed(holds: bool) -> None:
    """Finding 8: they are a quorum, but who holds the order is not there."""
    local = member()
    promises = {
        site: Promise(VIEW.id, BALLOT, 0, True, holds, False, 0, 0, (0, 0, 0), None, False, (), (A, B, C))
        for site in (A, B, C)
    }
    local.proposal = Proposal(BALLOT, 0, promises)
    coordination.try_to_choose(local, NOW, Effects())
    assert (local.proposal.successor is not None) == holds
    assert local.blocked != holds
