"""Changes of role are counted, with what they met; and sites can be struck in the midst of one."""

from __future__ import annotations

from typing import Any

from ordercast.core.deliveries import Entered
from ordercast.core.effects import Note
from ordercast.core.ids import SiteId, ViewId
from ordercast.core.views import View
from ordercast.simulator.chooser import ReplayingChooser
from ordercast.simulator.scenario import Fault
from ordercast.verify.fuzz.aim import Aim
from ordercast.verify.fuzz.campaign import Totals, replay
from ordercast.verify.fuzz.draw import Draw
from ordercast.verify.fuzz.draw_faults import KINDS
from ordercast.verify.fuzz.phases import SWITCHING, group_sites, switch_of
from ordercast.verify.fuzz.switches import SwitchCounter
from tests.protocols.groups.live import LiveGroup

A, B = SiteId(0), SiteId(1)
DYNAMIC = "dynamic-hybrid"
ENTERED: Any = Entered(View(ViewId(2), (SiteId(0),)), True)
"""Hosts hear of it in the same stream."""


def counter() -> SwitchCounter:
    """Of a group at rest."""
    counting = SwitchCounter()
    counting.on_start(LiveGroup().run().simulation)
    return counting


def role(detail: str) -> Note:
    return Note("role", detail=detail)


def test_the_tamest_case_of_the_dynamic_hybrid_switches_all_the_time() -> None:
    outcome = replay([3], DYNAMIC)
    assert outcome.failure is None
    assert outcome.switches["going passive"] > 3
    assert outcome.switches["aborted by the last active"] > 0
    assert outcome.switches_met == {}


def test_other_protocols_do_not_switch() -> None:
    assert replay([3], "hybrid").switches == {}


def test_a_switch_meets_the_faults_that_begin_while_it_is_under_way() -> None:
    counting = counter()
    counting.on_note(0, A, role("to passive: why"))
    counting.on_note(0, B, role("to passive: why"))
    counting.on_fault(1, Fault(kind="loss", at_s=1.0))
    counting.on_crash(2, B)
    counting.on_group(3, A, ENTERED)
    counting.on_fault(4, Fault(kind="loss", at_s=4.0))
    assert counting.switches == {"going passive": 2}
    assert counting.met == {"going passive / loss": 1, "going passive / end of view": 1}


def test_what_is_done_at_once_meets_the_phase_of_the_view() -> None:
    counting = counter()
    counting.on_note(0, A, role("reassigned: 2 messages to 1"))
    counting._sites[B].crashed = True
    counting.on_note(0, B, role("took over: no active site is left"))
    counting.on_note(0, A, Note("ticket"))
    assert counting.switches == {"reassigning": 1, "taking over": 1}
    assert counting.met == {"taking over / down": 1}


def test_totals_add_switches_up() -> None:
    totals = Totals()
    for _ in range(2):
        totals.add(replay([1], DYNAMIC))
    assert totals.switches == {kind: 2 * count for kind, count in replay([1], DYNAMIC).switches.items()}


def test_a_site_at_rest_is_in_no_switch() -> None:
    assert {switch_of(site) for site in group_sites(LiveGroup().run().simulation)} == {None}


def test_faults_can_wait_for_a_switch() -> None:
    for number, kind in enumerate(("crash", "cut"), 1 + KINDS.index("crash-in-switch")):
        for phase, name in enumerate(SWITCHING):
            (waiting,) = Draw(ReplayingChooser([2, 0, 0, 0, number, 100, 0, phase])).case().waiting
            assert isinstance(waiting, Aim)
            assert (waiting.what, waiting.phase) == (kind, name)


def test_a_site_is_struck_in_the_midst_of_its_switch() -> None:
    crash = 1 + KINDS.index("crash-in-switch")
    outcome = replay([2, 0, 0, 0, crash, 50, 0, SWITCHING.index("to-passive")], DYNAMIC)
    assert outcome.failure is None
    assert outcome.faults["crash"] == 1
    assert outcome.switches_met["going passive / crash"] == 1
