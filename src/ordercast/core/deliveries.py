"""What a site group tells its participants, in one stream and in the true relative order."""

from __future__ import annotations

from msgspec import Struct

from ordercast.core.entries import Entry, RoleChange
from ordercast.core.ids import SiteId
from ordercast.core.messages import Bundle
from ordercast.core.participants import Member
from ordercast.core.plans import ChangeOrdering
from ordercast.core.views import View


class Logged(Struct, frozen=True, gc=False):
    """For the host's ordered log, durable before the sends that follow: an entry at the end of the log."""

    entry: Entry


class Truncated(Struct, frozen=True, gc=False):
    """For the host's ordered log: what it holds from this position on is void."""

    from_position: int


class Entered(Struct, frozen=True, gc=False):
    """For the host: the site has installed a view now; its place in the order follows as `ViewChanged`."""

    view: View
    continuing: bool
    """Whether it comes directly from the view before, with the others."""


class Delivered(Struct, frozen=True, gc=False):
    """A bundle. Its messages take consecutive positions from `position` on; fifo and causal ones have none."""

    bundle: Bundle
    position: int | None
    final: bool


class Taken(Struct, frozen=True, gc=False):
    """For the host: what it has asked for, or what the site says by itself, is multicast now as this bundle."""

    bundle: Bundle


class Finalized(Struct, frozen=True, gc=False):
    """What was ordered at positions below this one is the same at every site, for ever."""

    below: int


class Retracted(Struct, frozen=True, gc=False):
    """Tentative deliveries from this position on are void: the majority has ordered otherwise."""

    from_position: int


class ViewChanged(Struct, frozen=True, gc=False):
    """The group has a new view; the change itself takes one position."""

    view: View
    position: int


class GroupViewChanged(Struct, frozen=True, gc=False):
    """A participants' group has other members from this position on; or, as a site begins, these are its members."""

    group: str
    position: int
    members: tuple[Member, ...]
    """All of them, the most senior first. One that goes on by way of another site has neither joined nor left."""
    joined: tuple[Member, ...] = ()
    left: tuple[Member, ...] = ()


class RoleChanged(Struct, frozen=True, gc=False):
    """A site has begun to issue tickets, or has stopped; the change takes one position."""

    change: RoleChange
    position: int


class HistoryWanted(Struct, frozen=True, gc=False):
    """For the host: a site asks for entries that are not in memory any more. Answer with `History`."""

    asker: SiteId
    start: int
    digest: int
    """Of the asker's order below `start`; negative if it does not know."""


class History(Struct, frozen=True, gc=False):
    """From the host: what its ordered log holds from `start` on, one entry after the other; empty if that is gone."""

    asker: SiteId
    start: int
    entries: tuple[Entry, ...] = ()
    digest_before: int = 0
    """Of the order below `start`, as the log has it."""


class OrderingChanged(Struct, frozen=True, gc=False):
    """From here on the group is under another ordering protocol; the change itself takes one position."""

    change: ChangeOrdering
    position: int


class SnapshotWanted(Struct, frozen=True, gc=False):
    """A joining site is too far behind: answer with a `Snapshot` of the state after all below this position."""

    position: int


class Snapshot(Struct, frozen=True, array_like=True, tag="snapshot"):
    """The participants' state after everything below a position. To a joiner: begin with this."""

    position: int
    state: bytes


class GroupLeft(Struct, frozen=True, gc=False):
    """For the host, which has asked to leave: the site may end, since the others go on without it, or leave, too."""


class GroupBlocked(Struct, frozen=True, gc=False):
    """Too few members of the last primary view can be reached. What is multicast waits."""


class Diverged(Struct, frozen=True, gc=False):
    """The alarm: this site's final order differs from another's, first at this position; or before it, if one of them
    keeps no entries from so far back."""

    position: int
    site: SiteId


Delivery = (
    Logged
    | Truncated
    | Entered
    | Delivered
    | Taken
    | Finalized
    | Retracted
    | ViewChanged
    | GroupViewChanged
    | RoleChanged
    | OrderingChanged
    | HistoryWanted
    | SnapshotWanted
    | Snapshot
    | GroupBlocked
    | GroupLeft
    | Diverged
)
