"""What participants are shown of the log, and when.

`group` is the `SiteGroup` whose state this reads and changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from ordercast.core.deliveries import Delivered, OrderingChanged, RoleChanged, ViewChanged
from ordercast.core.effects import Out
from ordercast.core.entries import Entry, RoleChange
from ordercast.core.messages import Bundle, Level
from ordercast.core.plans import Plan, changes_plan
from ordercast.core.views import View

if TYPE_CHECKING:
    from ordercast.protocols.groups.site_group import SiteGroup

    Group = SiteGroup[Any]


def show(group: Group, entry: Entry, out: Out) -> None:
    """Deliver an entry, unless it is safe, or behind one that is, and not yet certain."""
    safe = isinstance(entry.content, Bundle) and entry.content.level == Level.SAFE
    if group.cautious or safe:
        group.cautious.append(entry)
        show_certain(group, out)
    else:
        deliver(group, entry, out)


def show_certain(group: Group, out: Out) -> None:
    """Deliver what has waited until enough members hold it."""
    certain_below = group.finality.below(group.finality.safe)
    while group.cautious:
        entry = group.cautious[0]
        safe = isinstance(entry.content, Bundle) and entry.content.level == Level.SAFE
        if safe and entry.end > min(certain_below, group.log.final):
            return
        del group.cautious[0]
        deliver(group, entry, out)


def deliver(group: Group, entry: Entry, out: Out) -> None:
    """Hand up an entry of the log."""
    match entry.content:
        case Bundle() as bundle:
            out.deliver(bundle.origin, Delivered(bundle, entry.position, entry.end <= group.log.final))
            if changes_plan(bundle):
                out.deliver(group.me, OrderingChanged(Plan().after(bundle).change, entry.position))
        case View() as view:
            out.deliver(group.me, ViewChanged(view, entry.position))
        case RoleChange() as change:
            out.deliver(change.site, RoleChanged(change, entry.position))
        case _:
            assert_never(entry.content)
