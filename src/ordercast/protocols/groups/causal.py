"""Fifo and causal bundles in one view: they wait for each other, never for the total order.

Each member's fifo and causal bundles are counted together. A causal bundle carries the counts that its sender had
delivered (a vector clock of the view); a fifo bundle only waits for those of its own sender. Agreed bundles carry the
counts too, and wait for them in their place of the total order.
"""

from __future__ import annotations

from msgspec import Struct

from ordercast.core.ids import SiteId
from ordercast.core.messages import Bundle
from ordercast.core.views import View


class Causal(Struct):
    """What has been delivered in this view without a position, and what waits."""

    delivered: dict[SiteId, int]
    """How many bundles of each member, in the order of the view."""
    waiting: dict[SiteId, list[Bundle]]
    any: bool = False
    """Whether there has been any: most groups use agreed multicasts only."""

    @classmethod
    def of(cls, view: View) -> Causal:
        """Nothing has been delivered in the view yet."""
        return cls(dict.fromkeys(view.members, 0), {member: [] for member in view.members})

    def past(self) -> tuple[int, ...]:
        """What a bundle multicast now must wait for everywhere."""
        return tuple(self.delivered.values()) if self.any else ()

    def is_ready(self, past: tuple[int, ...]) -> bool:
        """Whether everything that precedes has been delivered here."""
        return not past or all(have >= need for have, need in zip(self.delivered.values(), past, strict=True))

    def receive(self, sender: SiteId, bundle: Bundle) -> list[Bundle]:
        """A bundle has come; returns what can be delivered now, in order."""
        self.any = True
        self.waiting[sender].append(bundle)
        ready: list[Bundle] = []
        progress = True
        while progress:
            progress = False
            for member, queue in self.waiting.items():
                while queue and self.is_ready(queue[0].past):
                    ready.append(queue.pop(0))
                    self.delivered[member] += 1
                    progress = True
        return ready
