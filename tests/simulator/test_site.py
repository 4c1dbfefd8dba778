"""A simulated site performs effects: timers, own copies, stored values."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from msgspec import Struct

from ordercast.core.events import Event, Flush, FromAbove, FromBelow, Now, TimerFired, TimerKey, ViewInstalled
from ordercast.core.ids import SiteId
from ordercast.core.layer import Waiting
from ordercast.protocols.ordering.setup import Setup
from ordercast.simulator.scenario import Fault
from ordercast.simulator.simulation import Simulation
from tests.simulator.small import scenario

A, B = SiteId(0), SiteId(1)
Did = tuple[int, SiteId, str, Any]
Script = dict[str, list[tuple[Any, ...]]]
"""For each "MESSAGE at SITE" what to ask of the host then: the name of an effect and its arguments."""


class Puppet(Struct):
    """Does what it is told, and writes down what happens to it."""

    WIRE: ClassVar = str

    me: SiteId
    log: list[Did]
    script: Script

    def handle(self, event: Event, now: Now, out: Any) -> None:
        match event:
            case ViewInstalled():
                self.act("start", out)
            case FromBelow(message=message):
                self.log.append((now.monotonic_us, self.me, "receives", message))
                self.act(message, out)
            case TimerFired(key=key):
                self.log.append((now.monotonic_us, self.me, "wakes for", key))
            case FromAbove() | Flush() | _:
                pass

    def act(self, message: str, out: Any) -> None:
        for verb, *arguments in self.script.get(f"{message} at {'ABC'[self.me]}", ()):
            getattr(out, verb)(*arguments)

    def waiting_for(self) -> Waiting | None:
        return None


def play(script: Script, *faults: Fault) -> list[Did]:
    """Run puppets that are 20 ms apart."""
    log: list[Did] = []

    def build(setup: Setup) -> Puppet:
        return Puppet(setup.me, log, script)

    simulation = Simulation(scenario(traffic=(), fault=faults, variance=0.0), build=build)
    simulation.run()
    return log


def wakes(log: list[Did]) -> list[tuple[int, TimerKey]]:
    return [(at_us, what) for at_us, _, did, what in log if did == "wakes for"]


def test_a_timer_fires_once() -> None:
    assert wakes(play({"start at A": [("set_timer", "tick", 700)]})) == [(700, "tick")]


def test_setting_a_timer_again_replaces_it() -> None:
    script: Script = {
        "start at A": [("set_timer", "tick", 700), ("set_timer", ("b", 1), 800), ("set_timer", "tick", 900)]
    }
    assert wakes(play(script)) == [(800, ("b", 1)), (900, "tick")]


def test_a_cancelled_timer_never_fires() -> None:
    assert wakes(play({"start at A": [("set_timer", "tick", 700), ("cancel", "tick"), ("cancel", "other")]})) == []


def test_a_timer_cancelled_at_the_moment_it_is_due_never_fires() -> None:
    """The message was sent before the timer was set and is handled first."""
    script: Script = {
        "start at A": [("send", B, "stop")],
        "start at B": [("set_timer", "tick", 20_000)],
        "stop at B": [("cancel", "tick")],
    }
    log = play(script)
    assert (20_000, B, "receives", "stop") in log
    assert wakes(log) == []


PAUSE = Fault(kind="pause", at_s=0.01, sites=["A"], for_s=0.09)


def test_a_timer_due_in_a_pause_fires_after_it() -> None:
    assert wakes(play({"start at A": [("set_timer", "tick", 50_000)]}, PAUSE)) == [(100_000, "tick")]


@pytest.mark.parametrize("reaction", [("cancel", "tick"), ("set_timer", "tick", 7)])
def test_a_timer_due_in_a_pause_can_still_be_taken_back(reaction: tuple[Any, ...]) -> None:
    """By what arrived before it was due and is handled before it."""
    script: Script = {
        "start at A": [("set_timer", "tick", 50_000)],
        "start at B": [("send", A, "stop")],
        "stop at A": [reaction],
    }
    expected = [] if reaction[0] == "cancel" else [(100_007, "tick")]
    assert wakes(play(script, PAUSE)) == expected


def test_a_multicast_comes_back_at_once_and_after_the_event_that_caused_it() -> None:
    script: Script = {"start at A": [("multicast", "one"), ("multicast", "two")], "one at A": [("multicast", "three")]}
    log = play(script)
    assert [(at_us, what) for at_us, site, _, what in log if site == A] == [(0, "one"), (0, "two"), (0, "three")]
    assert [(at_us, what) for at_us, site, _, what in log if site == B] == [
        (20_000, "one"),
        (20_000, "two"),
        (20_000, "three"),
    ]


def test_a_message_is_sent_to_one_site_alone() -> None:
    assert play({"start at A": [("send", B, "psst")]}) == [(20_000, B, "receives", "psst")]
