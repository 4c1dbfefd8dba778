"""Fifo and causal bundles in one view: they wait for each other, never for the total order.

Each member's fifo and causal bundles are counted together. A causal bundle carries the counts that its sender had
delivered (a vector clock of the view); a fifo bundle only waits for those of its own sender. Agreed bundles carry the
counts too, and wait for them in their place of the total order.

A causal bundle can tell of agreed ones that the receiver has not delivered yet, and does not wait for them. So bundles
also carry how many agreed ones of each member they follow. An agreed bundle that the ordering protocol puts before one
that it follows changes place: it comes up right after that. This depends on nothing but the sequence, so it is the
same at every member.
"""

from __future__ import annotations

from msgspec import Struct

from ordercast.core.ids import MessageId, SiteId
from ordercast.core.messages import Bundle, Level
from ordercast.core.views import View


class Causal(Struct):
    """What has been delivered in this view without a position, and what waits."""

    delivered: dict[SiteId, int]
    """How many bundles of each member, in the order of the view."""
    waiting: dict[SiteId, list[Bundle]]
    ordered_known: dict[SiteId, int]
    """How many agreed and safe bundles of each member precede what this site multicasts next ..."""
    ordered_delivered: dict[SiteId, int]
    """... and how many have come up in the order."""
    early_from: MessageId | None = None
    """The first bundle that this site has accepted in this view before it had the whole order."""
    any: bool = False
    """Whether there has been any: most groups use agreed multicasts only."""

    @classmethod
    def of(cls, view: View) -> Causal:
        """Nothing has been delivered in the view yet."""
        nothing = dict.fromkeys(view.members, 0)
        return cls(dict(nothing), {member: [] for member in view.members}, dict(nothing), dict(nothing))

    def past(self) -> tuple[int, ...]:
        """What a bundle multicast now must wait for everywhere."""
        return tuple(self.delivered.values()) if self.any else ()

    def ordered_past(self) -> tuple[int, ...]:
        """Which agreed bundles precede what is multicast now; without fifo and causal ones the order tells."""
        return tuple(self.ordered_known.values()) if self.any else ()

    def on_early(self, bundle: Bundle) -> None:
        """This site accepts a bundle, and cannot hand it on yet."""
        if self.early_from is None:
            self.early_from = bundle.id

    def ordered_past_again(self, bundle: Bundle) -> tuple[int, ...]:
        """The same, of a bundle that this site had accepted before it took part in this view.

        If that was in an earlier view, an agreed one follows none of this view: were it to wait for one, that might
        have to wait for it.
        """
        is_older = self.early_from is None or bundle.id < self.early_from
        return () if is_older and bundle.level >= Level.AGREED else self.ordered_past()

    def on_submit(self, me: SiteId) -> None:
        """This site multicasts an agreed or safe bundle."""
        self.ordered_known[me] += 1

    def follows_delivered(self, bundle: Bundle) -> bool:
        """Whether all agreed bundles that the bundle follows have come up in the order."""
        past = bundle.ordered_past
        delivered = self.ordered_delivered.values()
        return not past or all(have >= need for have, need in zip(delivered, past, strict=True))

    def take_ready(self, deferred: list[Bundle]) -> Bundle | None:
        """Take out the first bundle that can come up in the order now, if there is one."""
        for index, bundle in enumerate(deferred):
            if self.follows_delivered(bundle):
                del deferred[index]
                self.on_ordered(bundle)
                return bundle
        return None

    def on_ordered(self, bundle: Bundle) -> None:
        """An agreed or safe bundle comes up in the order."""
        origin = bundle.origin
        if origin in self.ordered_delivered:
            self.ordered_delivered[origin] += 1
            self.ordered_known[origin] = max(self.ordered_known[origin], self.ordered_delivered[origin])

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
                    self._learn(ready[-1].ordered_past)
                    self.delivered[member] += 1
                    progress = True
        return ready

    def _learn(self, ordered_past: tuple[int, ...]) -> None:
        """What a delivered bundle follows, whatever this site multicasts next follows too."""
        if ordered_past:
            for member, count in zip(self.ordered_known, ordered_past, strict=True):
                self.ordered_known[member] = max(self.ordered_known[member], count)
