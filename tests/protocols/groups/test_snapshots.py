"""Snapshots that reach into the running view: the ordering protocol begins with the view, the log where they end.

D is far away, and crashes. When it is back, the others have ordered more than a second of the view before they hear
that it needs a snapshot; and their roles change all the time. The snapshot comes from B, which is nearer to D than the
others are: it is there before what they have multicast.
"""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest

from ordercast.core.deliveries import OrderingChanged, RoleChanged, Snapshot, ViewChanged
from ordercast.core.effects import Out
from ordercast.core.events import FromAbove, Now
from ordercast.core.plans import ChangeOrdering
from ordercast.protocols.groups import alignment
from ordercast.protocols.groups.log import Base, Sessions
from ordercast.protocols.groups.site_group import SiteGroup
from ordercast.simulator import simulation
from tests.protocols.groups.live import Fault, LiveGroup, assert_no_gaps, crash, cut, recover

Group = SiteGroup[Any]

ONE_WAY_MS: list[list[float]] = [[0, 10, 10, 900], [10, 0, 10, 500], [10, 10, 0, 900], [900, 500, 900, 0]]
SILENCE: Fault = {"kind": "loss", "at_s": 6.1, "until_s": 12, "probability": 1.0, "between": ["A", "D"]}
RESTLESS = {"name": "dynamic-hybrid", "estimates": "known", "options": {"active": ["A", "B"], "policy": "restless"}}


def far_away(*faults: Fault, **more: Any) -> LiveGroup:
    chosen: dict[str, Any] = {"rate": 20, "duration_s": 9, "protocol": RESTLESS} | more
    return LiveGroup(
        crash(2, "D"), recover(5, "D"), *faults, sites="ABCD", retained_positions=10, one_way_ms=ONE_WAY_MS, **chosen
    )


def reaches_into_view(group: LiveGroup) -> tuple[int, int]:
    """The position after the view that D enters, and that of its snapshot."""
    (snapshot,) = group.told("D", Snapshot)
    start = max(event.position for event in group.told("A", ViewChanged) if event.position < snapshot.position) + 1
    return start, snapshot.position


def assert_logs_agree(group: LiveGroup, start: int) -> None:
    log = group.log("D")
    assert_no_gaps(log, start)
    assert log == [entry for entry in group.log("A") if entry.position >= start]


@pytest.mark.parametrize("level", ["agreed", "safe", "agreed causal fifo"])
def test_each_position_gets_what_it_has_at_the_others(level: str) -> None:
    group = far_away(level=level, protocol=RESTLESS).run()
    start, snapshot = reaches_into_view(group)
    switches = [event.position for event in group.told("A", RoleChanged)]
    assert any(start <= position < snapshot for position in switches)
    assert_logs_agree(group, snapshot)
    assert all(group.site(name).group.log.roles == group.site("A").group.log.roles for name in "BCD")


def test_a_protocol_without_roles_begins_before_the_snapshot_is_there() -> None:
    group = far_away(protocol={"name": "token-site"}).run()
    start, snapshot = reaches_into_view(group)
    assert start < snapshot
    assert_logs_agree(group, snapshot)


def test_a_change_of_the_ordering_that_lies_there_comes_up_at_its_position() -> None:
    group = far_away()
    asked = ChangeOrdering("dynamic-hybrid", {"active": (2,), "policy": "restless"})
    group.at(6.5, lambda: group.site("A").handle(FromAbove(asked)))
    group.run()
    start, snapshot = reaches_into_view(group)
    (changed,) = group.told("A", OrderingChanged)
    assert start <= changed.position < snapshot
    assert_logs_agree(group, snapshot)
    assert all(group.site(name).group.log.roles == group.site("A").group.log.roles for name in "BCD")
    assert {group.site(name).group.plan.number for name in "ABCD"} == {1}


def replaying(group: LiveGroup, at_s: float) -> list[bool]:
    """Whether the ordering protocol of D is not yet where the snapshot ends; known once the group has run."""
    seen: list[bool] = []
    group.at(at_s, lambda: seen.append(group.site("D").group.replayed is not None))
    return seen


def test_a_site_that_crashes_before_it_has_come_up_to_its_snapshot_comes_back() -> None:
    group = far_away(crash(7.7, "D"), recover(8, "D"), duration_s=14)
    before = replaying(group, 7.69)
    group.run()
    assert before == [True]
    assert_logs_agree(group, group.told("D", Snapshot)[-1].position)


def test_a_site_that_is_cut_off_before_it_has_come_up_to_its_snapshot_begins_the_next_view_anew() -> None:
    group = far_away(SILENCE, cut(8, 13, "D"))
    before = replaying(group, 8.9)
    group.run()
    assert before == [True]
    assert group.views("A")[-2:] == ["ABC", "ABCD"]
    assert_logs_agree(group, group.told("D", Snapshot)[-1].position)


def test_a_view_that_ends_before_it_has_come_up_to_its_snapshot_is_ordered_to_its_end() -> None:
    """D hears nothing from A, which crashes; what A had multicast D gets from the others as the view is closed."""
    group = far_away(SILENCE, crash(7.2, "A"), duration_s=14, core="BCD")
    before = replaying(group, 8.5)
    group.run()
    assert before == [True]
    snapshot = group.told("D", Snapshot)[-1].position
    assert group.log("D") == [entry for entry in group.log("B") if entry.position >= snapshot]


def begins_where_the_snapshot_ends(group: Group, start: Base, sessions: Sessions, now: Now, out: Out) -> None:
    """The mistake: the ordering protocol gets the roles of a later position than the one it begins at."""
    ALIGN(group, group.log.whole, group.log.sessions, now, out)


ALIGN = alignment.align


def test_with_the_roles_of_the_snapshots_end_there_are_two_final_orders() -> None:
    group = far_away()
    with (
        patch.object(alignment, "align", begins_where_the_snapshot_ends),
        patch.object(simulation, "DRAIN_LIMIT_US", 5_000_000),
    ):
        group.simulation.run()
    assert any(violation.startswith("finality: D finalizes") for violation in group.checker.violations)
