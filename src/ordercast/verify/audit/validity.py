"""Nothing is lost: where a run has come to rest, what sites that are up have multicast is delivered everywhere.

Only lives that ended in good order, with nothing under way, are held to it.
"""

from __future__ import annotations

from ordercast.core.ids import SEQ_BITS, MessageId
from ordercast.verify.audit.check import Check
from ordercast.verify.audit.fifo import SENT_ORDERED
from ordercast.verify.audit.life import Life, Sent, message_name
from ordercast.verify.properties import VALIDITY


class ValidityCheck(Check):
    """Looks at the end of each life."""

    def finish(self) -> None:
        settled = [life for life in self.facts.lives.values() if life.settled]
        if any(life.resumed for life in self.facts.lives.values()):
            self.facts.remarks.append("validity is not judged: some sites have not recorded all of their lives")
            return
        if not settled:
            self.facts.remarks.append("validity is not judged: the run did not come to rest before its end")
        for life in settled:
            sent = self.facts.sent.get(life.id)
            if sent is not None:
                self._check_own(life, sent)
        self._check_lengths(settled)

    def _check_own(self, life: Life, sent: Sent) -> None:
        """What it has multicast has come up: in the order, or at least at itself."""
        newest = life.newest.get(life.id, -1)
        lost = [
            seq
            for seq, level in sent.levels.items()
            if (not sent.placed[seq] if level >= SENT_ORDERED else seq > newest)
        ]
        if lost:
            message = MessageId(life.id << SEQ_BITS | lost[0])
            more = f", nor {len(lost) - 1} more" if len(lost) > 1 else ""
            where = "anywhere" if sent.levels[lost[0]] >= SENT_ORDERED else "to its own site"
            what = f"{message_name(message)} has not been delivered {where}{more}"
            self.facts.violated(VALIDITY, what, (life.site,), life.installed, (), (message,))

    def _check_lengths(self, settled: list[Life]) -> None:
        """The members of the newest view have all delivered the whole order, if they ended at once: in a simulation.

        Live sites end one after the other, and those that are left go on.
        """
        last = max((life.installed or 0 for life in settled), default=0)
        end_us = max((life.ended_us for life in settled), default=0)
        members = [life for life in settled if (life.installed or 0) == last and life.ended_us == end_us]
        longest = max(members, key=lambda life: life.expected, default=None)
        for life in members:
            if longest is not None and life.expected < longest.expected:
                what = f"{life.name} has delivered everything below position {life.expected}"
                what = f"{what}, {longest.name} below {longest.expected}"
                positions = (life.expected, longest.expected)
                self.facts.violated(VALIDITY, what, (life.site, longest.site), last, positions)
