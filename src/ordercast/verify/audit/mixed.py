"""An agreed message that follows another one by way of fifo and causal messages is ordered after it.

Such a message does not wait for the agreed ones that its sender had multicast before it; an agreed message of a site
that has delivered it does. That holds within a view: where all four things were multicast and ordered in the same one.
What only a minority has seen is no past for what is sent once it is back. Causal messages come with all that they
follow, so those which a message names itself, and those which earlier ones of its site name, are all there are.

That a fifo or causal message never waits for an agreed one cannot be told from a trace.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right

from ordercast.core.ids import INCARNATION_BITS, SEQ_BITS, MessageId, SiteId
from ordercast.core.trace import TraceRecord
from ordercast.verify.audit.check import Check, Facts
from ordercast.verify.audit.life import Life, LifeId, Sent, life_of, message_name, seq_in, view_of

MIXED_LEVELS = "mixed levels"

Followed = tuple[int, int]
"""The position of an agreed message, and its id."""

NOTHING: Followed = (-1, -1)


class MixedCheck(Check):
    """Goes through the messages of each life at the end. `fifo` has given them their places, `causal` their past."""

    def __init__(self, facts: Facts) -> None:
        super().__init__(facts)
        self._ordered: dict[LifeId, array[int]] = {}
        self._starts: list[int] = []
        """Where views come up in the order ..."""
        self._views: list[int] = []
        """... and which."""

    def on_multicast(self, life: Life, record: TraceRecord, message: int) -> None:
        self.facts.sent_by(life_of(message)).view[seq_in(message)] = (record.view or 0) + 1

    def finish(self) -> None:
        lives = [life for life, sent in self.facts.sent.items() if sent.depends]
        if lives:
            self._take_views()
        for life in lives:
            self._check(life, self.facts.sent[life])

    def _take_views(self) -> None:
        for position, code, _ in self.facts.order():
            view = view_of(code)
            if view is not None:
                self._starts.append(position)
                self._views.append(view)

    def _check(self, life: LifeId, sent: Sent) -> None:
        in_view, followed = 0, NOTHING
        for seq, view in sent.view.items():
            if view != in_view:
                in_view, followed = view, NOTHING
            for before in sent.depends.get(seq, ()):
                followed = max(followed, self._newest_before(before, view))
            position = sent.placed[seq] - 1
            if 0 <= position < followed[0] and self._view_at(position) == view - 1:
                self._too_early(life, MessageId(life << SEQ_BITS | seq), position, followed)

    def _newest_before(self, message: int, view: int) -> Followed:
        """The newest agreed message that the sender of this one had multicast before it, if it did so in this view."""
        life, seq = life_of(message), seq_in(message)
        sent = self.facts.sent_by(life)
        if sent.view[seq] != view:
            return NOTHING
        ordered = self._ordered.get(life)
        if ordered is None:
            ordered = self._ordered[life] = array("q", (each for each, _ in sent.placed.items()))
        index = bisect_left(ordered, seq) - 1
        if index < 0:
            return NOTHING
        newest = ordered[index]
        return sent.placed[newest] - 1, life << SEQ_BITS | newest

    def _view_at(self, position: int) -> int:
        """The newest view that has come up in the order before a position; -1 if nobody tells."""
        index = bisect_right(self._starts, position) - 1
        return self._views[index] if index >= 0 else -1

    def _too_early(self, life: LifeId, message: MessageId, position: int, followed: Followed) -> None:
        place, first = followed
        what = f"{message_name(message)} is at position {position}"
        what = f"{what}, before {message_name(first)} at position {place}, which it follows by way of others"
        sites = (SiteId(life >> INCARNATION_BITS), SiteId(life_of(first) >> INCARNATION_BITS))
        self.facts.violated(MIXED_LEVELS, what, sites, None, (position, place), (message, MessageId(first)))
