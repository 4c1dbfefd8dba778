"""What sites tell, made up event by event, and what the checker says to it."""

from __future__ import annotations

from ordercast.core.deliveries import (
    Delivered,
    Delivery,
    Entered,
    Finalized,
    Logged,
    Retracted,
    Truncated,
    ViewChanged,
)
from ordercast.core.ids import SiteId, ViewId, pack_message_id
from ordercast.core.messages import Bundle, Level
from ordercast.core.views import View
from ordercast.protocols.groups.log import Log
from ordercast.verify.group.checker import GroupChecker

A, B, C = SiteId(0), SiteId(1), SiteId(2)
VIEW = View(ViewId(1), (A, B, C))
NEXT_VIEW = View(ViewId(2), (A, B, C))


def message(origin: SiteId, seq: int, level: Level = Level.AGREED, past: tuple[int, ...] = ()) -> Bundle:
    """A site's so-manieth message."""
    return Bundle(pack_message_id(origin, 0, seq), (b"",), level, past)


class Story:
    """Three sites; whatever they do is told to a checker."""

    def __init__(self, resilience: int = 0) -> None:
        self.checker = GroupChecker(("A", "B", "C"), resilience)
        self.logs = {site: Log() for site in (A, B, C)}

    def tells(self, site: SiteId, *events: Delivery) -> None:
        """A site tells something as it is."""
        for event in events:
            self.checker.on_group(0, site, event)

    def multicasts(self, *bundles: Bundle) -> None:
        """Their origins multicast them."""
        for bundle in bundles:
            self.checker.on_multicast(0, bundle.origin, bundle)

    def enter(self, view: View, *sites: SiteId, continuing: bool = False) -> None:
        """Sites enter a view, and log and show it."""
        for site in sites or view.members:
            self.checker.on_group(0, site, Entered(view, continuing))
            position = self.logs[site].length
            self.logs_only(site, view)
            self.tells(site, ViewChanged(view, position))

    def logs_only(self, site: SiteId, content: Bundle | View) -> int:
        """A site gives something the next position, and shows it to nobody."""
        entry = self.logs[site].append(content)
        self.tells(site, Logged(entry))
        return entry.position

    def orders(self, site: SiteId, *bundles: Bundle) -> None:
        """A site gives bundles the next positions, and shows them."""
        for bundle in bundles:
            position = self.logs_only(site, bundle)
            self.tells(site, Delivered(bundle, position, False))

    def delivers(self, site: SiteId, *bundles: Bundle) -> None:
        """A site delivers fifo or causal bundles."""
        self.tells(site, *(Delivered(bundle, None, True) for bundle in bundles))

    def finalizes(self, site: SiteId) -> None:
        """All that a site has ordered is final to it."""
        self.logs[site].finalize(self.logs[site].length)
        self.tells(site, Finalized(self.logs[site].length))

    def retracts(self, site: SiteId, position: int) -> None:
        """A site takes back what it has from a position on."""
        self.logs[site].truncate(position)
        self.tells(site, Truncated(position), Retracted(position))

    @property
    def broken(self) -> list[str]:
        """The names of the properties that do not hold."""
        return [violation.split(":")[0] for violation in self.checker.violations]


def begun(resilience: int = 0) -> Story:
    """Three sites in their first view."""
    story = Story(resilience)
    story.enter(VIEW)
    return story
