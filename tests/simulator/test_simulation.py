"""A run is a pure function of its scenario and its choices."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

from ordercast.core.events import Flush
from ordercast.core.ids import SiteId, ViewId
from ordercast.core.views import View
from ordercast.protocols.ordering.catalogue import PROTOCOLS
from ordercast.simulator.chooser import Chooser, RecordingChooser, ReplayingChooser, SeededChooser
from ordercast.simulator.scenario import Fault, Scenario, Traffic
from ordercast.simulator.simulation import Simulation
from tests.simulator.small import Diary, scenario

every_protocol = pytest.mark.parametrize("protocol", sorted(PROTOCOLS))

STORM = (
    Fault(kind="duplicate", at_s=0, probability=0.2),
    Fault(kind="reorder", at_s=0.5, probability=0.3, until_s=1.5),
    Fault(kind="pause", at_s=1, sites=["B"], for_s=0.3),
    Fault(kind="slow-link", at_s=0.2, between=("A", "C"), extra_ms=33),
)


def events(load: Scenario, chooser: Chooser | None = None) -> list[tuple[Any, ...]]:
    diary = Diary()
    Simulation(load, [diary], chooser=chooser).run()
    return diary.events


@every_protocol
def test_the_same_seed_gives_the_same_events(protocol: str) -> None:
    load = scenario(protocol, fault=STORM)
    first = events(load)
    assert first == events(load)
    assert first != events(scenario(protocol, fault=STORM, seed=2))


@every_protocol
def test_recorded_choices_replay_to_the_same_events(protocol: str) -> None:
    load = scenario(protocol, fault=STORM)
    recorder = RecordingChooser(SeededChooser(99))
    recorded = events(load, recorder)
    replay = ReplayingChooser(recorder.picks)
    assert events(load, replay) == recorded
    assert replay.used == len(recorder.picks)


@every_protocol
def test_any_list_of_choices_is_a_run(protocol: str) -> None:
    """The base of shrinking: even a cut and clipped list plays to an end."""
    recorder = RecordingChooser(SeededChooser(1))
    load = scenario(protocol, fault=STORM, rate=10.0)
    events(load, recorder)
    shorter = [pick // 2 for pick in recorder.picks[: len(recorder.picks) // 2]]
    assert events(load, ReplayingChooser(shorter))[-1][2] == "end"


def test_hash_seeds_do_not_count() -> None:
    """The same bytes in processes that hash differently."""
    code = (
        "import hashlib\n"
        "from tests.simulator.test_simulation import *\n"
        "for name in sorted(PROTOCOLS):\n"
        "    print(name, hashlib.sha256(repr(events(scenario(name, fault=STORM, rate=20.0))).encode()).hexdigest())\n"
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert outputs[0] == outputs[1]
    assert len(outputs[0].splitlines()) == len(PROTOCOLS)


def test_time_never_runs_backwards() -> None:
    times = [event[0] for event in events(scenario("hybrid", fault=STORM, variance=900.0))]
    assert times == sorted(times)


def test_a_run_begins_with_the_view_of_all_and_ends_after_the_drain() -> None:
    found = events(scenario("symmetric", rate=5.0))
    view = View(ViewId(1), (SiteId(0), SiteId(1), SiteId(2)))
    assert [event[:4] for event in found[:3]] == [(0, site, "view", view) for site in range(3)]
    kinds = [event[2] for event in found]
    end_of_traffic = kinds.index("traffic end")
    assert found[end_of_traffic][0] == 2_000_000
    assert "multicast" not in kinds[end_of_traffic:]
    assert "deliver" in kinds[end_of_traffic:], "what was under way is delivered in the drain"
    assert kinds[-1] == "end"


def test_flushing_begins_when_the_traffic_ends() -> None:
    flushed: list[tuple[int, int]] = []

    def build(setup: Any) -> Any:
        layer = PROTOCOLS["symmetric"].build(setup)

        class Watched:
            WIRE = layer.WIRE

            def handle(self, event: Any, now: Any, out: Any) -> None:
                if isinstance(event, Flush):
                    flushed.append((now.monotonic_us, setup.me))
                layer.handle(event, now, out)

            def waiting_for(self) -> Any:
                return layer.waiting_for()

        return Watched()

    Simulation(scenario(), build=build).run()
    assert flushed == [(2_000_000, site) for site in range(3)]


def test_transmissions_are_copies_and_multicasts_are_not() -> None:
    simulation = Simulation(scenario("token-site", traffic=(Traffic(sites=["B"], rate=10, source="periodic"),)))
    simulation.run()
    assert simulation.multicasts == 2 * 20, "the messages, and a number for each"
    assert simulation.transmissions == 2 * simulation.multicasts
    assert simulation.events == 20 + 3 * 2 + simulation.transmissions, "multicasts, views and flushes, arrivals"


@every_protocol
def test_a_lone_site_delivers_at_once(protocol: str) -> None:
    diary = Diary()
    Simulation(scenario(protocol, "A", rate=20.0), [diary]).run()
    sent = diary.of("multicast")
    assert len(sent) >= 39
    assert diary.of("deliver") == sent
