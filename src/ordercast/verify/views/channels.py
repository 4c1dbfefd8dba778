"""The links of a live group as the explorer has them: perfect streams, and messages that travel by themselves.

A *stream* brings every message in order, until its sender resets it or its receiver crashes: what is under way then
is lost, and what the sender says to a life that has ended is lost, too. Beside it travel control messages and
heartbeats by themselves; they overtake the stream and each other. That they can be lost needs no move of its own: a
message that is lost is one that does not arrive as long as it matters. Equal ones are one (the other is lost), and
of the heartbeats between two sites only the newest is under way (the ones before are lost).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import dropwhile
from typing import Any, NamedTuple

from ordercast.verify.channels import EMPTY, Takes
from ordercast.verify.reactions import Numbered
from ordercast.verify.views.events import Arrives, ComesUp, Drops, GoesDown, Resets, Vanishes


class Contents(NamedTuple):
    """What is under way from one site to another."""

    stream: tuple[int, ...] = ()
    """The numbers of the arrivals, in order."""
    alone: tuple[int, ...] = ()
    """The same for messages that travel by themselves, by number."""
    to_life: int = 0
    """The life of the receiver for which the stream is meant."""
    life: int = 0
    """The receiver's present life, or its next one if it is down."""
    down: bool = False
    ended: bool = False
    """Whether the receiver will never come back."""


class Links:
    """The channels of one scope. `events` gives the meaning of the numbers of events."""

    fifo = False
    clears = True

    def __init__(self, events: Numbered[Any]) -> None:
        self.takes: list[Takes] = []
        self._events = events
        self._contents: Numbered[Contents] = Numbered()
        self._put: dict[tuple[int, int], int] = {}
        assert self._number(Contents()) == EMPTY

    def put(self, channel: int, event: int) -> int:
        """What the channel holds after something has been sent, or has happened to it."""
        after = self._put.get((channel, event))
        if after is None:
            after = self._put[channel, event] = self._number(self._after(self._contents[channel], event))
        return after

    def cleared(self, channel: int, is_void: Callable[[int], bool]) -> int:
        """What a channel holds but for messages that change nothing any more, if they can arrive."""
        now = self._contents[channel]
        if now.down:
            return channel
        stream = tuple(dropwhile(is_void, now.stream))
        alone = tuple(each for each in now.alone if not is_void(each))
        return self._number(now._replace(stream=stream, alone=alone))

    def _after(self, now: Contents, number: int) -> Contents:
        if now.ended:
            return now
        match self._events[number]:
            case Arrives():
                return now._replace(stream=(*now.stream, number)) if now.to_life == now.life else now
            case Drops() as message:
                return now._replace(alone=self._with(now.alone, number, message))
            case Resets(life=life):
                return now._replace(stream=(), to_life=life)
            case Vanishes():
                return now._replace(stream=(), alone=())
            case GoesDown(forever=True):
                return Contents(ended=True)
            case GoesDown():
                return now._replace(stream=(), life=now.life + 1, down=True)
            case ComesUp():
                return now._replace(down=False)
        raise AssertionError(f"nothing that happens to a channel: {self._events[number]}")

    def _with(self, alone: tuple[int, ...], number: int, message: Drops) -> tuple[int, ...]:
        if number in alone:
            return alone
        if message.heartbeat:
            alone = tuple(each for each in alone if not self._events[each].heartbeat)
        return tuple(sorted((*alone, number)))

    def _number(self, contents: Contents) -> int:
        number = self._contents.number(contents)
        if number == len(self.takes):
            self.takes.append(())
            self.takes[number] = () if contents.down else self._ways_to_take(contents)
        return number

    def _ways_to_take(self, contents: Contents) -> Takes:
        stream, alone = contents.stream, contents.alone
        ways = [(stream[0], self._number(contents._replace(stream=stream[1:])))] if stream else []
        for place, number in enumerate(alone):
            ways.append((number, self._number(contents._replace(alone=alone[:place] + alone[place + 1 :]))))
        return tuple(ways)
