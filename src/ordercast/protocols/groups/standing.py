"""How far a site has ordered: what it tells others, and what it waits for.

`group` is the `SiteGroup` whose state this reads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ordercast.core.effects import Out
from ordercast.core.ids import seq_of
from ordercast.core.layer import Waiting
from ordercast.protocols.groups.messages import Standing

if TYPE_CHECKING:
    from ordercast.protocols.groups.site_group import SiteGroup

    Group = SiteGroup[Any]

TELL_US = 10_000
"""How long the news that more has been ordered waits for a multicast to travel with, if the host does not say."""

STANDING_US = 1_000_000
"""The digest of the final order is compared so often."""


def tell(group: Group, out: Out) -> None:
    """To each member by itself: this need not be kept for members that miss it."""
    digest = group.log.digest_at(group.log.final)
    standing = Standing(group.tell_length(), group.log.final, -1 if digest is None else digest)
    for member in group.view.members:
        if member != group.me:
            out.send(member, standing)


def waiting_for(group: Group) -> Waiting | None:
    """What holds the group up here."""
    if group.me in group.view.members and not group.aligned:
        return Waiting("the order before this view, from", group.view.members[0])
    if group.outstanding and group.me not in group.view.members:
        return Waiting("a view of which it is a member, with", group.view.members[0])
    if group.aligned and group.taken_back.held:
        before = group.taken_back.waits_for(group.taken_back.held[0])
        if before is not None:
            return Waiting(f"message {seq_of(before.id)}, which is void here, to come up again, of", before.origin)
    slowest = min(group.finality.lengths, key=lambda member: (group.finality.lengths[member], member))
    if group.log.final < group.log.length:
        return Waiting(f"word that it has ordered up to position {group.log.length} from", slowest)
    if group.cautious:
        return Waiting(f"word that it holds the safe message at position {group.cautious[0].position} from", slowest)
    waiting: Waiting | None = group.ordering.waiting_for()
    return waiting
