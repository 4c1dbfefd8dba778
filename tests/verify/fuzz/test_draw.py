"""What a list of picks means: the tamest case, changed a few times."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordercast.protocols.groups.log import RETAINED_POSITIONS
from ordercast.protocols.ordering.catalogue import PROTOCOLS
from ordercast.simulator.chooser import RecordingChooser, ReplayingChooser
from ordercast.simulator.scenario import from_table
from ordercast.verify.fuzz.aim import Aim, Leaving
from ordercast.verify.fuzz.campaign import chooser_of
from ordercast.verify.fuzz.draw import Case, Draw
from ordercast.verify.fuzz.draw_faults import FAULTS_MAX, KINDS

PICKS = st.lists(st.integers(0, 1 << 16), max_size=120)
TO_THE_FAULTS = [2, 0, 0, 0]
"""Four sites, and nothing changed."""


def drawn(*picks: int) -> Case:
    return Draw(ReplayingChooser(list(picks))).case()


def faults(*picks: int) -> list[dict[str, Any]]:
    """Of four sites."""
    found: list[dict[str, Any]] = drawn(*TO_THE_FAULTS, *picks).table["fault"]
    return found


def test_no_picks_are_two_sites_that_multicast_a_little_and_nothing_goes_wrong() -> None:
    case = drawn()
    assert case.table["protocol"] == {
        "name": next(iter(PROTOCOLS)),
        "stack": "full",
        "tickets": "flush",
        "resilience": 0,
    }
    assert case.table["lan"] == [{"name": "only", "sites": ["A", "B"], "delay_ms": 1.0, "variance": 0.0}]
    assert [(each["sites"], each["level"]) for each in case.table["traffic"]] == [(["A", "B"], "agreed")]
    assert (case.table["fault"], case.waiting, case.core) == ([], (), (0, 1))
    assert case.retained_positions == RETAINED_POSITIONS


@given(PICKS)
def test_any_picks_are_a_case(picks: list[int]) -> None:
    case = drawn(*picks)
    scenario = from_table(case.table)
    names = scenario.site_names()
    assert 2 * len(case.core) > len(names)
    assert len(scenario.fault) + len(case.waiting) <= 2 * FAULTS_MAX


@given(st.integers(0, 10_000))
def test_what_touches_the_core_ends_with_the_traffic(seed: int) -> None:
    case = Draw(chooser_of(seed)).case()
    names, end_s = from_table(case.table).site_names(), case.table["duration_s"]
    core = [names[site] for site in case.core]
    crashed = dict.fromkeys(names, 0)
    for fault in case.table["fault"]:
        if fault["kind"] in ("crash", "recover"):
            for name in fault["sites"]:
                crashed[name] += 1 if fault["kind"] == "crash" else -1
        elif fault["kind"] == "partition" and "until_s" not in fault:
            inside = [name in fault["sites"] for name in core]
            assert all(inside) or not any(inside)
        elif "between" in fault and "until_s" not in fault:
            assert not set(fault["between"]) <= set(core)
        assert fault.get("until_s", 0) <= end_s
    assert not any(crashed[name] for name in core)
    assert not any(isinstance(each, Leaving) and each.site in case.core for each in case.waiting)


@given(PICKS)
def test_what_is_past_the_end_of_the_list_is_the_tamest(picks: list[int]) -> None:
    recording = RecordingChooser(ReplayingChooser(picks))
    case = Draw(recording).case()
    assert drawn(*recording.picks) == drawn(*picks, *[0] * 50) == case


def test_a_change_takes_two_picks() -> None:
    usual = drawn(2)
    for change in (1, 2, 3, 6, 7, 8, 9, 10, 11, 12, 13):
        assert drawn(2, 0, 0, change, 0) == usual
    for change in (1, 2, 3, 6, 7, 9, 10, 11, 12, 13):
        assert drawn(2, 0, 0, change, 1) != usual


@pytest.mark.parametrize("index", range(len(PROTOCOLS)))
def test_protocols_are_counted_as_they_stand_in_the_catalogue(index: int) -> None:
    """So that one more at its end leaves the meaning of pinned picks alone."""
    assert drawn(0, index).table["protocol"]["name"] == tuple(PROTOCOLS)[index]
    assert drawn(0, 10_000).table["protocol"]["name"] == tuple(PROTOCOLS)[-1]


def test_a_protocol_that_is_asked_for_takes_the_place_of_the_drawn_one() -> None:
    assert Draw(ReplayingChooser([1, 3, 9]), "symmetric").case().table == {
        **drawn(1, 3, 9).table,
        "protocol": drawn(1, 2, 9).table["protocol"] | {"name": "symmetric"},
    }


def test_luck_decides_what_the_case_leaves_open() -> None:
    first, same, other = (drawn(0, 0, luck).chooser() for luck in (5, 5, 6))
    picks = [[chooser.pick(1000) for _ in range(20)] for chooser in (first, same, other)]
    assert picks[0] == picks[1] != picks[2]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_fault_can_be_drawn(kind: str) -> None:
    case = drawn(*TO_THE_FAULTS, 1 + KINDS.index(kind), 100)
    found = [fault["kind"] for fault in case.table["fault"]]
    expected = {
        "one-way": ["partition"],
        "crash": ["crash", "recover"],
        "outage": ["crash", "recover"],
        "crash-in-change": [],
        "cut-in-change": [],
        "crash-in-switch": [],
        "cut-in-switch": [],
        "leave": [],
    }
    assert found == expected.get(kind, [kind])
    assert [each.what for each in case.waiting if isinstance(each, Aim)] == (
        [kind.split("-")[0]] if kind.endswith(("change", "switch")) else []
    )


def test_a_fault_takes_a_moment_a_length_and_what_it_strikes() -> None:
    (cut,) = faults(2, 100, 1, 4)
    assert cut == {"kind": "partition", "at_s": 2.0, "sites": ["A", "C"], "one_way": False, "until_s": 4.0}


def test_after_the_last_fault_nothing_counts() -> None:
    assert faults(1, 100, 0, 0, 0, 7, 7, 7) == faults(1, 100)
