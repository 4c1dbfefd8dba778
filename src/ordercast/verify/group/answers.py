"""An answer to what has been retracted comes up after it.

A site can deliver a message tentatively, multicast an answer, and then retract both. The message may come up again
late, or never. If it does, the answer stands behind it, unless the life that has sent the message was no member when
the answer got its position: not of that view, or not of the next, as it can have come up while the view was closed.
Whoever delivers a causal message of a site follows what that had retracted when it came to the view.
"""

from __future__ import annotations

from ordercast.core.entries import Entry
from ordercast.core.ids import MessageId, SiteId, incarnation_of, origin_of
from ordercast.core.messages import Bundle
from ordercast.core.views import View
from ordercast.verify.group.report import Report


class AnswerChecks:
    """Follows what sites have shown, retracted, and multicast after they had shown it."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._shown: list[dict[MessageId, int]] = [{} for _ in report.names]
        """What each site has shown of others and was not final there yet, with its positions."""
        self._void: list[dict[MessageId, int]] = [{} for _ in report.names]
        """What each life of a site has retracted, or followed by way of causal messages, and has not shown since: and
        from which view on others that deliver its causal messages follow that."""
        self._view = [0 for _ in report.names]
        """The newest that each site has entered."""
        self._sent: list[dict[MessageId, int]] = [{} for _ in report.names]
        """What each site has multicast, and how much of the order it had shown then; unless all of that is final."""
        self._follows: dict[MessageId, dict[MessageId, int]] = {}
        """For a message that is not final what its site had shown before, and has retracted: from which view on others
        follow that."""
        self._late: dict[MessageId, list[tuple[MessageId, int]]] = {}
        """What is not final, and those that follow it and are; each with how many views had come up."""
        self._views: list[View] = []
        """As they have come up in the one final order."""
        self._final: set[MessageId] = set()

    def on_multicast(self, site: SiteId, bundle: Bundle, shown: int) -> None:
        """A participant multicasts, having been shown everything below a position."""
        self._sent[site][bundle.id] = shown
        if self._void[site]:
            self._follows[bundle.id] = dict(self._void[site])

    def on_enter(self, site: SiteId, view: View) -> None:
        """The site has installed a view."""
        self._view[site] = view.id

    def on_causal(self, site: SiteId, bundle: Bundle) -> None:
        """The site delivers a causal bundle: what that follows, it follows too."""
        for id, since in self._follows.get(bundle.id, {}).items():
            if since <= self._view[site] and origin_of(id) != site and id not in self._final:
                self._void[site].setdefault(id, self._view[site])

    def on_shown(self, site: SiteId, bundle: Bundle, position: int) -> None:
        """Participants are given a bundle."""
        if bundle.origin != site:
            self._shown[site][bundle.id] = position
            self._void[site].pop(bundle.id, None)

    def on_retracted(self, site: SiteId, start: int) -> None:
        """Everything shown from a position on is void."""
        shown = self._shown[site]
        void = {id: position for id, position in shown.items() if position >= start}
        for id in void:
            del shown[id]
        since = self._view[site]
        self._void[site].update(dict.fromkeys(void, since))
        for answer, length in self._sent[site].items():
            follows = self._follows.setdefault(answer, {})
            follows.update({id: since for id, position in void.items() if position < length})
            self._sent[site][answer] = min(length, start)

    def on_finalized(self, site: SiteId, below: int) -> None:
        """What the site has shown so far is not retracted any more."""
        shown = self._shown[site]
        for id in [id for id, position in shown.items() if position < below]:
            del shown[id]
        sent = self._sent[site]
        while sent and sent[next(iter(sent))] <= below:
            del sent[next(iter(sent))]

    def on_recover(self, site: SiteId) -> None:
        """A new life does not know what the old one has retracted."""
        for known in (self._shown, self._void, self._sent):
            known[site].clear()

    def on_final(self, site: SiteId, entry: Entry) -> None:
        """The next entry of the one final order."""
        if isinstance(entry.content, View):
            self._views.append(entry.content)
        if not isinstance(entry.content, Bundle):
            return
        id = entry.content.id
        self._final.add(id)
        for answer, views in self._late.pop(id, []):
            if all(self._is_member(id, view) for view in self._views[max(0, views - 1) : views + 1]):
                what = f"finalizes {self._report.entry(entry)}, after {self._report.message(answer)}, which answers it"
                self._report.add("causal order", site, what)
        self._sent[origin_of(id)].pop(id, None)
        for before in self._follows.pop(id, {}):
            if before not in self._final:
                self._late.setdefault(before, []).append((id, len(self._views)))

    def _is_member(self, id: MessageId, view: View) -> bool:
        return view.incarnation(origin_of(id)) == incarnation_of(id)
