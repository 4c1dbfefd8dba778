"""Only what has been multicast is delivered.

Where the trace of the sender's life is cut off or missing nobody knows what it had multicast; such messages are counted
in a remark.
"""

from __future__ import annotations

from ordercast.core.ids import SEQ_BITS, MessageId, SiteId
from ordercast.core.trace import TraceRecord
from ordercast.verify.audit.check import Check
from ordercast.verify.audit.life import Code, Life, LifeId, Sent, life_name, life_of, message_name, seq_in
from ordercast.verify.properties import NO_CREATION


class CreationCheck(Check):
    """Notes who delivers what; compares at the end, since records of a sender may come last."""

    def on_placed(self, life: Life, record: TraceRecord, position: int, code: Code) -> None:
        if code >= 0:
            self._delivered(life, code)

    def on_unordered(self, life: Life, record: TraceRecord, message: int) -> None:
        self._delivered(life, message)

    def _delivered(self, life: Life, message: int) -> None:
        sent = self.facts.sent.get(life_of(message)) or self.facts.sent_by(life_of(message))
        seq = seq_in(message)
        if not sent.deliverer[seq]:
            sent.deliverer[seq] = life.site + 1

    def finish(self) -> None:
        for life, sent in self.facts.sent.items():
            self._compare(life, sent)

    def _compare(self, life: LifeId, sent: Sent) -> None:
        unknown = 0
        for seq, deliverer in sent.deliverer.items():
            if sent.levels[seq]:
                continue
            if self.facts.may_have_sent(life, seq):
                unknown += 1
            else:
                self._created(SiteId(deliverer - 1), MessageId(life << SEQ_BITS | seq), sent.placed[seq] - 1)
        unknown = max(unknown, self.facts.unknown.get(life, 0))
        if unknown:
            what = (
                f"the trace of {life_name(life)} is cut off or missing, and {unknown:,} of its messages were delivered"
            )
            self.facts.remarks.append(f"{what}: that it has multicast them cannot be checked")

    def _created(self, site: SiteId, message: MessageId, position: int) -> None:
        where, positions = ("", ()) if position < 0 else (f" at position {position}", (position,))
        what = f"site {site} delivers {message_name(message)}{where}, which nobody has multicast"
        self.facts.violated(NO_CREATION, what, (site,), None, positions, (message,))
