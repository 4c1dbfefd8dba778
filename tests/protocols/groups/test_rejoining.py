"""How sites come back: after a crash, a cut, a pause, a restart of all; and how they leave."""

from __future__ import annotations

import pytest

from ordercast.core.deliveries import (
    Delivered,
    Entered,
    Finalized,
    GroupBlocked,
    Retracted,
    Snapshot,
    Truncated,
    ViewChanged,
)
from ordercast.core.messages import Bundle
from tests.protocols.groups.live import LiveGroup, assert_no_gaps, crash, cut, messages_of, pause, recover

ORDERED_BY_C = {"options": {"site": "C"}}


# --- crashes ---


@pytest.mark.parametrize("victim", "ABC")
def test_a_site_that_crashes_and_comes_back_loses_no_position(victim: str) -> None:
    group = LiveGroup(crash(2, victim), recover(4, victim))
    before: list[object] = []
    group.at(3, lambda: before.extend(group.log(victim)))
    group.run()
    final_before = group.told(victim, Finalized, until_s=2)[-1].below
    log = group.log(victim)
    assert_no_gaps(log)
    assert final_before > 20
    assert [entry for entry in log if entry.end <= final_before] == [
        entry
        for entry in before
        if entry.end <= final_before  # type: ignore[attr-defined]
    ]
    assert all(group.log(name) == log for name in "ABC")
    assert set(group.multicast(victim, from_s=4)) <= set(messages_of(log))


def test_the_others_go_on_without_it_in_a_view_of_their_own() -> None:
    group = LiveGroup(crash(2, "B"), recover(5, "B")).run()
    assert group.views("A") == ["ABC", "AC", "ABC"]
    assert len(group.shown("A", 3.5, 5)) > 20


def test_a_new_life_is_a_new_member() -> None:
    group = LiveGroup(crash(2, "B"), recover(2.1, "B")).run()
    last = group.told("A", Entered)[-1].view
    assert (last.members, last.incarnations) == ((0, 1, 2), (0, 1, 0))


def test_after_a_restart_of_all_positions_go_on() -> None:
    group = LiveGroup(crash(3, *"ABC"), recover(3.5, *"ABC"))
    before: dict[str, list[object]] = {}
    group.at(3.2, lambda: before.update({name: list(group.log(name)) for name in "ABC"}))
    group.run()
    log = group.log("A")
    assert_no_gaps(log)
    assert log == group.log("B") == group.log("C")
    for name in "ABC":
        final = group.told(name, Finalized, until_s=3)[-1].below
        assert final > 40
        assert [entry for entry in log if entry.end <= final] == before[name][: len([e for e in log if e.end <= final])]
    views = [event.position for event in group.told("A", ViewChanged)]
    assert views == sorted(set(views))
    assert len(log) > len(before["A"]) + 50


def test_after_a_restart_of_all_a_quorum_is_enough() -> None:
    group = LiveGroup(crash(3, *"ABCDE"), recover(3.5, *"BCD"), sites="ABCDE", core="BCD").run()
    assert group.views("C")[-1] == "BCD"
    assert group.log("B") == group.log("D")
    assert set(group.multicast("C", from_s=3.5)) <= set(messages_of(group.log("C")))


# --- cuts ---


def test_a_minority_is_told_that_it_is_blocked_and_comes_back_without_a_restart() -> None:
    group = LiveGroup(cut(2, 4, "C")).run()
    assert group.told("C", GroupBlocked, 2, 4)
    assert not group.told("A", GroupBlocked)
    assert group.views("C") == ["ABC", "ABC"]
    assert group.told("C", Entered)[-1].view.incarnations == (0, 0, 0)
    assert group.told("C", Entered)[-1].continuing is False
    assert group.log("C") == group.log("A")


def test_what_a_minority_multicasts_waits_and_is_ordered_once_it_is_back() -> None:
    group = LiveGroup(cut(2, 4, "C")).run()
    waiting = group.multicast("C", 3, 4)
    assert waiting
    assert set(waiting).isdisjoint(group.shown("A", until_s=4))
    assert set(waiting) <= set(messages_of(group.log("A")))


def test_what_a_minority_has_ordered_otherwise_is_retracted_and_it_is_told() -> None:
    """The token site itself is cut off: it goes on ordering its own messages until it notices."""
    group = LiveGroup(cut(2, 4, "C"), protocol=ORDERED_BY_C).run()
    (retracted,) = group.told("C", Retracted)
    assert [each.from_position for each in group.told("C", Truncated)] == [retracted.from_position]
    tentative = [each for each in group.told("C", Delivered, 2, 4) if (each.position or 0) >= retracted.from_position]
    assert tentative
    assert not any(each.final for each in tentative)
    assert all(each.below <= retracted.from_position for each in group.told("C", Finalized, until_s=4))
    assert {each.bundle.id for each in tentative} <= set(messages_of(group.log("A")))
    assert not group.told("A", Retracted)
    assert group.log("C") == group.log("A")


def test_of_two_halves_the_one_with_the_lowest_id_goes_on() -> None:
    group = LiveGroup(cut(2, 5, "B", "C"), sites="ABCD").run()
    assert group.views("A") == ["ABCD", "AD", "ABCD"]
    assert group.views("B") == ["ABCD", "ABCD"]
    assert group.told("B", GroupBlocked)
    assert group.told("C", GroupBlocked)
    assert not group.told("D", GroupBlocked)


def test_whoever_is_not_heard_is_out_though_it_hears_the_others() -> None:
    group = LiveGroup(cut(2, 4, "C", one_way=True)).run()
    assert group.views("A") == ["ABC", "AB", "ABC"]
    assert group.told("C", GroupBlocked, 2, 4)
    assert group.log("C") == group.log("A")


def test_whoever_does_not_hear_is_out_though_the_others_hear_it() -> None:
    group = LiveGroup(cut(2, 4, "A", "B", one_way=True)).run()
    assert group.views("A") == ["ABC", "AB", "ABC"]
    assert group.log("C") == group.log("A")


def test_a_group_that_falls_apart_goes_on_once_a_quorum_meets() -> None:
    group = LiveGroup(cut(2, 5, "A"), cut(2, 3.5, "B"), core="BC").run()
    assert group.told("A", GroupBlocked, 2, 5)
    assert group.views("B")[1] == "BC"
    assert all(group.told("ABC"[each], GroupBlocked, 2, 3.5) for each in range(3))


# --- pauses ---


def test_a_pause_longer_than_patience_is_an_absence() -> None:
    group = LiveGroup(pause(2, 2.5, "B")).run()
    assert group.views("A") == ["ABC", "AC", "ABC"]
    assert group.told("B", Entered)[-1].view.incarnations == (0, 0, 0)
    assert group.log("B") == group.log("A")


def test_a_short_pause_is_not() -> None:
    assert LiveGroup(pause(2, 0.2, "B")).run().views("A") == ["ABC"]


def test_a_pause_of_a_site_that_is_down_is_none() -> None:
    group = LiveGroup(crash(2, "B"), pause(2.5, 1, "B"), recover(3, "B")).run()
    assert len(group.multicast("B", from_s=3.5)) > 20


# --- leaving ---


def test_whoever_leaves_is_out_of_the_next_view_at_once_and_for_good() -> None:
    group = LiveGroup(leaves=((2, "C"),), core="AB").run()
    assert group.views("A") == ["ABC", "AB"]
    entered_s = next(
        at_s for at_s, site, event in group.diary.told if isinstance(event, Entered) and event.view.id == 2
    )
    assert entered_s < 2.3
    assert not group.told("C", GroupBlocked, until_s=2)


def test_the_lowest_site_can_leave_too() -> None:
    assert LiveGroup(leaves=((2, "A"),), core="BC").run().views("B") == ["ABC", "BC"]


def test_what_it_had_multicast_before_is_ordered() -> None:
    group = LiveGroup(leaves=((2, "C"),), core="AB").run()
    assert set(group.multicast("C", until_s=2)) <= set(messages_of(group.log("A")))


# --- too far behind ---


@pytest.mark.parametrize("sites", ["AB", "ABC", "ABCDE"])
def test_a_site_too_far_behind_begins_with_a_snapshot(sites: str) -> None:
    group = LiveGroup(crash(1.5, sites[-1]), recover(5, sites[-1]), sites=sites, rate=30, retained_positions=10).run()
    late = sites[-1]
    if sites == "AB":
        assert group.views("A") == ["AB", "A", "AB"]
    (snapshot,) = group.told(late, Snapshot)
    assert 0 < snapshot.position <= group.told(late, Finalized, from_s=5)[0].below
    log = group.log(late)
    assert_no_gaps(log, snapshot.position)
    assert log == [entry for entry in group.log("A") if entry.position >= snapshot.position]
    assert len(log) < len(group.log("A"))


def test_with_half_of_the_members_too_far_behind_nothing_waits_for_ever() -> None:
    """Nothing of the new view is final before one of them counts."""
    late = "CDE"
    group = LiveGroup(cut(1.5, 5, "C", "D"), crash(4, "E"), recover(5, "E"), sites="ABCDE", retained_positions=5).run()
    assert all(group.told(name, Snapshot) for name in late[:2])
    assert all(group.log(name)[-1] == group.log("A")[-1] for name in late)


def test_a_snapshot_does_not_bring_back_what_was_delivered_before() -> None:
    """Fifo and causal messages of its own that a site has delivered while it was cut off."""
    group = LiveGroup(cut(1.5, 4, "C"), level="causal", retained_positions=1, sites="ABC").run()
    assert set(group.multicast("C")) <= set(group.shown("C"))


def test_a_site_that_had_a_snapshot_can_crash_and_come_back() -> None:
    faults = crash(1.5, "C"), recover(3, "C"), crash(4.5, "C"), recover(5, "C")
    group = LiveGroup(*faults, rate=30, retained_positions=10).run()
    assert group.told("C", Snapshot)
    assert group.log("C")[-1] == group.log("A")[-1]
    assert all(isinstance(entry.content, Bundle) or entry.position for entry in group.log("C"))
