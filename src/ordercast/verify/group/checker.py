"""All promises of a group, as one observer of a simulation."""

from __future__ import annotations

from ordercast.core.deliveries import (
    Delivered,
    Delivery,
    Diverged,
    Entered,
    Finalized,
    GroupViewChanged,
    Logged,
    Retracted,
    RoleChanged,
    Snapshot,
    Truncated,
    ViewChanged,
)
from ordercast.core.entries import Entry
from ordercast.core.ids import SiteId, incarnation_of, origin_of
from ordercast.core.messages import Bundle, Level
from ordercast.simulator.observer import Observer
from ordercast.verify.group.answers import AnswerChecks
from ordercast.verify.group.mixed import MixedChecks
from ordercast.verify.group.ordered import OrderedChecks
from ordercast.verify.group.report import Report
from ordercast.verify.group.sessions import SessionChecks
from ordercast.verify.group.unordered import UnorderedChecks


class GroupChecker(Observer):
    """Checks every promise of docs/ARCHITECTURE.md ("Guarantees") at the event that could break it."""

    def __init__(self, names: tuple[str, ...], resilience: int = 0) -> None:
        self._report = Report(names)
        self.ordered = OrderedChecks(self._report, resilience)
        self.unordered = UnorderedChecks(self._report)
        self.mixed = MixedChecks(self._report)
        self.answers = AnswerChecks(self._report)
        self.sessions = SessionChecks(self._report)
        self.ordered.on_new_final = self._on_new_final

    @property
    def violations(self) -> list[str]:
        """What has been broken so far."""
        return self._report.violations

    def on_multicast(self, at_us: int, site: SiteId, bundle: Bundle) -> None:
        self.ordered.on_multicast(site, bundle)
        self.unordered.on_multicast(site, bundle)
        self.mixed.on_multicast(site, bundle)
        if bundle.level >= Level.CAUSAL:
            self.answers.on_multicast(site, bundle, self.ordered.sites[site].shown)

    def _on_new_final(self, site: SiteId, entry: Entry) -> None:
        if isinstance(entry.content, Bundle):
            self.mixed.on_final(site, entry.content)
        self.answers.on_final(site, entry)
        self.sessions.on_final(site, entry)

    def on_group(self, at_us: int, site: SiteId, event: Delivery) -> None:
        match event:
            case Logged():
                self.ordered.on_logged(site, event)
            case Delivered(position=None, bundle=bundle):
                self.unordered.on_deliver(site, bundle)
                self.mixed.on_deliver(site, bundle)
                self.answers.on_causal(site, bundle)
            case Delivered(bundle=bundle):
                self.ordered.on_shown(site, event)
                self.mixed.on_deliver(site, bundle)
                if not event.final and event.position is not None:
                    self.answers.on_shown(site, bundle, event.position)
                if bundle.past and bundle.level >= Level.AGREED:
                    self.unordered.check_past(site, bundle)
            case ViewChanged() | RoleChanged():
                self.ordered.on_shown(site, event)
            case GroupViewChanged():
                self.sessions.on_group_view(site, event)
            case Finalized():
                self.ordered.on_finalized(site, event)
                self.answers.on_finalized(site, event.below)
            case Truncated():
                self.ordered.on_truncated(site, event)
            case Retracted():
                self.ordered.on_retracted(site, event)
                self.answers.on_retracted(site, event.from_position)
            case Snapshot():
                self.ordered.on_snapshot(site, event)
            case Entered(view=view, continuing=continuing):
                self.ordered.on_enter(site, view)
                self.answers.on_enter(site, view)
                self.unordered.on_enter(site, view, continuing)
                if view.id > 1 and not continuing:
                    self.mixed.on_break()
            case Diverged(position=position, site=other):
                what = f"has another final order than {self._report.names[other]} below {position}"
                self._report.add("digest alarm", site, what)
            case _:
                pass

    def missing(self, core: tuple[SiteId, ...], lives: dict[SiteId, int]) -> str | None:
        """After convergence: the first message of a core site's present life that has not been delivered, or a
        participants' group whose members a core site has told otherwise than others."""
        for message, level in self.unordered.multicast_levels():
            site = origin_of(message)
            if site not in core or lives.get(site) != incarnation_of(message):
                continue
            if level >= Level.AGREED and not self.ordered.is_final(message):
                return f"validity: {self._report.message(message)} has no final position"
            if level < Level.AGREED and not self.unordered.has_delivered(site, message):
                return f"self-inclusion: {self._report.message(message)} has not been delivered to its own site"
        return self.sessions.apart(tuple(site for site in core if site in lives), self.ordered.final_below)

    def on_recover(self, at_us: int, site: SiteId, incarnation: int) -> None:
        self.ordered.on_recover(site)
        self.answers.on_recover(site)
        self.unordered.on_recover(site)
        self.sessions.on_recover(site)
