"""What leaves a site, in order, and nothing before the writes that it may rest upon are durable.

The protocols go on while the disk is busy: only what others would come to rely upon waits, and all that waits for one
write leaves as soon as that write, with whatever was written together with it, is on disk.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

Action = Callable[[Any, Any], None]


class Outbox:
    """Actions in order, each with the number of the write that it waits for."""

    def __init__(self) -> None:
        self.durable = 0
        """Every write up to this number is on disk."""
        self._needed = 0
        self._waiting: deque[tuple[int, Action, Any, Any]] = deque()

    def require(self, write: int) -> None:
        """What is put from here on waits for this write."""
        self._needed = write

    def put(self, action: Action, first: Any, second: Any) -> None:
        """Do this now if nothing before it waits, else when its turn comes."""
        if self._waiting or self._needed > self.durable:
            self._waiting.append((self._needed, action, first, second))
        else:
            action(first, second)

    def on_durable(self, write: int) -> None:
        """Everything up to this write is on disk: let go what waited for it."""
        self.durable = max(self.durable, write)
        waiting = self._waiting
        while waiting and waiting[0][0] <= self.durable:
            _, action, first, second = waiting.popleft()
            action(first, second)

    def __len__(self) -> int:
        """How many actions wait."""
        return len(self._waiting)
