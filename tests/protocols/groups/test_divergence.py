"""The alarm when final orders differ, which no group that works ever raises: here one site's log is falsified."""

from __future__ import annotations

import msgspec
import pytest

from ordercast.core.deliveries import Diverged
from ordercast.core.effects import Deliver, Effects, Send
from ordercast.core.ids import SiteId
from ordercast.protocols.groups import divergence
from ordercast.protocols.groups.messages import Digests, Probe
from ordercast.protocols.groups.site_group import SiteGroup
from tests.protocols.groups.live import LiveGroup


def group_of(live: LiveGroup, name: str) -> SiteGroup[object]:
    (group,) = (layer for layer in live.site(name).layer.layers if isinstance(layer, SiteGroup))
    return group


def falsify(live: LiveGroup, name: str, position: int) -> None:
    """From this position on the site holds another order."""
    log = group_of(live, name).log
    log.entries = [
        entry if entry.position < position else msgspec.structs.replace(entry, digest=entry.digest ^ 1)
        for entry in log.entries
    ]


@pytest.mark.parametrize("position", [0, 1, 57, 58, 89])
def test_the_alarm_names_the_first_position_that_differs(position: int) -> None:
    live = LiveGroup()
    live.at(3.5, lambda: falsify(live, "B", position))
    live.simulation.run()
    alarms = live.told("A", Diverged) + live.told("C", Diverged)
    assert alarms
    assert {(alarm.position, alarm.site) for alarm in alarms} == {(position, 1)}
    assert {alarm.position for alarm in live.told("B", Diverged)} == {position}


def test_nobody_is_alarmed_without_need() -> None:
    live = LiveGroup().run()
    assert [event for name in "ABC" for event in live.told(name, Diverged)] == []


def answered(live: LiveGroup, *known: tuple[int, int]) -> list[object]:
    """What A does when B tells these digests."""
    out = Effects()
    divergence.on_digests(group_of(live, "A"), SiteId(1), Digests(known), out)
    return [effect.message for effect in out.list if isinstance(effect, Send | Deliver)]


def test_where_one_does_not_reach_back_so_far_the_alarm_says_so_much() -> None:
    live = LiveGroup().run()
    log = group_of(live, "A").log
    right = {place: log.digest_at(place) or 0 for place in (5, 20, 50)}
    assert answered(live, (50, 7)) == [Diverged(50, SiteId(1))]
    assert answered(live, (5, right[5]), (50, 7)) == [Diverged(5, SiteId(1))]
    (probe,) = answered(live, (5, right[5]), (20, right[20]), (50, 7))
    assert isinstance(probe, Probe)
    assert (probe.places[0], probe.places[-1]) == (20, 50)
    assert answered(live, (5, right[5]), (20, right[20])) == []
