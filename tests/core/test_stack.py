"""Layers on top of each other: who gets what, and in which order."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from msgspec import Struct

from ordercast.core.effects import Deliver, Effect, Effects, Multicast, Note, Record, Save, Send, SetTimer
from ordercast.core.events import Event, Flush, FromAbove, FromBelow, Now, TimerFired, ViewInstalled
from ordercast.core.ids import SiteId, ViewId
from ordercast.core.layer import Layer, Waiting
from ordercast.core.stack import Stack, stacked
from ordercast.core.views import View

NOW = Now(7, 8, 9)
A, B = SiteId(0), SiteId(1)
VIEW = View(ViewId(1), (A, B))


class Scribe(Struct):
    """Writes down its events and passes them on, marked with its name."""

    WIRE: ClassVar = str

    name: str
    log: list[str]
    reason: Waiting | None = None

    def handle(self, event: Event, now: Now, out: Any) -> None:
        assert now == NOW
        match event:
            case FromAbove(message=message, to=None):
                self.log.append(f"{self.name} multicasts {message}")
                out.multicast(f"{message}>{self.name}")
            case FromAbove(message=message, to=int() as to):
                self.log.append(f"{self.name} sends {message}")
                out.send(to, f"{message}>{self.name}")
            case FromBelow(sender=sender, message=message):
                self.log.append(f"{self.name} receives {message}")
                out.deliver(sender, f"{message}>{self.name}")
            case ViewInstalled(view=view):
                self.log.append(f"{self.name} sees view {view.id}")
                out.install(view)
            case TimerFired(key=key):
                self.log.append(f"{self.name} wakes for {key}")
                out.set_timer(key, 5)
            case Flush():
                self.log.append(f"{self.name} flushes")

    def waiting_for(self) -> Waiting | None:
        return self.reason


class Busy(Scribe):
    """Does several things at once."""

    def handle(self, event: Event, now: Now, out: Any) -> None:
        out.record(Note("role"))
        out.deliver(A, "first")
        out.send(B, "second")
        out.save("term", b"1")
        out.set_timer("soon", 3)
        out.cancel("late")
        out.deliver(A, "third")
        out.multicast("fourth")


def run(layer: Layer, event: Event) -> list[Effect]:
    effects = Effects()
    layer.handle(event, NOW, effects)
    return effects.list


def two() -> tuple[list[str], Layer]:
    log: list[str] = []
    return log, stacked((Scribe("top", log), Scribe("bottom", log)))


def test_a_single_layer_is_its_own_stack() -> None:
    layer = Scribe("only", [])
    assert stacked((layer,)) is layer


def test_messages_go_down_through_all_layers_and_up_again() -> None:
    log, stack = two()
    assert run(stack, FromAbove("m")) == [Multicast("m>top>bottom")]
    assert run(stack, FromAbove("m", B)) == [Send(B, "m>top>bottom")]
    assert run(stack, FromBelow(B, "m")) == [Deliver(B, "m>bottom>top")]
    assert log == [
        "top multicasts m",
        "bottom multicasts m>top",
        "top sends m",
        "bottom sends m>top",
        "bottom receives m",
        "top receives m>bottom",
    ]


def test_a_view_comes_from_the_bottom() -> None:
    log, stack = two()
    run(stack, ViewInstalled(VIEW))
    assert log == ["bottom sees view 1", "top sees view 1"]


def test_work_between_layers_is_done_first_in_first_out() -> None:
    """What the middle layer puts first is handled first, and nothing waits for the depth of another's work."""
    log: list[str] = []
    stack = stacked((Scribe("top", log), Busy("middle", log), Scribe("bottom", log)))
    effects = run(stack, FromAbove("m"))
    assert log == [
        "top multicasts m",
        "top receives first",
        "bottom sends second",
        "top receives third",
        "bottom multicasts fourth",
    ]
    assert [each for each in effects if isinstance(each, Deliver | Send | Multicast)] == [
        Deliver(A, "first>top"),
        Send(B, "second>bottom"),
        Deliver(A, "third>top"),
        Multicast("fourth>bottom"),
    ]


def test_effects_at_the_edge_leave_in_the_order_in_which_they_were_put() -> None:
    stack = Stack((Busy("only", []), Scribe("idle", [])))
    names = [type(each).__name__ for each in run(stack, TimerFired((0, "x")))]
    assert names == ["Record", "Deliver", "Save", "SetTimer", "Cancel", "Deliver", "Send", "Multicast"]


def test_what_a_layer_saves_comes_behind_what_it_has_handed_up_and_before_what_it_sends_afterwards() -> None:
    stack = stacked((Scribe("top", []), Busy("middle", []), Scribe("bottom", [])))
    effects = [each for each in run(stack, FromAbove("m")) if isinstance(each, Deliver | Save | Send | Multicast)]
    assert effects == [
        Deliver(A, "first>top"),
        Send(B, "second>bottom"),
        Save("term", b"1"),
        Deliver(A, "third>top"),
        Multicast("fourth>bottom"),
    ]


def test_each_layer_has_timers_of_its_own() -> None:
    stack = stacked((Scribe("top", []), Busy("bottom", [])))
    effects = run(stack, FromBelow(B, "m"))
    assert SetTimer((1, "soon"), 3) in effects
    assert Save("term", b"1") in effects
    assert Record(Note("role")) in effects


@pytest.mark.parametrize(("index", "name"), [(0, "top"), (1, "bottom")])
def test_a_timer_goes_back_to_the_layer_that_set_it(index: int, name: str) -> None:
    log, stack = two()
    assert run(stack, TimerFired((index, "tick"))) == [SetTimer((index, "tick"), 5)]
    assert log == [f"{name} wakes for tick"]


def test_a_timer_finds_its_way_through_nested_stacks() -> None:
    log: list[str] = []
    inner = stacked((Scribe("b", log), Scribe("c", log)))
    stack = stacked((Scribe("a", log), inner))
    (effect,) = run(stack, TimerFired((1, (1, "tick"))))
    assert effect == SetTimer((1, (1, "tick")), 5)
    assert log == ["c wakes for tick"]


def test_nobody_else_s_timer_is_an_assertion() -> None:
    _, stack = two()
    with pytest.raises(AssertionError, match="no layer of this stack set the timer"):
        run(stack, TimerFired("tick"))


def test_a_flush_reaches_every_layer_of_nested_stacks_once() -> None:
    log: list[str] = []
    inner = stacked((Scribe("b", log), Scribe("c", log)))
    run(stacked((Scribe("a", log), inner, Scribe("d", log))), Flush())
    assert log == ["a flushes", "b flushes", "c flushes", "d flushes"]


def test_the_topmost_layer_that_waits_says_why() -> None:
    why = Waiting("a ticket from", B)
    other = Waiting("a frame from", A)
    assert stacked((Scribe("top", []), Scribe("bottom", []))).waiting_for() is None
    assert stacked((Scribe("top", []), Scribe("bottom", [], other))).waiting_for() == other
    assert stacked((Scribe("top", [], why), Scribe("bottom", [], other))).waiting_for() == why
