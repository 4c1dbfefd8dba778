"""Positions, finality, views in the order, and safe delivery."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from ordercast.core.deliveries import (
    Delivered,
    Finalized,
    Logged,
    Retracted,
    RoleChanged,
    Snapshot,
    Truncated,
    ViewChanged,
)
from ordercast.core.entries import Content, Entry
from ordercast.core.ids import SEQ_BITS, MessageId, SiteId, ViewId, origin_of, seq_of
from ordercast.core.messages import Bundle, Level
from ordercast.core.views import View
from ordercast.verify.group.report import Report


class SiteOrder:
    """The order as one site has logged and shown it."""

    def __init__(self) -> None:
        self.log: dict[int, Entry] = {}
        """By position. A snapshot leaves what is below it unknown."""
        self.begun_at = 0
        """Below it the site has the state that the final order leads to, by a snapshot, and no entries."""
        self.length = 0
        self.final = 0
        self.shown = 0
        """The next position to show to participants."""


class OrderedChecks:
    """What holds of entries with positions."""

    def __init__(self, report: Report, resilience: int) -> None:
        self._report = report
        self._resilience = resilience
        self.sites = [SiteOrder() for _ in report.names]
        self._views: dict[SiteId, View] = {}
        self._final: dict[int, Entry] = {}
        """The one final order, by position."""
        self.final_below = 0
        self._final_messages: dict[MessageId, int] = {}
        self._installed: dict[ViewId, View] = {}
        self._view_places: dict[ViewId, Entry] = {}
        self._multicast: dict[MessageId, tuple[int, int]] = {}
        """For each message how much its sender had shown, and had final, when it multicast it."""
        self.on_new_final: Callable[[SiteId, Entry], None] = lambda site, entry: None
        """Called for each entry of the final order, in order."""
        self._newest_seq: dict[int, int] = {}
        """By origin and life: the newest sequence number in the final order."""

    def on_multicast(self, site: SiteId, bundle: Bundle) -> None:
        """A participant of the site multicasts."""
        order = self.sites[site]
        self._multicast[bundle.id] = (order.shown, order.final)

    def on_enter(self, site: SiteId, view: View) -> None:
        """The site has installed a view: all who install one of this number install the same."""
        self._views[site] = view
        known = self._installed.setdefault(view.id, view)
        if known != view:
            what = f"installs {view}, another site {known}"
            self._report.add("view agreement", site, what)

    def on_logged(self, site: SiteId, logged: Logged) -> None:
        """An entry at the end of the site's log: no gap, no creation."""
        order, entry = self.sites[site], logged.entry
        if entry.position != order.length:
            self._report.add("positions", site, f"logs {self._report.entry(entry)}, expected is {order.length}")
        order.log[entry.position] = entry
        order.length = entry.end
        if isinstance(entry.content, Bundle) and entry.content.id not in self._multicast:
            self._report.add("creation", site, f"logs {self._report.entry(entry)}, which nobody has multicast")
        if isinstance(entry.content, View):
            self._on_view_entry(site, entry, entry.content)

    def _on_view_entry(self, site: SiteId, entry: Entry, view: View) -> None:
        """Every site that comes to a view has the same order before it."""
        known = self._view_places.setdefault(view.id, entry)
        if known != entry:
            what = f"enters view {view.id} at position {entry.position} with digest {entry.digest:x}"
            self._report.add("view agreement", site, f"{what}, another site at {known.position} with {known.digest:x}")

    def on_truncated(self, site: SiteId, truncated: Truncated) -> None:
        """The site takes back what was tentative, never what was final."""
        order = self.sites[site]
        if truncated.from_position < order.final:
            self._report.add("finality", site, f"truncates at {truncated.from_position}, below its final {order.final}")
        for position in [position for position in order.log if position >= truncated.from_position]:
            del order.log[position]
        order.length = truncated.from_position

    def on_finalized(self, site: SiteId, finalized: Finalized) -> None:
        """What is final is the same everywhere, for ever."""
        order = self.sites[site]
        if not order.final <= finalized.below <= order.length:
            self._report.add("finality", site, f"finalizes {finalized.below}, has logged {order.length}")
        for position in range(order.final, finalized.below):
            entry = order.log.get(position)
            if entry is not None:
                self._on_final_entry(site, entry)
        order.final = finalized.below
        self.final_below = max(self.final_below, finalized.below)

    def _on_final_entry(self, site: SiteId, entry: Entry) -> None:
        known = self._final.get(entry.position)
        if known is None:
            self._final[entry.position] = entry
            if isinstance(entry.content, Bundle):
                self._check_place(site, entry, entry.content)
            self.on_new_final(site, entry)
        elif known != entry:
            what = f"finalizes {self._report.entry(entry)}, final elsewhere is {self._report.entry(known)}"
            self._report.add("finality", site, what)

    def is_final(self, message: MessageId) -> bool:
        """Whether the message has a final position."""
        return message in self._final_messages

    def _check_place(self, site: SiteId, entry: Entry, bundle: Bundle) -> None:
        """FIFO, causal order and no duplication need to be checked once, on the one final order."""
        self._final_messages[bundle.id] = entry.position
        life = bundle.id >> SEQ_BITS
        if seq_of(bundle.id) <= self._newest_seq.get(life, -1):
            what = f"finalizes {self._report.entry(entry)} after {self._newest_seq[life]} of the same sender"
            self._report.add("FIFO or duplication", site, what)
        self._newest_seq[life] = seq_of(bundle.id) + len(bundle.bodies) - 1
        shown, final = self._multicast.get(bundle.id, (0, 0))
        if entry.position < max(shown, final):
            what = f"finalizes {self._report.entry(entry)}, whose sender had delivered up to {max(shown, final)}"
            self._report.add("causal order", site, what)

    def on_shown(self, site: SiteId, shown: Delivered | ViewChanged | RoleChanged) -> None:
        """What participants see is the log, in order; safe bundles only when enough members hold them."""
        order = self.sites[site]
        position = shown.position
        assert position is not None
        entry = order.log.get(position)
        content = content_of(shown)
        if position != order.shown or entry is None or entry.content != content:
            what = f"delivers {self._report.content(content)} at position {position}, expected is {order.shown}"
            self._report.add("positions", site, what)
            return
        order.shown = entry.end
        if isinstance(content, Bundle) and content.level == Level.SAFE:
            self._check_safe(site, entry)

    def _check_safe(self, site: SiteId, entry: Entry) -> None:
        """max(F + 1, a majority) of the view hold it at its position."""
        members = self._views[site].members
        needed = min(len(members), max(self._resilience + 1, len(members) // 2 + 1))
        holders = sum(1 for member in members if self._holds(member, entry))
        if holders < needed:
            what = f"delivers {self._report.entry(entry)} as safe, held by {holders} of {needed} members"
            self._report.add("safe delivery", site, what)
        if entry.end > self.sites[site].final:
            self._report.add("safe delivery", site, f"delivers {self._report.entry(entry)} before it is final")

    def _holds(self, site: SiteId, entry: Entry) -> bool:
        """In its log, or in the state with which it began: that comes of the one final order."""
        order = self.sites[site]
        held = self._final if entry.position < order.begun_at else order.log
        return held.get(entry.position) == entry

    def on_retracted(self, site: SiteId, retracted: Retracted) -> None:
        """Participants are told that what they saw from a position on is void."""
        order, start = self.sites[site], retracted.from_position
        order.shown = min(order.shown, start)
        for id, (shown, final) in self._multicast.items():
            if origin_of(id) == site and shown > start:
                self._multicast[id] = (start, final)  # `answers` follows what is void

    def on_snapshot(self, site: SiteId, snapshot: Snapshot) -> None:
        """The site begins with others' state."""
        order = self.sites[site]
        if snapshot.position < order.final:
            self._report.add("finality", site, f"goes back to a snapshot at {snapshot.position} from {order.final}")
        order.log.clear()
        order.begun_at = order.length = order.final = order.shown = snapshot.position

    def on_recover(self, site: SiteId) -> None:
        """A new life: participants have what was final, and see the rest of the log again."""
        self.sites[site].shown = self.sites[site].final


def content_of(shown: Delivered | ViewChanged | RoleChanged) -> Content:
    """What stands in the log for something that participants see."""
    match shown:
        case Delivered(bundle=bundle):
            return bundle
        case ViewChanged(view=view):
            return view
        case RoleChanged(change=change):
            return change
        case _:
            assert_never(shown)
