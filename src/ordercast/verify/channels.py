"""The channels between the explorer's sites. What a channel holds is numbered, 0 being nothing."""

from __future__ import annotations

from collections.abc import Callable

from ordercast.verify.reactions import Numbered

EMPTY = 0

Takes = tuple[tuple[int, int], ...]
"""What can come out of a channel next: the number of the arrival, and of what the channel holds then."""


class Queues:
    """Between each two sites, in each direction, messages wait that have been sent and have not arrived."""

    clears = False

    def __init__(self, *, fifo: bool) -> None:
        """Without `fifo` messages overtake each other in every possible way."""
        self.fifo = fifo
        self.takes: list[Takes] = []
        """By number: what can come out next."""
        self._contents: Numbered[tuple[int, ...]] = Numbered()
        self._put: dict[tuple[int, int], int] = {}
        assert self._number(()) == EMPTY

    def put(self, channel: int, event: int) -> int:
        """What the channel holds with one message more."""
        after = self._put.get((channel, event))
        if after is None:
            after = self._put[channel, event] = self._number((*self._contents[channel], event))
        return after

    def cleared(self, channel: int, is_void: Callable[[int], bool]) -> int:
        """The same: here every message counts."""
        return channel

    def _number(self, contents: tuple[int, ...]) -> int:
        number = self._contents.number(contents)
        if number == len(self.takes):
            self.takes.append(())
            self.takes[number] = self._ways_to_take(contents)
        return number

    def _ways_to_take(self, contents: tuple[int, ...]) -> Takes:
        places = range(min(1, len(contents)) if self.fifo else len(contents))
        return tuple((contents[place], self._number(contents[:place] + contents[place + 1 :])) for place in places)
