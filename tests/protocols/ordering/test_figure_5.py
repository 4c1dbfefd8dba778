"""The runs of findings 20 to 23, where Figure 5 is wrong or silent: with its rule planted, and with ours."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from unittest.mock import patch

import pytest

from ordercast.core.effects import Out
from ordercast.core.events import Now
from ordercast.core.ids import MessageId
from ordercast.protocols.ordering import deciding
from ordercast.protocols.ordering.configuration import Going
from ordercast.protocols.ordering.dynamic_hybrid import TENURE_US, DynamicHybrid
from tests.protocols.group import Group
from tests.protocols.ordering.test_dynamic_hybrid import decisions, dynamic, phases, settled_in_one_order
from tests.verify.fuzz.bugs_in_switching import aborted_switch_counts_as_one

Rule = AbstractContextManager[object]


def ours() -> Rule:
    """Nothing is planted."""
    return nullcontext()


def all_that_can_be_released_is_released_before_a_switch_takes_effect() -> Rule:
    """What comes after goingToActive may have to wait for tickets of the new active site."""

    def broken(self: DynamicHybrid, now: Now, out: Out) -> None:
        released = []
        while self.merge.tickets:
            ticket = self.merge.tickets[0][0]
            content = self.merge.release()
            if content is None:
                break
            released.append((content, ticket))
        for content, ticket in released:
            self.deliver(content, ticket, now, out)

    return patch.object(DynamicHybrid, "release", broken)


def passive_site_reassigns_whoever_leaves() -> Rule:
    """Its own sequencer may have tickets under way for the same messages."""

    def broken(self: DynamicHybrid, going: Going, now: Now, out: Out) -> None:
        self.on_switched(going, out)
        if self.phase == "closing":
            return
        if going.site == self.me:
            self.be_passive(self.closest_active(), now, out)
        elif not self.is_active:
            self.reassign(now, out)

    return patch.object(DynamicHybrid, "on_passive", broken)


def tries_are_numbered_like_roles() -> Rule:
    """The second try of a site that had to stay looks like the first."""
    go = deciding.go

    def broken(local: DynamicHybrid, active: bool, why: str, now: Now, out: Out) -> None:
        local.attempts = local.configuration.numbers[local.me]
        go(local, active, why, now, out)

    return patch.object(deciding, "go", broken)


def new_active_site_orders_below_what_is_released_with_its_switch() -> tuple[Group, MessageId, MessageId]:
    """Finding 20: C has the ticket of B's switch, and a message of A, before the switch itself."""
    group = dynamic(0, flush=True)
    group.wake(1)
    group.arrive(1, 0)
    group.arrive(0, 2)
    a0 = group.multicast(0)
    group.arrive(0, 2)
    b0 = group.multicast(1)
    group.arrive(1, 0)
    group.arrive(0, 1)
    group.arrive(1, 0)
    group.arrive(1, 2)
    return group, a0, b0


def test_finding_20_what_comes_behind_a_switch_waits_for_whoever_it_makes_active() -> None:
    group, a0, b0 = new_active_site_orders_below_what_is_released_with_its_switch()
    assert settled_in_one_order(group)
    assert group.members[2].delivered == [b0, a0]


def test_finding_20_released_together_two_sites_differ() -> None:
    with all_that_can_be_released_is_released_before_a_switch_takes_effect():
        group, a0, b0 = new_active_site_orders_below_what_is_released_with_its_switch()
    assert group.members[0].delivered[0] == b0
    assert group.members[2].delivered[0] == a0


def another_than_the_sequencer_leaves() -> tuple[Group, MessageId]:
    """Finding 21: B has ordered a message of D, and C leaves. D delivers that before it has B's ticket; A hears D."""
    group = dynamic(0, 1, 2, count=4, flush=True)
    group.wake(3)
    group.settle()
    group.wake(2)
    group.arrive(2, 1)
    group.arrive(2, 0)
    d0 = group.multicast(3)
    group.arrive(3, 1)
    group.arrive(2, 3)
    group.arrive(0, 3)
    group.arrive(1, 3)
    while group.under_way(3, 0):
        group.arrive(3, 0)
    return group, d0


@pytest.mark.parametrize(("rule", "tickets"), [(ours, 1), (passive_site_reassigns_whoever_leaves, 2)])
def test_finding_21_who_reassigns_what_is_ordered_has_two_order_it(rule: Callable[[], Rule], tickets: int) -> None:
    with rule():
        group, d0 = another_than_the_sequencer_leaves()
        group.settle()
        later = group.multicast(0)
        assert settled_in_one_order(group)
    issued = [note for member in group.members for note in member.notes if note.kind == "ticket"]
    assert sum(note.message == d0 for note in issued) == tickets
    assert ("reassigned" in decisions(group, 3)) is (tickets == 2)
    assert (later in group.members[0].delivered) is (tickets == 1), "a second ticket is waited for and never served"


@pytest.mark.parametrize(("rule", "is_ordered"), [(ours, True), (aborted_switch_counts_as_one, False)])
def test_finding_22_what_is_assigned_to_a_site_that_must_stay(rule: Callable[[], Rule], is_ordered: bool) -> None:
    with rule():
        group = dynamic(0, 1, count=2)
        group.wake(0)
        group.wake(1)
        group.arrive(1, 0)
        a0 = group.multicast(0)
        assert settled_in_one_order(group)
    assert decisions(group, 1) == ["to passive", "aborted"]
    assert (a0 in group.members[1].delivered) is is_ordered


def exchange(group: Group, one: int, other: int) -> None:
    """All that is on its way between two sites arrives, and whatever that sets off; nothing else does."""
    while group.under_way(one, other) or group.under_way(other, one):
        for sender, to in ((one, other), (other, one)):
            while group.under_way(sender, to):
                group.arrive(sender, to)


def second_try_meets_the_first() -> Group:
    """Finding 23: B tries twice, and C has not delivered the first one when the second is there."""
    group = dynamic(0, 1, flush=True)
    group.wake(0)
    for number, site in enumerate((1, 0, 1)):
        group.at((1 + 2 * number) * TENURE_US)
        group.wake(site)
        exchange(group, 0, 1)
    while group.under_way(1, 2):
        group.arrive(1, 2)
    group.settle()
    return group


def test_finding_23_a_second_try_has_a_name_of_its_own() -> None:
    group = second_try_meets_the_first()
    assert decisions(group, 1) == ["to passive", "aborted", "to passive"]
    assert phases(group) == ["active", "passive", "passive"]
    assert [member.layer.configuration.actives for member in group.members] == [(0,)] * 3


def test_finding_23_with_the_name_of_the_first_it_is_lost() -> None:
    with tries_are_numbered_like_roles():
        group = second_try_meets_the_first()
    assert [member.layer.configuration.actives for member in group.members] == [(0,), (0,), (0, 1)]
