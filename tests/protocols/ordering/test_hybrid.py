"""Static hybrid ordering."""

from __future__ import annotations

from typing import Any

import pytest

from ordercast.core.effects import Note
from ordercast.core.ids import SiteId, Ticket
from ordercast.protocols.ordering.messages import Data
from tests.protocols.group import Group, tickets


def hybrid(*active: int, count: int = 3, **options: Any) -> Group:
    return Group("hybrid", count, active=tuple(map(SiteId, active)), **options)


def test_passive_sites_have_the_nearest_active_one_for_a_sequencer() -> None:
    assert hybrid(0, 1).layer(2).sequencers == {0: 0, 1: 1, 2: 0}
    assert [hybrid(1).layer(site).active for site in range(3)] == [False, True, False]


def test_tickets_for_a_passive_site_wait_for_a_message_of_its_sequencer() -> None:
    group = hybrid(0)
    b0 = group.multicast(1)
    group.arrive(1, 0)
    assert group.under_way(0, 2) == []
    assert group.members[0].delivered == [], "not even the sequencer counts on a ticket that has not left"
    a0 = group.multicast(0)
    (data,) = group.under_way(0, 2)
    assert isinstance(data, Data)
    assert [message for _, message in data.issued] == [b0]
    group.settle()
    assert group.delivered() == [[b0, a0]] * 3


def test_with_flush_they_leave_at_once() -> None:
    group = hybrid(0, flush=True)
    b0 = group.multicast(1)
    group.arrive(1, 0)
    assert group.under_way(0, 2) == [tickets(1, (1, b0))]
    group.settle()
    assert group.delivered() == [[b0]] * 3


def test_the_drain_lets_waiting_tickets_go() -> None:
    group = hybrid(0, 1)
    group.multicast(2)
    group.multicast(1)
    group.settle()
    assert group.members[2].delivered == []
    group.flush()
    group.settle()
    assert [len(delivered) for delivered in group.delivered()] == [2, 2, 2]
    assert len({tuple(delivered) for delivered in group.delivered()}) == 1


def test_active_sites_merge_their_tickets() -> None:
    group = hybrid(0, 1)
    c0 = group.multicast(2)
    group.arrive(2, 0)
    group.multicast(0)
    group.arrive(0, 2)
    assert group.members[2].delivered == [c0], "B may still issue a smaller ticket than that of A's own message"
    assert group.layer(2).waiting_for().site == 1
    group.multicast(1)
    group.flush()
    group.settle()
    assert len({tuple(delivered) for delivered in group.delivered()}) == 1


def test_a_sequencer_releases_nothing_past_its_own_tickets_under_way() -> None:
    """The ticket for C's message has not left A, so B's message with a larger ticket must wait at A, too."""
    group = hybrid(0, 1)
    group.multicast(2)
    group.arrive(2, 0)
    b0 = group.multicast(1)
    group.arrive(1, 0)
    assert group.members[0].delivered == []
    group.multicast(0)
    assert b0 in group.members[0].delivered


def test_every_site_says_which_ticket_it_has_issued() -> None:
    group = hybrid(0)
    b0 = group.multicast(1)
    group.arrive(1, 0)
    assert group.members[0].notes == [Note("ticket", b0, Ticket(1))]
    assert group.members[1].notes == []


def test_a_passive_sites_message_carries_the_ticket_that_it_has_heard_of() -> None:
    group = hybrid(0, 1)
    group.multicast(1)
    (data,) = group.under_way(1, 2)
    group.arrive(1, 2)
    group.multicast(2)
    assert group.under_way(2, 0)[0].ticket >= data.ticket


@pytest.mark.parametrize("flush", [True, False])
def test_with_one_active_site_it_is_a_token_site(flush: bool) -> None:
    group, token = hybrid(0, flush=flush), Group("token-site")
    for each in (group, token):
        for site in (1, 2, 0, 2, 1, 0):
            each.multicast(site)
            each.settle()
        each.flush()
        each.settle()
    assert group.delivered() == token.delivered()


def test_without_option_the_papers_heuristic_assigns_the_roles() -> None:
    """All sites are as fast as each other, and nearer to their own next message than to any other site."""
    assert all(Group("hybrid").layer(0).sequencers[site] == site for site in range(3))
