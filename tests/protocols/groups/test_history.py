"""Members that come back get old entries from the log of another's host, where that reaches so far back."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordercast.core.deliveries import Delivered, Diverged, Entered, Finalized, HistoryWanted, Retracted, Snapshot
from ordercast.core.entries import Entry
from ordercast.core.events import FromAbove, FromBelow
from ordercast.protocols.groups.alignment import PORTION_BYTES_MAX, PORTION_ENTRIES_MAX, portion
from ordercast.protocols.groups.building import needed_from
from ordercast.protocols.groups.messages import Fetch
from tests.protocols.groups.live import LiveGroup, assert_no_gaps, crash, cut, recover
from tests.protocols.groups.made import A, C, bundle


@pytest.mark.parametrize("sites", ["AB", "ABC", "ABCDE"])
def test_a_site_far_behind_gets_every_entry(sites: str) -> None:
    late = sites[-1]
    faults = crash(1.5, late), recover(5, late)
    group = LiveGroup(*faults, sites=sites, rate=30, retained_positions=10, hosts_keep_history=True).run()
    assert any(group.told(name, HistoryWanted) for name in sites)
    assert not group.told(late, Snapshot)
    assert_no_gaps(group.log(late))
    assert group.log(late) == group.log("A")


def test_what_is_final_is_taken_before_the_rest_is_there() -> None:
    group = LiveGroup(cut(1.5, 5, "C"), rate=60, retained_positions=10, hosts_keep_history=True).run()
    entered_s = [at_s for at_s, site, event in group.diary.told if site == C and isinstance(event, Entered)][1]
    taken = [each.below for each in group.told("C", Finalized, entered_s - 0.001)]
    asked = {each.start for name in "AB" for each in group.told(name, HistoryWanted)}
    assert len(asked) >= 3
    assert asked & set(taken)


def test_what_a_minority_has_ordered_otherwise_is_retracted_and_no_more() -> None:
    """The token site itself is cut off, and far behind when it is back."""
    order = {"options": {"site": "C"}}
    group = LiveGroup(cut(2, 5, "C"), protocol=order, rate=60, retained_positions=10, hosts_keep_history=True).run()
    (retracted,) = group.told("C", Retracted)
    tentative = [each for each in group.told("C", Delivered, 2, 5) if (each.position or 0) >= retracted.from_position]
    assert tentative
    assert not group.told("C", Snapshot)
    assert group.log("C") == group.log("A")


def test_where_the_log_has_a_hole_a_snapshot_is_taken() -> None:
    """C has begun with a snapshot; once it is the only one that has the whole order, A cannot get it all."""
    faults = crash(1, "C"), recover(2.5, "C"), crash(3.5, "C"), recover(5, "C")
    group = LiveGroup(*faults, rate=60, retained_positions=5)

    def lose_what_is_old() -> None:
        group.simulation.hosts_keep_history = True
        for name in "AB":
            group.site(name).log.clear()

    group.at(4.9, lose_what_is_old)
    group.run()
    assert len(group.told("C", Snapshot)) == 2


def test_an_asker_whose_final_order_is_another_raises_the_alarm() -> None:
    group = LiveGroup(rate=60, retained_positions=5, hosts_keep_history=True, duration_s=3)
    site = group.site("A")

    def ask(digest: int) -> None:
        site.group.handle(FromBelow(C, Fetch(20, digest)), site.now(), site)

    def answer() -> None:
        (wanted,) = group.told("A", HistoryWanted)
        history = site._history(wanted)
        site.group.handle(FromAbove(history), site.now(), site)

    group.at(2, lambda: ask(12345))
    group.at(2.1, answer)
    group.simulation.run()
    assert [each.position for each in group.told("A", Diverged)] == [20]
    assert group.told("A", Diverged)[0].site == C


# --- portions ---


@given(st.lists(st.integers(0, PORTION_BYTES_MAX), max_size=12))
def test_a_portion_is_one_entry_or_no_more_than_so_many_bytes(sizes: list[int]) -> None:
    entries = [
        Entry(index, index + 1, msgspec.structs.replace(bundle(A, index), bodies=(bytes(size),)), 0)
        for index, size in enumerate(sizes)
    ]
    taken = portion(entries)
    assert list(taken) == entries[: len(taken)]
    assert len(taken) >= min(1, len(entries))
    assert len(taken) <= 1 or sum(sizes[: len(taken)]) <= PORTION_BYTES_MAX
    assert len(taken) == len(sizes) or sum(sizes[: len(taken) + 1]) > PORTION_BYTES_MAX


def test_a_portion_has_no_more_than_so_many_entries() -> None:
    entries = [Entry(index, index + 1, bundle(A, index), 0) for index in range(PORTION_ENTRIES_MAX + 1)]
    assert len(portion(entries)) == PORTION_ENTRIES_MAX


# --- what a new life needs ---


def test_in_a_long_view_a_new_life_needs_no_more_than_what_is_retained() -> None:
    group = LiveGroup(crash(5, "B"), recover(5.5, "B"), rate=60, retained_positions=50)
    needed: list[int] = []

    def forget() -> None:
        """As a host may: what nobody needs any more is not read at the start."""
        site = group.site("B")
        needed.append(needed_from(site.saved))
        site.log = [entry for entry in site.log if entry.position >= needed[0]]

    group.at(5.2, forget)
    group.run()
    final = group.told("B", Finalized, until_s=5)[-1].below
    assert 0 <= needed[0] <= final
    assert group.log("B")[-1] == group.log("A")[-1]
