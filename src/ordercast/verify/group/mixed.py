"""Agreed bundles that follow each other by way of causal ones.

"An agreed message sent after delivering a causal one that itself followed an agreed one is ordered after the latter."
Checked as long as every site has gone through all views without a break: what only a minority has seen of fifo and
causal messages is no past for what is sent once it is back.
"""

from __future__ import annotations

from ordercast.core.ids import SEQ_BITS, MessageId, SiteId, seq_of
from ordercast.core.messages import Bundle, Level
from ordercast.verify.group.report import Report

Past = dict[int, int]
"""By origin and life: the newest agreed sequence number."""


class MixedChecks:
    """Follows agreed messages through those that have no position."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._known: list[Past] = [{} for _ in report.names]
        self._past: dict[MessageId, Past] = {}
        self._placed: Past = {}
        self._late: dict[tuple[int, int], MessageId] = {}
        """Agreed messages that are not final although one that follows them is."""
        self._unbroken = True

    def on_break(self) -> None:
        """Some site has come to a view from outside."""
        self._unbroken = False

    def on_multicast(self, site: SiteId, bundle: Bundle) -> None:
        """A participant multicasts: it follows all that its site knows of."""
        known = self._known[site]
        self._past[bundle.id] = dict(known)
        if bundle.level >= Level.AGREED:
            known[bundle.id >> SEQ_BITS] = seq_of(bundle.id)

    def on_deliver(self, site: SiteId, bundle: Bundle) -> None:
        """Any bundle is delivered to a site: what it follows, and itself if agreed, precedes what comes next."""
        known = self._known[site]
        for life, seq in self._past.get(bundle.id, {}).items():
            known[life] = max(known.get(life, -1), seq)
        if bundle.level >= Level.AGREED:
            life = bundle.id >> SEQ_BITS
            known[life] = max(known.get(life, -1), seq_of(bundle.id))

    def on_final(self, site: SiteId, bundle: Bundle) -> None:
        """An agreed bundle comes up in the one final order."""
        life, seq = bundle.id >> SEQ_BITS, seq_of(bundle.id)
        follower = self._late.get((life, seq))
        if follower is not None and self._unbroken:
            what = (
                f"finalizes {self._report.message(bundle.id)} after {self._report.message(follower)}, which follows it"
            )
            self._report.add("mixed levels", site, what)
        self._placed[life] = seq
        for other, newest in self._past.get(bundle.id, {}).items():
            if other != life and self._placed.get(other, -1) < newest:
                self._late[other, newest] = bundle.id
