"""The driver and its outbox: effects in order, and behind the writes before them."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import Struct

from ordercast.core.deliveries import Finalized, Logged, Truncated
from ordercast.core.effects import Note, Out
from ordercast.core.entries import Entry
from ordercast.core.events import Event, FromAbove, FromBelow, Now, TimerFired
from ordercast.core.ids import SiteId, ViewId
from ordercast.core.views import View
from ordercast.site.clock import ManualClock
from ordercast.site.driver import Driver

ME, OTHER = SiteId(0), SiteId(1)


class Recorder:
    """Log, links and host in one: what happened, in order."""

    def __init__(self, appends_must_be_durable: bool = False) -> None:
        self.happened: list[Any] = []
        self.written = 0
        self.appends_must_be_durable = appends_must_be_durable

    def _write(self, *what: Any) -> None:
        self.written += 1
        self.happened.append(what)

    def append(self, entry: Entry) -> None:
        self._write("append", entry.position)

    def truncate(self, position: int) -> None:
        self._write("truncate", position)

    def finalize(self, below: int) -> None:
        self._write("finalize", below)

    def restart_at(self, position: int) -> None:
        self._write("restart", position)

    def save(self, key: str, value: bytes, *, binding: bool = True) -> None:
        self._write("save", key)

    def send(self, to: SiteId, frame: Any) -> None:
        self.happened.append(("send", frame))

    def delivered(self, sender: SiteId, message: Any) -> None:
        if isinstance(message, Logged | Truncated):
            return  # told, too, for the trace
        self.happened.append(("deliver", message))

    def noted(self, note: Note) -> None:
        self.happened.append(("note", note.kind))


class Scripted(Struct):
    """A layer that does what it is told."""

    WIRE: Any = None

    def handle(self, event: Event, now: Now, out: Out) -> None:
        match event:
            case FromAbove(message=script):
                for verb, *arguments in script:
                    if verb == "keep":
                        out.save(*arguments, binding=False)
                    else:
                        getattr(out, verb)(*arguments)
            case FromBelow(message=message):
                out.deliver(ME, message)
            case TimerFired(key=key):
                out.send(OTHER, (key, now.monotonic_us))
            case _:
                raise AssertionError(event)

    def waiting_for(self) -> None:
        return None


def entry(position: int) -> Entry:
    return Entry(position, position + 1, View(ViewId(1), (ME,)), 0)


def made(recorder: Recorder, clock: ManualClock | None = None) -> Driver:
    return Driver(Scripted(), clock or ManualClock(), recorder, recorder, recorder)


def test_effects_are_performed_in_order() -> None:
    recorder = Recorder()
    made(recorder).handle(FromAbove([("send", OTHER, 1), ("deliver", ME, 2), ("send", OTHER, 3)]))
    assert recorder.happened == [("send", 1), ("deliver", 2), ("send", 3)]


def test_nothing_leaves_before_what_was_saved_is_durable() -> None:
    recorder = Recorder()
    driver = made(recorder)
    driver.handle(FromAbove([("send", OTHER, 1), ("save", "key", b""), ("send", OTHER, 2), ("deliver", ME, 3)]))
    assert recorder.happened == [("send", 1), ("save", "key")]
    assert driver.held_back == 2
    driver.handle(FromAbove([("send", OTHER, 4)]))
    driver.on_durable(1)
    assert recorder.happened[2:] == [("send", 2), ("deliver", 3), ("send", 4)]
    assert driver.held_back == 0


@pytest.mark.parametrize("write", [("deliver", ME, Logged(entry(0))), ("keep", "key", b"")])
def test_what_binds_nobody_holds_back_what_follows_only_if_it_must_be_durable(write: tuple[Any, ...]) -> None:
    script = [write, ("send", OTHER, 1)]
    eager, careful = Recorder(), Recorder(appends_must_be_durable=True)
    made(eager).handle(FromAbove(script))
    assert eager.happened[1:] == [("send", 1)]
    driver = made(careful)
    driver.handle(FromAbove(script))
    assert len(careful.happened) == careful.written == 1
    driver.on_durable(1)
    assert careful.happened[1:] == [("send", 1)]


def test_a_later_write_lets_go_what_waited_for_earlier_ones() -> None:
    recorder = Recorder()
    driver = made(recorder)
    script = [("save", "a", b""), ("send", OTHER, 1), ("save", "b", b""), ("send", OTHER, 2)]
    driver.handle(FromAbove(script))
    driver.on_durable(2)
    assert recorder.happened[2:] == [("send", 1), ("send", 2)]


def test_what_is_final_or_void_is_written_too() -> None:
    recorder = Recorder()
    made(recorder).handle(FromAbove([("deliver", ME, Truncated(3)), ("deliver", ME, Finalized(3))]))
    assert recorder.happened == [("truncate", 3), ("finalize", 3), ("deliver", Finalized(3))]


def test_an_event_that_comes_up_meanwhile_waits() -> None:
    recorder = Recorder()
    driver = made(recorder)

    def answer(sender: SiteId, message: Any) -> None:
        recorder.happened.append(("deliver", message))
        if message == "first":
            driver.handle(FromBelow(OTHER, "third"))

    recorder.delivered = answer  # type: ignore[method-assign]
    driver.handle(FromAbove([("deliver", ME, "first"), ("deliver", ME, "second")]))
    assert [message for _, message in recorder.happened] == ["first", "second", "third"]


def test_timers_fire_once_are_replaced_and_cancelled() -> None:
    recorder, clock = Recorder(), ManualClock()
    driver = made(recorder, clock)
    driver.handle(FromAbove([("set_timer", "a", 10), ("set_timer", "b", 5), ("set_timer", "c", 7)]))
    driver.handle(FromAbove([("set_timer", "b", 20), ("cancel", "c")]))
    clock.advance(100)
    assert recorder.happened == [("send", ("a", 10)), ("send", ("b", 20))]


def test_a_stopped_driver_does_nothing_more() -> None:
    recorder, clock = Recorder(), ManualClock()
    driver = made(recorder, clock)
    driver.handle(FromAbove([("set_timer", "a", 10), ("save", "key", b""), ("send", OTHER, 1)]))
    driver.stop()
    driver.on_durable(1)
    driver.handle(FromAbove([("send", OTHER, 2)]))
    clock.advance(100)
    assert recorder.happened == [("save", "key")]
