"""What all checks share: the lives, what they have multicast, the order, and the violations found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ordercast.core.ids import INCARNATION_BITS, MessageId, SiteId
from ordercast.core.trace import TraceRecord
from ordercast.core.views import View
from ordercast.verify.audit.life import Code, Life, LifeId, Sent
from ordercast.verify.audit.sparse import Sparse
from ordercast.verify.properties import Violation

SHOWN_MAX = 20
"""So many violations of one property are kept; the others are counted."""


class Facts:
    """What is known of a run so far."""

    def __init__(self, shown_max: int = SHOWN_MAX) -> None:
        self._shown_max = shown_max
        self.lives: dict[LifeId, Life] = {}
        self.sent: dict[LifeId, Sent] = {}
        self.views: dict[int, View] = {}
        self.needed: dict[int, int] = {}
        """For each view how many members must hold what is delivered as safe."""
        self._codes = Sparse()
        self._sites = Sparse("i")
        self.leavers: dict[int, list[SiteId]] = {}
        """For each view who was let go from it, as it had asked."""
        self.quiet: list[tuple[int, int]] = []
        """Begin and end of stretches of the order that were judged elsewhere, and found in order; sorted."""
        self.unknown: dict[LifeId, int] = {}
        """Where deliveries were counted elsewhere: how many of a life's messages nobody is known to have multicast."""
        self.closed: set[int] = set()
        """Views from which some life has gone on to the next."""
        self.counts: dict[str, int] = {}
        """Violations by property."""
        self.violations: list[Violation] = []
        self.remarks: list[str] = []
        """What could not be judged, and why."""

    # --- the final order ---

    def settle(self, site: SiteId, position: int, code: Code) -> tuple[Code, SiteId] | None:
        """What is final at a position; returns what has been final there before, and where, if that is different."""
        shifted = code + 1 if code >= 0 else code
        known = self._codes[position]
        if not known:
            self._codes[position] = shifted
            self._sites[position] = site + 1
            return None
        if known == shifted:
            return None
        return (known - 1 if known > 0 else known), SiteId(self._sites[position] - 1)

    def order(self) -> Iterator[tuple[int, Code, SiteId]]:
        """The final order: position, what stands there, and a site that says so."""
        for position, known in self._codes.items():
            yield position, (known - 1 if known > 0 else known), SiteId(self._sites[position] - 1)

    def says(self, position: int) -> SiteId:
        """A site that has delivered what is final at a position."""
        return SiteId(self._sites[position] - 1)

    def whole_below(self) -> int:
        """Below this position the final order is known without a hole."""
        quiet = dict(self.quiet)
        below = 0
        for position, _, _ in self.order():
            while below in quiet:
                below = quiet[below]
            if position != below:
                return below
            below += 1
        while below in quiet:
            below = quiet[below]
        return below

    # --- what was multicast ---

    def sent_by(self, life: LifeId) -> Sent:
        """What a life has multicast."""
        sent = self.sent.get(life)
        if sent is None:
            sent = self.sent[life] = Sent()
        return sent

    def may_have_sent(self, life: LifeId, seq: int) -> bool:
        """Whether a message that no record tells of may have been multicast for all that.

        So it is where the trace of its origin is cut off, or missing.
        """
        traced = self.lives.get(life)
        if traced is not None:
            return traced.resumed or (not traced.is_whole and seq > self.sent_by(life).newest)
        site = SiteId(life >> INCARNATION_BITS)
        return any(site in view.members for view in self.views.values())

    # --- violations ---

    def violated(
        self,
        promise: str,
        what: str,
        sites: tuple[SiteId, ...],
        view: int | None = None,
        positions: tuple[int, ...] = (),
        messages: tuple[MessageId, ...] = (),
    ) -> None:
        """One more violation, with its witness."""
        count = self.counts[promise] = self.counts.get(promise, 0) + 1
        if count <= self._shown_max:
            self.violations.append(Violation(promise, what, sites, view, positions, messages))


class Check:
    """Override what is of interest. The life is as it was before the record."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts

    def on_record(self, life: Life, record: TraceRecord) -> None:
        """Any record."""

    def on_multicast(self, life: Life, record: TraceRecord, message: int) -> None:
        """A participant multicasts."""

    def on_placed(self, life: Life, record: TraceRecord, position: int, code: Code) -> None:
        """Something comes up in the order: a delivery, a view, a change of role."""

    def on_unordered(self, life: Life, record: TraceRecord, message: int) -> None:
        """A fifo or causal message is delivered."""

    def on_logged(self, life: Life, record: TraceRecord, position: int, message: int) -> None:
        """A message has a position in a life's log, and is not delivered yet."""

    def on_settled(self, life: Life, position: int, code: Code, view: int | None) -> None:
        """What has come up at a position is final now."""

    def on_passed_over(self, life: Life, newest: Mapping[LifeId, int]) -> None:
        """A stretch of deliveries was judged elsewhere. It ends with these messages of each sender as the newest."""

    def on_taken_back(self, life: Life, position: int, code: Code) -> None:
        """What has come up is void; the last first."""

    def on_finalize(self, life: Life, below: int) -> None:
        """Everything below a position is final."""

    def on_retract(self, life: Life, position: int) -> None:
        """Everything from a position on is void."""

    def on_entered(self, life: Life, view: View, needed: int, continues: bool) -> None:
        """A view is installed."""

    def on_recover(self, life: Life, position: int) -> None:
        """Deliveries go on at a position."""

    def finish(self) -> None:
        """All records have been seen."""
