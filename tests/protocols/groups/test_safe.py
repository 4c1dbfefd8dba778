"""Safe bundles: delivered once max(F + 1, a majority) hold them, and final then."""

from __future__ import annotations

import pytest

from ordercast.core.deliveries import Delivered, Logged, Retracted
from ordercast.core.messages import Level
from tests.protocols.groups.live import Fault, LiveGroup, crash, cut, recover


def holders_when_delivered(group: LiveGroup) -> list[int]:
    """For each delivery of a safe bundle, how many sites had logged it by then."""
    logged: dict[int, set[int]] = {}
    counts = []
    for _, site, event in group.diary.told:
        if isinstance(event, Logged):
            logged.setdefault(event.entry.position, set()).add(site)
        elif isinstance(event, Delivered) and event.bundle.level == Level.SAFE:
            assert event.position is not None
            counts.append(len(logged[event.position]))
    return counts


def far(name: str, extra_ms: float) -> list[Fault]:
    """One of five sites is further away from the others."""
    return [
        {"kind": "slow-link", "at_s": 0, "between": [name, other], "extra_ms": extra_ms}
        for other in "ABCDE"
        if other != name
    ]


@pytest.mark.parametrize(("resilience", "needed"), [(0, 3), (1, 3), (2, 3), (3, 4), (4, 5)])
def test_it_is_held_by_so_many_when_it_is_delivered(resilience: int, needed: int) -> None:
    faults = [*far("D", 100), *far("E", 200)]
    protocol = {"resilience": resilience}
    group = LiveGroup(*faults, sites="ABCDE", level="safe", rate=5, duration_s=3, protocol=protocol).run()
    counts = holders_when_delivered(group)
    assert len(counts) >= 5 * 5 * 12
    assert min(counts) == needed


@pytest.mark.parametrize("resilience", [0, 1, 2])
def test_it_is_final_when_it_is_delivered(resilience: int) -> None:
    faults = cut(2, 3.5, "A"), crash(4, "C"), recover(5, "C")
    group = LiveGroup(*faults, level="safe", protocol={"resilience": resilience}).run()
    for name in "ABC":
        assert all(event.final for event in group.told(name, Delivered))
        assert group.shown(name)


def test_what_is_safe_is_never_retracted() -> None:
    """The token site goes on ordering while it is cut off, but it delivers none of that."""
    group = LiveGroup(cut(2, 4, "C"), level="safe", protocol={"options": {"site": "C"}}).run()
    (retracted,) = group.told("C", Retracted)
    assert all((event.position or 0) < retracted.from_position for event in group.told("C", Delivered, until_s=4))


def test_agreed_bundles_are_delivered_sooner_and_some_of_them_tentatively() -> None:
    group = LiveGroup(protocol={"options": {"site": "C"}}).run()
    assert any(not event.final for event in group.told("C", Delivered))
