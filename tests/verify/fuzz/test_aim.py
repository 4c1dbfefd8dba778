"""Faults that wait for their moment."""

from __future__ import annotations

from typing import Literal

import pytest

from ordercast.core.ids import SiteId
from ordercast.simulator.observer import Observer
from ordercast.simulator.scenario import Fault
from ordercast.verify.fuzz import aim
from ordercast.verify.fuzz.aim import Aim, Leaving
from ordercast.verify.fuzz.phases import group_sites, phase_of
from tests.protocols.groups.live import LiveGroup, crash, recover


class Struck(Observer):
    """When which fault struck which sites, and in which phase they were."""

    def __init__(self, group: LiveGroup) -> None:
        self.faults: list[tuple[str, str, str]] = []
        self._group = group

    def on_fault(self, at_us: int, fault: Fault) -> None:
        if at_us > 2_050_000 and isinstance(fault.sites, list):
            phase = phase_of(self._group.site(fault.sites[0]))
            self.faults.append((fault.kind, fault.sites[0], phase))


def struck(waiting: Aim, sites: str = "ABCDE") -> tuple[LiveGroup, Struck]:
    """E crashes after two seconds, so that the view changes; and somebody is struck while it does."""
    group = LiveGroup(crash(2, "E"), recover(5, "E"), sites=sites)
    seen = Struck(group)
    group.simulation.observers = (*group.simulation.observers, seen)
    aim.schedule(waiting, group.simulation)
    return group.run(), seen


@pytest.mark.parametrize("phase", ["stopped", "closed"])
@pytest.mark.parametrize(("what", "kind"), [("crash", "crash"), ("cut", "partition")])
def test_a_site_is_struck_in_the_phase(what: Literal["crash", "cut"], kind: str, phase: str) -> None:
    _, seen = struck(Aim(2.1, 4, what, phase, 0))
    assert seen.faults[0][::2] == (kind, phase)
    assert seen.faults[0][1] in "ABCD"


def test_of_several_the_one_that_was_asked_for() -> None:
    names = [struck(Aim(2.1, 4, "crash", "steady", which))[1].faults[0][1] for which in (0, 1, 2, 3, 4)]
    assert names == ["A", "B", "C", "D", "A"]


def test_without_such_a_moment_nobody_is_struck() -> None:
    _, seen = struck(Aim(2.1, 2.2, "crash", "stopped", 0))
    assert [kind for kind, _, _ in seen.faults] == ["recover"]


def test_a_site_that_leaves_is_out_for_good() -> None:
    group = LiveGroup(core="AB")
    aim.schedule(Leaving(2, 2), group.simulation)
    assert group.run().views("A") == ["ABC", "AB"]


def test_phases_of_a_group_at_rest() -> None:
    group = LiveGroup(crash(2, "C"), core="AB").run()
    assert [phase_of(site) for site in group_sites(group.simulation)] == ["steady", "steady", "down"]
    assert group.site("A").id == SiteId(0)
