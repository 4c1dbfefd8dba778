"""`[[change]]`: the ordering protocol of a simulated group changed while it runs."""

from __future__ import annotations

from typing import Any

import pytest

from ordercast.core.deliveries import Delivery, OrderingChanged
from ordercast.core.ids import SiteId
from ordercast.simulator.observer import Observer
from ordercast.simulator.scenario import ScenarioError, from_table
from ordercast.simulator.simulation import Simulation


def table(*changes: dict[str, Any], **protocol: Any) -> dict[str, Any]:
    return {
        "duration_s": 4,
        "protocol": {"name": "token-site", "tickets": "flush", **protocol},
        "lan": [{"name": "only", "sites": ["A", "B", "C"], "delay_ms": 5}],
        "traffic": [{"sites": ["A", "B", "C"], "rate": 20}],
        "change": list(changes),
    }


class Changes(Observer):
    def __init__(self) -> None:
        self.seen: list[tuple[float, SiteId, str, dict[str, Any]]] = []

    def on_group(self, at_us: int, site: SiteId, event: Delivery) -> None:
        if isinstance(event, OrderingChanged):
            self.seen.append((at_us / 1e6, site, event.change.protocol, event.change.options))


def test_a_change_makes_it_a_live_group_and_comes_up_at_every_site() -> None:
    changes = Changes()
    simulation = Simulation(
        from_table(table({"at_s": 2, "protocol": "hybrid", "options": {"active": ["B", "C"]}})), [changes]
    )
    simulation.run()
    assert simulation.is_group
    assert simulation.settled()
    assert sorted(site for _, site, _, _ in changes.seen) == [0, 1, 2]
    assert {protocol for _, _, protocol, _ in changes.seen} == {"hybrid"}
    assert all(2 <= at_s < 2.1 for at_s, _, _, _ in changes.seen)
    assert all(options == {"active": [1, 2]} for _, _, _, options in changes.seen)


def test_it_is_asked_for_at_the_first_site_that_is_up() -> None:
    changes = Changes()
    scenario = table({"at_s": 2, "protocol": "symmetric"})
    scenario["fault"] = [{"kind": "crash", "at_s": 1, "sites": ["A"]}]
    simulation = Simulation(from_table(scenario), [changes])
    simulation.core = (SiteId(1), SiteId(2))
    simulation.run()
    assert [site for _, site, _, _ in changes.seen] in ([1, 2], [2, 1])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"at_s": 2, "protocol": "symetric"}, "change[0].protocol: unknown protocol"),
        ({"at_s": 4, "protocol": "symmetric"}, "change[0].at_s: expected less than duration_s (4)"),
        ({"at_s": -1, "protocol": "symmetric"}, "change[0].at_s: expected at least 0"),
        ({"at_s": 2, "protocol": "hybrid", "options": {"site": "A"}}, "change[0].options.site: unknown option"),
        ({"at_s": 2, "protocol": "token-site", "options": {"site": "Z"}}, "change[0].options.site: unknown site"),
        ({"protocol": "symmetric"}, "change[0].at_s: missing"),
    ],
)
def test_a_mistake_is_answered_by_one_line(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ScenarioError) as raised:
        from_table(table(change))
    assert said in str(raised.value)


def test_the_ideal_stack_keeps_its_protocol() -> None:
    with pytest.raises(ScenarioError, match="only the full stack changes its protocol"):
        from_table(table({"at_s": 2, "protocol": "symmetric"}, stack="ideal"))
