"""A message is delivered after everything that precedes it.

Of a message with a position: what its site had of the order when it was multicast lies below that position. Of any
message above the level fifo: the fifo and causal ones that its site had delivered come first at every site, as far as
views go: what came before a site's own first view is not promised to it, nor in later views what only a minority of an
earlier one has seen.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator

from ordercast.core.ids import SEQ_BITS, MessageId
from ordercast.core.trace import TraceRecord
from ordercast.core.views import View
from ordercast.verify.audit.check import Check, Facts
from ordercast.verify.audit.life import Code, Life, LifeId, Sent, life_of, message_name, seq_in
from ordercast.verify.properties import CAUSAL_ORDER


def known_when_multicast(sent: Sent, beyond: int) -> Iterator[tuple[int, int]]:
    """How much of the order a site had when it multicast its newest messages, if beyond a position; and their numbers,
    the newest first. Numbers of which no multicast is known are skipped."""
    seq = sent.newest
    while seq >= 0 and ((known := sent.known[seq]) > beyond or not sent.levels[seq]):
        if sent.levels[seq]:
            yield known, seq
        seq -= 1


class CausalCheck(Check):
    """Records of the sender may come last, so each life's sequence is kept, and walked at the end."""

    def __init__(self, facts: Facts) -> None:
        super().__init__(facts)
        self._sequences: dict[LifeId, array[int]] = {}
        """What a life has delivered, in order: messages, and where it came to a view, `_mark` of that."""

    def on_multicast(self, life: Life, record: TraceRecord, message: int) -> None:
        sent, seq = self.facts.sent_by(life_of(message)), seq_in(message)
        sent.known[seq] = max(life.final, life.expected)
        if record.depends:
            context = life.context
            depends = tuple(each for each in record.depends if context.get(life_of(each), -1) >= seq_in(each))
            if depends:
                sent.depends[seq] = depends

    def on_retract(self, life: Life, position: int) -> None:
        """The places of what is void get something else, which nothing multicast so far follows."""
        sent = self.facts.sent_by(life.id)
        for _, seq in known_when_multicast(sent, position):
            sent.known[seq] = position

    def _sequence(self, life: Life) -> array[int]:
        return self._sequences.get(life.id) or self._sequences.setdefault(life.id, array("q"))

    def on_entered(self, life: Life, view: View, needed: int, continues: bool) -> None:
        self._sequence(life).append(_mark(view.id, continues))

    def on_placed(self, life: Life, record: TraceRecord, position: int, code: Code) -> None:
        if code >= 0:
            self._sequence(life).append(code)

    def on_unordered(self, life: Life, record: TraceRecord, message: int) -> None:
        self._sequence(life).append(message)
        sent, seq = self.facts.sent_by(life_of(message)), seq_in(message)
        view = (record.view or 0) + 1
        if not 0 < sent.first_view[seq] <= view:
            sent.first_view[seq] = view
        if sent.last_view[seq] < view:
            sent.last_view[seq] = view

    def finish(self) -> None:
        self._check_places()
        if any(sent.depends for sent in self.facts.sent.values()):
            for life, sequence in self._sequences.items():
                self._check_sequence(self.facts.lives[life], sequence)

    def _check_places(self) -> None:
        for life, sent in self.facts.sent.items():
            for seq, placed in sent.placed.items():
                if placed - 1 < sent.known[seq]:
                    self._too_early(life, MessageId(life << SEQ_BITS | seq), placed - 1, sent.known[seq])

    def _too_early(self, life: LifeId, message: MessageId, position: int, known: int) -> None:
        site = self.facts.lives[life].site
        what = f"{message_name(message)} is at position {position}"
        what = f"{what}, although its site had delivered everything below {known} when it was multicast"
        self.facts.violated(CAUSAL_ORDER, what, (site,), None, (position, known), (message,))

    def _check_sequence(self, life: Life, sequence: array[int]) -> None:
        newest: dict[LifeId, int] = {}
        since = view = 0
        for message in sequence:
            if message < 0:
                view, continues = _marked(message)
                since = since if continues else view
                continue
            origin, seq = life_of(message), seq_in(message)
            sent = self.facts.sent_by(origin)
            if since and seq in sent.depends:
                for before in sent.depends[seq]:
                    if newest.get(life_of(before), -1) < seq_in(before):
                        self._check_missing(life, since, view, message, before)
            if sent.first_view[seq]:
                newest[origin] = seq

    def _check_missing(self, life: Life, since: int, view: int, message: int, before: int) -> None:
        """`since` is the first view that the life has gone through without a break, `view` the one it is in."""
        sent, seq = self.facts.sent_by(life_of(before)), seq_in(before)
        first_view = sent.first_view[seq] - 1
        is_lost = first_view in self.facts.closed and sent.cut[seq] != first_view + 1
        if first_view >= since and (first_view == view or not is_lost):
            what = f"{life.name} delivers {message_name(message)} before {message_name(before)}, which it follows"
            messages = (MessageId(message), MessageId(before))
            self.facts.violated(CAUSAL_ORDER, what, (life.site,), first_view, (), messages)


def _mark(view: int, continues: bool) -> int:
    """A negative number, among messages."""
    return -1 - 2 * view - continues


def _marked(mark: int) -> tuple[int, bool]:
    view, continues = divmod(-1 - mark, 2)
    return view, bool(continues)
