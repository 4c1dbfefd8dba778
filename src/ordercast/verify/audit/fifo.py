"""Each sender's messages in its order, and none twice: at each site, and in the final order as a whole.

Messages with a place in the order and those without (fifo and causal ones) do not wait for each other, so each kind is
looked at by itself.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping

from ordercast.core.ids import INCARNATION_BITS, SEQ_BITS, MessageId, SiteId
from ordercast.core.messages import Level
from ordercast.core.trace import TraceRecord
from ordercast.verify.audit.check import Check, Facts
from ordercast.verify.audit.life import Code, Life, LifeId, life_of, message_name, seq_in
from ordercast.verify.audit.sparse import Sparse
from ordercast.verify.properties import FIFO_ORDER, NO_DUPLICATION, TOTAL_ORDER

SENT_ORDERED = int(Level.AGREED) + 1
"""The least value in `Sent.levels` of what goes into the order."""


class Delivered:
    """What one life has delivered of one kind."""

    __slots__ = ("newest", "seen")

    def __init__(self) -> None:
        self.newest: dict[LifeId, int] = {}
        self.seen: dict[LifeId, Sparse] = {}


class FifoCheck(Check):
    """Sees deliveries as they come; at the end it goes through the final order, and looks for what was left out."""

    def __init__(self, facts: Facts) -> None:
        super().__init__(facts)
        self._ordered: dict[LifeId, Delivered] = {}
        self._unordered: dict[LifeId, Delivered] = {}

    def on_placed(self, life: Life, record: TraceRecord, position: int, code: Code) -> None:
        if code >= 0:
            delivered = self._ordered.get(life.id) or self._ordered.setdefault(life.id, Delivered())
            self._deliver(delivered, life, code, record.view, position)

    def on_unordered(self, life: Life, record: TraceRecord, message: int) -> None:
        delivered = self._unordered.get(life.id) or self._unordered.setdefault(life.id, Delivered())
        self._deliver(delivered, life, message, record.view, None)

    def _deliver(self, mine: Delivered, life: Life, message: int, view: int | None, position: int | None) -> None:
        origin, seq = life_of(message), seq_in(message)
        seen = mine.seen.get(origin)
        if seen is None:
            seen = mine.seen[origin] = Sparse("b")
        newest = mine.newest.get(origin, -1)
        if seq > newest:
            mine.newest[origin] = seq
        else:
            self._late(life, message, view, position, newest, bool(seen[seq]))
        seen[seq] = 1

    def _late(
        self, life: Life, message: int, view: int | None, position: int | None, newest: int, is_again: bool
    ) -> None:
        positions = () if position is None else (position,)
        where = "" if position is None else f" at position {position}"
        if is_again:
            what = f"{life.name} delivers {message_name(message)} again{where}"
            self.facts.violated(NO_DUPLICATION, what, (life.site,), view, positions, (MessageId(message),))
            return
        later = MessageId(message - seq_in(message) + newest)
        what = f"{life.name} delivers {message_name(message)}{where} after {message_name(later)}"
        self.facts.violated(FIFO_ORDER, what, (life.site,), view, positions, (MessageId(message), later))

    def on_passed_over(self, life: Life, newest: Mapping[LifeId, int]) -> None:
        mine = self._ordered.get(life.id) or self._ordered.setdefault(life.id, Delivered())
        for sender, seq in newest.items():
            mine.seen.setdefault(sender, Sparse("b"))
            mine.newest[sender] = max(seq, mine.newest.get(sender, -1))

    def on_taken_back(self, life: Life, position: int, code: Code) -> None:
        """As if it had never been delivered."""
        mine = self._ordered.get(life.id)
        if code < 0 or mine is None:
            return
        origin, seq = life_of(code), seq_in(code)
        seen = mine.seen[origin]
        seen[seq] = 0
        if mine.newest[origin] == seq:
            while seq >= 0 and not seen[seq]:
                seq -= 1
            mine.newest[origin] = seq

    def finish(self) -> None:
        self._place_all()
        self._look_for_left_out()

    def _place_all(self) -> None:
        """The final order as a whole: no message has two positions."""
        for position, code, site in self.facts.order():
            if code < 0:
                continue
            sent, seq = self.facts.sent_by(life_of(code)), seq_in(code)
            first = sent.placed[seq] - 1
            if first < 0:
                sent.placed[seq] = position + 1
            else:
                self._two_positions(code, (first, self.facts.says(first)), (position, site))

    def _two_positions(self, message: int, first: tuple[int, SiteId], second: tuple[int, SiteId]) -> None:
        """Sites contradict each other, or a site does so in two lives. Within one life it has been reported."""
        sites, positions = (second[1], first[1]), (first[0], second[0])
        promise = TOTAL_ORDER if sites[0] != sites[1] else NO_DUPLICATION
        what = f"{message_name(message)} is final at position {positions[0]} of site {sites[1]}"
        what = f"{what} and at position {positions[1]} of site {sites[0]}"
        reported = (TOTAL_ORDER, NO_DUPLICATION)
        if not any(each.property in reported and message in each.messages for each in self.facts.violations):
            self.facts.violated(promise, what, sites, None, positions, (MessageId(message),))

    def _look_for_left_out(self) -> None:
        """Where the final order is known without a hole, nothing is left out before a message of the same sender."""
        whole_below = self.facts.whole_below()
        for life, sent in self.facts.sent.items():
            waiting = array("q")
            for seq, level in sent.levels.items():
                position = sent.placed[seq] - 1
                if position < 0 and level >= SENT_ORDERED:
                    waiting.append(seq)
                elif 0 <= position < whole_below and waiting:
                    self._left_out(life, waiting, seq, position)
                    waiting = array("q")

    def _left_out(self, life: LifeId, waiting: array[int], seq: int, position: int) -> None:
        first = MessageId((life << SEQ_BITS) + waiting[0])
        later = MessageId((life << SEQ_BITS) + seq)
        others = f" and {len(waiting) - 1} more" if len(waiting) > 1 else ""
        what = f"{message_name(later)} is final at position {position}, and {message_name(first)}{others} nowhere"
        site = SiteId(life >> INCARNATION_BITS)
        self.facts.violated(FIFO_ORDER, what, (site,), None, (position,), (later, first))
