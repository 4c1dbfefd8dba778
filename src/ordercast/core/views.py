"""Views: the agreed answer to *who is in*."""

from __future__ import annotations

from msgspec import Struct

from ordercast.core.ids import SiteId, ViewId


class View(Struct, frozen=True, array_like=True, tag=1):
    """The operational members of a group, in ascending order of their ids."""

    id: ViewId
    members: tuple[SiteId, ...]
    incarnations: tuple[int, ...] = ()
    """The life of each member, in the same order: a site that has restarted is a new member. Empty: all first lives."""

    def incarnation(self, site: SiteId) -> int | None:
        """The life in which the site is a member; None if it is not."""
        if site not in self.members:
            return None
        return self.incarnations[self.members.index(site)] if self.incarnations else 0

    def is_quorum(self, sites: tuple[SiteId, ...]) -> bool:
        """Whether these members can speak for the view: a majority, or the half with the lowest id."""
        count = sum(1 for member in self.members if member in sites)
        return 2 * count > len(self.members) or (2 * count == len(self.members) and self.members[0] in sites)
