"""An answer to what has been retracted comes up after it.

Had its site delivered a message when it multicast another, and retracts the first, that may come up again late, or
never. If it does, the answer lies behind it; unless the site that has sent the first was no member when the answer got
its position: not of that view, or not of the next, as it may have come up while the view was closed.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from ordercast.core.ids import INCARNATION_BITS, SEQ_BITS, MessageId, SiteId
from ordercast.verify.audit.causal import known_when_multicast
from ordercast.verify.audit.check import Check, Facts
from ordercast.verify.audit.life import Code, Life, LifeId, life_of, message_name, seq_in, view_of
from ordercast.verify.properties import CAUSAL_ORDER

Void = tuple[int, int]
"""A message that has been retracted; and the number of the first own message that follows it."""


class AnswerCheck(Check):
    """Looks at each life's multicasts before `CausalCheck` makes them forget what is void."""

    def __init__(self, facts: Facts) -> None:
        super().__init__(facts)
        self._voids: dict[LifeId, list[Void]] = {}
        self._reaching: list[tuple[int, int]] = []
        """While a life retracts: its multicasts that follow some of that, and what each had of the order; ascending."""
        self._views: list[tuple[int, int]] = []
        """The final order's views with their positions."""

    def on_retract(self, life: Life, position: int) -> None:
        sent = self.facts.sent_by(life.id)
        self._reaching = list(known_when_multicast(sent, position))[::-1]

    def on_taken_back(self, life: Life, position: int, code: Code) -> None:
        if code < 0 or life_of(code) == life.id:
            return
        index = bisect_right(self._reaching, position, key=lambda each: each[0])
        newest = self.facts.sent_by(life.id).newest
        first = self._reaching[index][1] if index < len(self._reaching) else newest + 1
        self._voids.setdefault(life.id, []).append((code, first))

    def finish(self) -> None:
        self._views = [
            (position, number) for position, code, _ in self.facts.order() if (number := view_of(code)) is not None
        ]
        for life, voids in self._voids.items():
            placed = list(self.facts.sent_by(life).placed.items())
            for void in voids:
                self._check(life, void, placed)

    def _check(self, life: LifeId, void: Void, placed: list[tuple[int, int]]) -> None:
        """`placed` has the numbers of the life's own messages, and 1 + their positions."""
        message, first = void
        position = self.facts.sent_by(life_of(message)).placed[seq_in(message)] - 1
        for seq, shifted in placed[bisect_left(placed, (first, 0)) :]:
            if shifted - 1 >= position:
                return
            if self._was_member(life_of(message) >> INCARNATION_BITS, shifted - 1, position):
                self._too_early(life, MessageId(life << SEQ_BITS | seq), shifted - 1, MessageId(message), position)
                return

    def _was_member(self, site: int, position: int, until: int) -> bool:
        """Whether a site was in the view of a position, and in the next if that begins before another position."""
        index = bisect_right(self._views, position, key=lambda each: each[0])
        near = [number for start, number in self._views[max(0, index - 1) : index + 1] if start < until]
        return all(site in self.facts.views[number].members for number in near if number in self.facts.views)

    def _too_early(self, life: LifeId, answer: MessageId, position: int, message: MessageId, later: int) -> None:
        site = SiteId(life >> INCARNATION_BITS)
        what = f"{message_name(answer)} is at position {position}, before {message_name(message)} at {later}"
        what = f"{what}, which its site had delivered, and taken back, when it was multicast"
        self.facts.violated(CAUSAL_ORDER, what, (site,), None, (position, later), (answer, message))
