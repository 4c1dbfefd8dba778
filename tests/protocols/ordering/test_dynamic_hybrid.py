"""Dynamic hybrid ordering: each kind of switch, by itself and crossing others."""

from __future__ import annotations

from typing import Any

import pytest

from ordercast.core.entries import RoleChange
from ordercast.core.events import FromBelow, Now, TimerFired, ViewInstalled
from ordercast.core.ids import SiteId, ViewId
from ordercast.core.views import View
from ordercast.protocols.ordering.configuration import Descriptor, Envelope, Going, Probe, Reassign
from ordercast.protocols.ordering.dynamic_hybrid import CONSIDER_US, TENURE_US
from ordercast.protocols.ordering.messages import Echo
from tests.protocols.group import Group

A, B, C = SiteId(0), SiteId(1), SiteId(2)


def dynamic(*active: int, count: int = 3, policy: str = "restless", **options: Any) -> Group:
    """A group whose sites switch whenever they consider their roles."""
    group = Group("dynamic-hybrid", count, active=tuple(map(SiteId, active)), policy=policy, **options)
    group.at(TENURE_US)
    return group


def phases(group: Group) -> list[str]:
    return [member.layer.phase for member in group.members]


def decisions(group: Group, site: int) -> list[str]:
    return [note.detail.split(":")[0] for note in group.members[site].notes if note.detail is not None]


def settled_in_one_order(group: Group) -> bool:
    group.settle()
    group.flush()
    group.settle()
    return len({tuple(delivered) for delivered in group.delivered()}) == 1


def test_a_group_starts_with_everybody_active_or_with_those_given() -> None:
    assert phases(dynamic()) == ["active"] * 3
    group = dynamic(0)
    assert phases(group) == ["active", "passive", "passive"]
    assert group.layer(1).sequencer == Descriptor(A, 0)


def test_a_site_goes_active_where_its_switch_is_delivered() -> None:
    group = dynamic(0, flush=True)
    group.wake(1)
    assert phases(group)[1] == "to-active"
    (envelope,) = group.under_way(1, 0)
    assert envelope.content == Going(B, 0, True)
    assert envelope.sequencer == Descriptor(A, 0)
    group.settle()
    assert [member.roles for member in group.members] == [[RoleChange(B, True)]] * 3
    assert [member.layer.configuration.actives for member in group.members] == [(A, B)] * 3


def test_what_is_sent_during_a_switch_has_no_sequencer_and_is_ordered_afterwards() -> None:
    group = dynamic(0, flush=True)
    before = group.multicast(1)
    group.wake(1)
    meanwhile = group.multicast(1)
    assert [envelope.sequencer for envelope in group.under_way(1, 2)] == [Descriptor(A, 0), Descriptor(A, 0), None]
    group.settle()
    after = group.multicast(1)
    assert settled_in_one_order(group)
    assert group.members[2].delivered == [before, meanwhile, after]


def test_a_new_active_site_issues_only_above_the_ticket_of_its_switch() -> None:
    group = dynamic(0, flush=True)
    group.wake(1)
    group.settle()
    switched = group.layer(0).merge.horizons[B]
    group.multicast(1)
    assert group.under_way(1, 0)[0].ticket > switched > 0


def test_a_site_that_leaves_stops_issuing_and_asks_the_closest() -> None:
    group = dynamic(0, 1, flush=True)
    group.wake(0)
    assert phases(group)[0] == "to-passive"
    group.multicast(2)
    group.arrive(2, 0)
    assert not any(getattr(each, "issued", ()) for each in group.under_way(0, 1))
    group.settle()
    assert phases(group) == ["passive", "active", "passive"]
    assert group.layer(0).sequencer == Descriptor(B, 0)
    assert settled_in_one_order(group)


def test_who_had_it_for_a_sequencer_reassigns_what_has_no_ticket() -> None:
    group = dynamic(0, 1, flush=True)
    group.wake(0)
    c0 = group.multicast(2)
    group.settle()
    assert decisions(group, 2) == ["reassigned"]
    assert group.layer(2).sequencer == Descriptor(B, 0)
    assert group.delivered() == [[c0]] * 3


def test_who_has_another_sequencer_reassigns_nothing() -> None:
    group = dynamic(0, 1, count=4, flush=True)
    group.wake(2)  # C changes its sequencer from A to B
    group.settle()
    assert group.layer(2).sequencer == Descriptor(B, 0)
    group.wake(0)
    group.multicast(2)
    group.multicast(3)
    group.settle()
    assert "reassigned" not in decisions(group, 2)
    assert "reassigned" in decisions(group, 3)
    assert settled_in_one_order(group)


def test_a_sequencer_changes_only_when_the_old_one_has_ordered_everything() -> None:
    group = dynamic(0, 1, flush=True)
    c0 = group.multicast(2)
    group.wake(2)
    c1 = group.multicast(2)
    assert phases(group)[2] == "changing-sequencer"
    assert [envelope.sequencer for envelope in group.under_way(2, 0)] == [Descriptor(A, 0), None]
    group.settle()
    assert phases(group)[2] == "passive"
    assert group.layer(2).sequencer == Descriptor(B, 0)
    assert settled_in_one_order(group)
    assert group.members[0].delivered == [c0, c1]


def test_the_last_active_site_stays_and_does_not_try_again() -> None:
    group = dynamic(0, 1, flush=True)
    group.wake(0)
    group.wake(1)
    group.settle()
    assert phases(group) == ["passive", "active", "passive"]
    assert decisions(group, 1) == ["to passive", "aborted"]
    assert group.members[2].roles == [RoleChange(A, False)]
    group.at(3 * TENURE_US)
    group.wake(1)
    assert phases(group)[1] == "active"
    group.wake(0)  # goes active again: a new configuration
    group.settle()
    group.wake(1)
    group.settle()
    assert phases(group)[:2] == ["active", "passive"]


def test_what_was_assigned_to_a_site_that_had_to_stay_is_ordered_then() -> None:
    group = dynamic(0, 1, flush=True)
    group.wake(2)  # C asks B
    group.settle()
    group.wake(0)
    group.wake(1)
    c0 = group.multicast(2)
    group.arrive(2, 1)
    assert group.layer(1).assigned[c0] == Descriptor(B, 0), "B is about to leave, and issues nothing"
    group.settle()
    assert decisions(group, 1)[-1] == "aborted"
    assert group.delivered() == [[c0]] * 3


def test_a_sequencer_in_another_role_does_not_order() -> None:
    group = dynamic(0, 1, flush=True)
    envelope = Envelope(Going(C, 0, True), Descriptor(A, 7), group.layer(2).issuer.clock.value)
    group.members[0].handle(FromBelow(C, envelope))
    assert group.layer(0).assigned == {envelope.content.id: Descriptor(A, 7)}
    assert not group.layer(0).issuer.unsent


def test_a_reassigned_message_that_has_a_ticket_already_gets_no_second_one() -> None:
    group = dynamic(0, 1, flush=True)
    c0 = group.multicast(2)
    group.arrive(2, 0)
    issued = sum(note.message == c0 for note in group.members[0].notes)
    group.members[0].handle(FromBelow(C, Reassign((c0,), Descriptor(A, 0), group.layer(0).issuer.clock.value)))
    assert issued == sum(note.message == c0 for note in group.members[0].notes) == 1


def test_a_view_begins_with_the_roles_of_the_order() -> None:
    group = dynamic(0, 1)
    for member in group.members:
        member.handle(ViewInstalled(View(ViewId(2), (A, B, C)), actives=(C,)))
    assert phases(group) == ["passive", "passive", "active"]
    assert [member.layer.sequencer for member in group.members[:2]] == [Descriptor(C, 0)] * 2


@pytest.mark.parametrize("flush", [True, False])
def test_an_end_of_traffic_ends_the_switching(flush: bool) -> None:
    group = dynamic(0, flush=flush)
    assert group.members[1].timers
    group.flush()
    assert not any(member.timers for member in group.members)


def test_a_silent_site_asks_for_echoes_all_the_same() -> None:
    group = Group("dynamic-hybrid", online=True)
    group.at(CONSIDER_US)
    group.wake(2)
    assert [type(message) for message in group.under_way(2, 0)] == [Probe]
    group.at(CONSIDER_US + 40_000)
    group.arrive(2, 0)
    (echo,) = group.under_way(0, 2)
    assert isinstance(echo, Echo)
    group.arrive(0, 2)
    assert group.layer(2).estimates.delay_from_us(A) == 20_000


def test_a_site_that_never_sends_goes_passive() -> None:
    """It holds up everybody, and knows no gap of its own: its silence tells."""
    group = Group("dynamic-hybrid", online=True, policy="pairwise")
    layer = group.layer(2)
    layer.estimates.echoed(A, 20_000)
    now = Now(TENURE_US + CONSIDER_US, 0, 0)
    layer.handle(TimerFired("consider"), now, group.members[2])
    assert layer.phase == "to-passive"
