"""Layers on top of each other are a layer again.

Each event of the host sets off a chain of events between the layers. They wait in one first-in-first-out
queue and are handled one after the other (no recursion) until the queue is empty. The effects that leave
the stack, at its top or bottom, go to the host's `Out` in the order in which they were put. What the layers save they
save under keys that no other layer of the stack uses.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from ordercast.core.effects import Note, Out, Save
from ordercast.core.events import Event, Flush, FromAbove, FromBelow, Now, Started, TimerFired, TimerKey, ViewInstalled
from ordercast.core.ids import SiteId
from ordercast.core.layer import Layer, Waiting
from ordercast.core.views import View

Work = deque[tuple[int, Event | Save]]


def stacked(layers: tuple[Layer, ...]) -> Layer:
    """The layers, given from top to bottom, as one layer. A single layer is its own stack."""
    assert layers, "a stack needs at least one layer"
    return layers[0] if len(layers) == 1 else Stack(layers)


class Stack:
    """Two or more layers, given from top to bottom."""

    def __init__(self, layers: tuple[Layer, ...]) -> None:
        self.layers = layers
        self._work: Work = deque()
        kinds = (_Top, *[_Port] * (len(layers) - 2), _Bottom)
        self._ports = tuple(kind(self._work, index, len(layers)) for index, kind in enumerate(kinds))
        turns = [(layer.handle, port) for layer, port in zip(layers, self._ports, strict=True)]
        self._turns: tuple[tuple[Any, Any], ...] = (*turns, (self._save, None))
        self._host: Out | None = None

    def kinds(self) -> tuple[Any, ...]:
        """The type of each layer, with the messages of those above it filled in."""
        kinds = []
        wire: Any = None
        for layer in self.layers:
            kinds.append(_filled(type(layer), wire))
            wire = _filled(layer.WIRE, wire)
        return tuple(kinds)

    @property
    def WIRE(self) -> Any:
        """What the bottom layer puts on the wire, wrapped around the messages of those above it."""
        wire: Any = None
        for layer in self.layers:
            wire = _filled(layer.WIRE, wire)
        return wire

    def handle(self, event: Event, now: Now, out: Out) -> None:
        work, turns = self._work, self._turns
        if out is not self._host:
            self._serve(out)
        self._enter(event)
        while work:
            index, inner = work.popleft()
            handle, port = turns[index]
            handle(inner, now, port)

    def _serve(self, host: Out) -> None:
        self._host = host
        for port in self._ports:
            port.host = host

    def _save(self, save: Save, now: Now, port: None) -> None:
        """A layer between others saves something: it takes its turn, behind what the layer has handed up before."""
        assert self._host is not None
        self._host.save(save.key, save.value, binding=save.binding)

    def _enter(self, event: Event) -> None:
        match event:
            case FromBelow() | ViewInstalled():
                self._work.append((len(self.layers) - 1, event))
            case FromAbove():
                self._work.append((0, event))
            case TimerFired(key=(int(index), key)):
                self._work.append((index, TimerFired(key)))
            case Started() | Flush():
                self._work.extend((index, event) for index in range(len(self.layers)))
            case _:
                raise AssertionError(f"no layer of this stack set the timer of {event}")

    def waiting_for(self) -> Waiting | None:
        for layer in self.layers:
            if (reason := layer.waiting_for()) is not None:
                return reason
        return None


def _filled(generic: Any, payload: Any) -> Any:
    """A generic type with its payload filled in; any other type as it is."""
    return generic[payload] if getattr(generic, "__parameters__", ()) and payload is not None else generic


class _Port:
    """What a layer between two others sees as its `Out`: its neighbours, and the host for all but messages."""

    __slots__ = ("_above", "_below", "_host_turn", "_index", "_put", "host")

    host: Out

    def __init__(self, work: Work, index: int, host_turn: int) -> None:
        self._put = work.append
        self._host_turn = host_turn
        self._above = index - 1
        self._index = index
        self._below = index + 1

    def multicast(self, message: Any) -> None:
        self._put((self._below, FromAbove(message)))

    def send(self, to: SiteId, message: Any) -> None:
        self._put((self._below, FromAbove(message, to)))

    def deliver(self, sender: SiteId, message: Any) -> None:
        self._put((self._above, FromBelow(sender, message)))

    def install(self, view: View) -> None:
        self._put((self._above, ViewInstalled(view)))

    def set_timer(self, key: TimerKey, after_us: int) -> None:
        self.host.set_timer((self._index, key), after_us)

    def cancel(self, key: TimerKey) -> None:
        self.host.cancel((self._index, key))

    def save(self, key: str, value: bytes, *, binding: bool = True) -> None:
        self._put((self._host_turn, Save(key, value, binding)))

    def record(self, note: Note) -> None:
        self.host.record(note)


class _Top(_Port):
    """What it delivers goes to the host."""

    __slots__ = ()

    def save(self, key: str, value: bytes, *, binding: bool = True) -> None:
        self.host.save(key, value, binding=binding)

    def deliver(self, sender: SiteId, message: Any) -> None:
        self.host.deliver(sender, message)

    def install(self, view: View) -> None:
        self.host.install(view)


class _Bottom(_Port):
    """What it sends goes to the host."""

    __slots__ = ()

    def save(self, key: str, value: bytes, *, binding: bool = True) -> None:
        self.host.save(key, value, binding=binding)

    def multicast(self, message: Any) -> None:
        self.host.multicast(message)

    def send(self, to: SiteId, message: Any) -> None:
        self.host.send(to, message)
