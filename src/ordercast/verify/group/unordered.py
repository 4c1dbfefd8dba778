"""Fifo and causal delivery, and virtual synchrony for what has no position."""

from __future__ import annotations

from ordercast.core.ids import SEQ_BITS, MessageId, SiteId, ViewId, seq_of
from ordercast.core.messages import Bundle, Level
from ordercast.core.views import View
from ordercast.verify.group.report import Report

Context = dict[int, int]
"""By origin and life: the newest fifo or causal sequence number delivered."""


class SiteUnordered:
    """What one site has delivered without positions."""

    def __init__(self) -> None:
        self.newest: Context = {}
        self.view: View | None = None
        self.since: ViewId = ViewId(0)
        """The first of the views that the site has gone through without a break."""
        self.in_view: list[MessageId] = []
        self.context: Context = {}
        """What has been delivered since then: what precedes this site's next message."""


class UnorderedChecks:
    """What holds of fifo and causal bundles."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self.sites = [SiteUnordered() for _ in report.names]
        self._multicast: dict[MessageId, tuple[Level, Context, ViewId]] = {}
        self._delivered_in: dict[MessageId, ViewId] = {}
        """The view in which a message was first delivered."""
        self._cuts: dict[ViewId, dict[MessageId, None]] = {}
        """For each view what those who went on from it had delivered in it."""
        self._moved: dict[tuple[ViewId, ViewId], tuple[SiteId, list[MessageId], Context]] = {}
        """For two views the first site that went from one to the other, and what it had delivered in the former and
        before."""

    def on_multicast(self, site: SiteId, bundle: Bundle) -> None:
        """A participant of the site multicasts, with what its site has delivered before."""
        state = self.sites[site]
        view = state.view.id if state.view is not None else ViewId(0)
        self._multicast[bundle.id] = (bundle.level, dict(state.context), view)

    def multicast_levels(self) -> list[tuple[MessageId, Level]]:
        """All messages so far, with their levels."""
        return [(message, known[0]) for message, known in self._multicast.items()]

    def has_delivered(self, site: SiteId, message: MessageId) -> bool:
        """Whether a fifo or causal message has been delivered at a site, in its present life."""
        return self.sites[site].newest.get(message >> SEQ_BITS, -1) >= seq_of(message)

    def on_deliver(self, site: SiteId, bundle: Bundle) -> None:
        """A fifo or causal bundle is delivered."""
        state, life, seq = self.sites[site], bundle.id >> SEQ_BITS, seq_of(bundle.id)
        known = self._multicast.get(bundle.id)
        if known is None:
            self._report.add(
                "creation", site, f"delivers {self._report.message(bundle.id)}, which nobody has multicast"
            )
            return
        if seq <= state.newest.get(life, -1):
            self._report.add("FIFO or duplication", site, f"delivers {self._report.message(bundle.id)} late or twice")
        if known[0] == Level.CAUSAL:
            self.check_past(site, bundle)
        state.newest[life] = state.context[life] = seq + len(bundle.bodies) - 1
        state.in_view.append(bundle.id)
        if state.view is not None:
            self._delivered_in.setdefault(bundle.id, state.view.id)

    def check_past(self, site: SiteId, bundle: Bundle) -> None:
        """Everything fifo or causal that its sender had delivered, in views that this site was in too, comes first."""
        state = self.sites[site]
        if state.view is None:
            return  # participants of a new life see the log of the one before again
        _, context, _ = self._multicast[bundle.id]
        for life, seq in context.items():
            if state.newest.get(life, -1) >= seq:
                continue
            before = MessageId(life << SEQ_BITS | seq)
            if self._delivered_in.get(before, ViewId(0)) >= state.since and not self._is_outside_cut(before):
                what = f"delivers {self._report.message(bundle.id)} before {self._report.message(before)}"
                self._report.add("causal order", site, what)

    def _is_outside_cut(self, message: MessageId) -> bool:
        """Whether the view in which it was first delivered has gone on without it: only a minority has seen it.

        Its sender multicasts it again when it is back, and nothing is promised of what others sent in between.
        """
        cut = self._cuts.get(self._delivered_in[message])
        return cut is not None and message not in cut

    def on_enter(self, site: SiteId, view: View, continuing: bool) -> None:
        """Those who go together from one view to the next have delivered the same in between."""
        state = self.sites[site]
        if continuing and state.view is not None:
            key = (state.view.id, view.id)
            other, theirs, known = self._moved.setdefault(key, (site, state.in_view, dict(state.newest)))
            self._cuts.setdefault(state.view.id, dict.fromkeys(theirs))
            mine = [message for message in theirs if not self.has_delivered(site, message)]
            others = [id for id in state.in_view if known.get(id >> SEQ_BITS, -1) < seq_of(id)]
            if mine or others:
                different = f"{self._report.names[other]} in {self._report.message(min(mine + others))}"
                self._report.add("virtual synchrony", site, f"goes from view {key[0]} to {key[1]} unlike {different}")
        else:
            state.since = view.id
            state.context = {}
        state.view = view
        state.in_view = []

    def on_recover(self, site: SiteId) -> None:
        """A new life knows nothing of what had no position."""
        self.sites[site] = SiteUnordered()
