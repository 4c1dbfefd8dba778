"""A wide area network that is not there: delay, loss and cuts on the way out of a site.

For tests and demonstrations on one machine. It stands between the links and the connections, keeps the order of what it
delays, and can be changed while the site runs.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from ordercast.core.ids import SiteId
from ordercast.site.clock import Clock


class Way(Struct):
    """What happens to frames from this site to another."""

    delay_us: int = 0
    jitter_us: int = 0
    """Up to so much more, evenly drawn; frames never overtake each other."""
    loss: float = 0.0
    """The part of all frames that does not arrive."""
    cut: bool = False
    """Nothing arrives."""


class EmulatedNetwork:
    """Takes frames from the links and gives them to `send` when their time has come."""

    def __init__(
        self, clock: Clock, send: Callable[[SiteId, Any], None], healed: Callable[[SiteId], None], seed: int = 0
    ) -> None:
        """`healed` is called when a way is open again after a cut: what was sent meanwhile is lost."""
        self._clock = clock
        self._send = send
        self._healed = healed
        self._random = random.Random(seed)
        self._ways: dict[SiteId, Way] = {}
        self._under_way: dict[SiteId, deque[tuple[int, Any]]] = {}

    def set_way(self, to: SiteId, way: Way) -> None:
        """Change the way to a site."""
        before = self._ways.get(to, Way())
        self._ways[to] = way
        if way.cut:
            self._under_way.pop(to, None)
        elif before.cut:
            self._healed(to)

    def way(self, to: SiteId) -> Way:
        """The way to a site as it is."""
        return self._ways.get(to, Way())

    def send(self, to: SiteId, frame: Any) -> None:
        """A frame leaves the site."""
        way = self._ways.get(to)
        if way is None:
            self._send(to, frame)
            return
        if way.cut or (way.loss and self._random.random() < way.loss):
            return
        queue = self._under_way.get(to)
        if not way.delay_us and not way.jitter_us and not queue:
            self._send(to, frame)
            return
        due_us = self._clock.now().monotonic_us + way.delay_us
        if way.jitter_us:
            due_us += self._random.randrange(way.jitter_us + 1)
        if queue:
            queue.append((max(due_us, queue[-1][0]), frame))
        else:
            self._under_way[to] = deque([(due_us, frame)])
            self._wake(to, way.delay_us)

    def _wake(self, to: SiteId, after_us: int) -> None:
        queue = self._under_way[to]
        self._clock.call_later(max(0, after_us), lambda: self._arrive(to, queue))

    def _arrive(self, to: SiteId, queue: deque[tuple[int, Any]]) -> None:
        if self._under_way.get(to) is not queue:
            return  # there has been a cut since
        now_us = self._clock.now().monotonic_us
        while queue and queue[0][0] <= now_us:
            self._send(to, queue.popleft()[1])
        if queue:
            self._wake(to, queue[0][0] - now_us)
