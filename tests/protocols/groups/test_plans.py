"""The ordering protocol changed on line: an entry of the order, no change of view, nothing lost or doubled."""

from __future__ import annotations

from typing import Any

import pytest

from ordercast.core.deliveries import Entered, OrderingChanged
from ordercast.core.events import FromAbove
from ordercast.core.plans import ChangeOrdering
from ordercast.protocols.ordering.catalogue import PROTOCOLS
from tests.protocols.groups.live import LiveGroup, crash, cut, messages_of, recover


def change(group: LiveGroup, at_s: float, name: str, protocol: str, **options: Any) -> None:
    """A site is asked to let the group go over."""
    asked = ChangeOrdering(protocol, options)
    group.at(at_s, lambda: group.site(name).handle(FromAbove(asked)))


def protocols_of(group: LiveGroup) -> list[tuple[str, int]]:
    """What orders at each site, and the number of its plan."""
    sites = [group.site(name).group for name in group.names]
    return [(type(site.ordering).__name__, site.plan.number) for site in sites]


def assert_everything_is_ordered(group: LiveGroup) -> None:
    ordered = messages_of(group.log("A"))
    asked = [id for name in group.names for id in group.multicast(name)]
    assert len(ordered) == len(set(ordered))
    assert set(asked) <= set(ordered)


@pytest.mark.parametrize("before", ["token-site", "symmetric", "dynamic-hybrid"])
@pytest.mark.parametrize("after", list(PROTOCOLS))
def test_from_any_protocol_to_any_other_and_back_without_a_change_of_view(before: str, after: str) -> None:
    group = LiveGroup(protocol={"name": before}, rate=50, duration_s=4)
    change(group, 1.5, "B", after)
    change(group, 2.5, "C", before)
    group.run()
    assert_everything_is_ordered(group)
    for name in "ABC":
        assert [each.change.protocol for each in group.told(name, OrderingChanged)] == [after, before]
        assert len(group.told(name, Entered)) == 1
        assert group.site(name).group.retired == []
    assert len(dict.fromkeys(protocols_of(group))) == 1


def test_all_go_over_at_the_same_position() -> None:
    group = LiveGroup()
    change(group, 2, "C", "symmetric")
    group.run()
    told = group.told("A", OrderingChanged)
    assert len(told) == 1
    assert told == group.told("B", OrderingChanged) == group.told("C", OrderingChanged)


def test_whoever_is_behind_still_gets_its_tickets_from_those_who_have_gone_over() -> None:
    """Tickets that wait for the issuer's next message would wait for ever: its next one is under the new plan."""
    slow = [{"kind": "slow-link", "at_s": 0, "between": ["C", other], "extra_ms": 300} for other in "AB"]
    group = LiveGroup(*slow, protocol={"name": "symmetric", "tickets": "piggyback"}, rate=3)
    change(group, 2, "A", "token-site")
    group.run()
    assert_everything_is_ordered(group)


def test_options_are_changed_like_protocols() -> None:
    group = LiveGroup()
    change(group, 2, "A", "token-site", site=2)
    change(group, 4, "A", "hybrid", active=(0, 2))
    group.run()
    assert group.site("B").group.ordering.sequencers[1] in (0, 2)
    assert [each.change.options for each in group.told("B", OrderingChanged)] == [{"site": 2}, {"active": [0, 2]}]


def test_changes_at_once_come_up_one_after_the_other() -> None:
    group = LiveGroup(rate=50)
    for name, protocol in (("A", "symmetric"), ("B", "hybrid"), ("C", "token-site")):
        change(group, 2, name, protocol)
    group.run()
    assert_everything_is_ordered(group)
    assert [number for _, number in protocols_of(group)] == [3, 3, 3]


@pytest.mark.parametrize("level", ["fifo", "causal", "agreed", "safe"])
def test_every_level_goes_on(level: str) -> None:
    group = LiveGroup(rate=50, level=level, duration_s=4)
    change(group, 2, "B", "symmetric")
    group.run()
    assert len(group.shown("C")) == len([id for name in "ABC" for id in group.multicast(name)])


# --- with faults ---


def test_a_site_that_was_down_learns_the_plan_from_the_order() -> None:
    group = LiveGroup(crash(1, "C"), recover(4, "C"))
    change(group, 2.5, "A", "symmetric")
    group.run()
    assert_everything_is_ordered(group)
    assert protocols_of(group) == [("Symmetric", 1)] * 3


def test_a_site_that_begins_with_a_snapshot_begins_with_its_plan() -> None:
    group = LiveGroup(crash(1, "C"), recover(4, "C"), rate=30, retained_positions=10)
    change(group, 2, "A", "symmetric")
    group.run()
    assert protocols_of(group) == [("Symmetric", 1)] * 3


def test_after_a_restart_of_all_the_plan_is_in_force() -> None:
    group = LiveGroup(crash(3, *"ABC"), recover(3.5, *"ABC"))
    change(group, 2, "A", "symmetric")
    group.run()
    assert protocols_of(group) == [("Symmetric", 1)] * 3


def test_a_plan_that_only_a_minority_has_seen_is_taken_back() -> None:
    """The token site itself is cut off, and orders a change until it notices; the others change otherwise."""
    group = LiveGroup(cut(2, 4, "C"), protocol={"options": {"site": "C"}})
    seen: list[int] = []
    change(group, 2.05, "C", "symmetric")
    group.at(3, lambda: seen.append(group.site("C").group.plan.number))
    change(group, 3.5, "A", "hybrid")
    group.run()
    assert seen == [1]
    assert_everything_is_ordered(group)
    assert [each.change.protocol for each in group.told("A", OrderingChanged)] == ["hybrid", "symmetric"]
    assert protocols_of(group) == [("Symmetric", 2)] * 3


@pytest.mark.parametrize("at_s", [1.99, 1.995, 2.0, 2.005, 2.3])
def test_a_change_while_a_member_fails(at_s: float) -> None:
    group = LiveGroup(crash(2, "A"), recover(4, "A"), protocol={"name": "symmetric"}, rate=50, sites="ABCD")
    change(group, at_s, "B", "dynamic-hybrid")
    group.run()
    assert [number for _, number in protocols_of(group)] == [1] * 4
