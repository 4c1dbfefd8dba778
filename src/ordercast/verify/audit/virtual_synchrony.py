"""Members that go together from one view to the next have delivered the same in between.

Here: the same fifo and causal messages. What has a position is compared position by position (`total_order`), without
gaps (`gaps`), and the next view has its own position among the rest.
"""

from __future__ import annotations

from array import array

from msgspec import Struct

from ordercast.core.ids import MessageId
from ordercast.core.trace import TraceRecord
from ordercast.core.views import View
from ordercast.verify.audit.check import Check, Facts
from ordercast.verify.audit.life import Life, LifeId, life_of, message_name, seq_in

VIRTUAL_SYNCHRONY = "virtual synchrony"


class Gone(Struct):
    """The first life that went from one view to another: what it had delivered in the former, and before."""

    life: Life
    in_view: array[int]
    newest: dict[LifeId, int]


class VirtualSynchronyCheck(Check):
    """Compares every life that goes on with the first that did."""

    def __init__(self, facts: Facts) -> None:
        super().__init__(facts)
        self._in_view: dict[LifeId, array[int]] = {}
        self._gone: dict[tuple[int, int], Gone] = {}

    def on_unordered(self, life: Life, record: TraceRecord, message: int) -> None:
        mine = self._in_view.get(life.id)
        if mine is None:
            mine = self._in_view[life.id] = array("q")
        mine.append(message)

    def on_entered(self, life: Life, view: View, needed: int, continues: bool) -> None:
        mine = self._in_view.pop(life.id, array("q"))
        if not continues or life.installed is None:
            return
        former = life.installed
        first = self._gone.get((former, view.id))
        if first is None:
            self._gone[former, view.id] = Gone(life, mine, dict(life.newest))
        else:
            self._compare(life, mine, first, former, view.id)
        self._close(former, mine)

    def _close(self, view: int, messages: array[int]) -> None:
        """These are the messages that the view has gone on with."""
        self.facts.closed.add(view)
        for message in messages:
            cut, seq = self.facts.sent_by(life_of(message)).cut, seq_in(message)
            if not 0 < cut[seq] <= view:
                cut[seq] = view + 1

    def _compare(self, life: Life, mine: array[int], first: Gone, former: int, view: int) -> None:
        missing = [each for each in first.in_view if life.newest.get(life_of(each), -1) < seq_in(each)]
        more = [each for each in mine if first.newest.get(life_of(each), -1) < seq_in(each)]
        if missing or more:
            one = min(missing + more)
            has, lacks = (first.life, life) if missing else (life, first.life)
            what = f"{has.name} and {lacks.name} go from view {former} to view {view} together, and only the former"
            what = f"{what} has delivered {message_name(one)}"
            messages = tuple(MessageId(each) for each in sorted(missing + more)[:10])
            self.facts.violated(VIRTUAL_SYNCHRONY, what, (life.site, first.life.site), former, (), messages)
