"""A site group's part in a change of view: to order all that is left, and to begin the next view.

`group` is the `SiteGroup` whose state this reads and changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from ordercast.core.deliveries import Entered
from ordercast.core.effects import Out
from ordercast.core.events import Now
from ordercast.core.layer import Layer
from ordercast.protocols.groups import alignment, plans, taken_back
from ordercast.protocols.groups.causal import Causal
from ordercast.protocols.groups.finality import Finality
from ordercast.protocols.groups.log import Base, Roles, Sessions
from ordercast.protocols.groups.messages import Donor
from ordercast.protocols.groups.saved import Saved
from ordercast.protocols.membership.messages import Close, Floor, Installed

if TYPE_CHECKING:
    from ordercast.protocols.groups.site_group import SiteGroup

    Group = SiteGroup[Any]


def on_close(group: Group, close: Close, now: Now, out: Out) -> None:
    """Order all that is left of the view. What waits for something outside the cut is dropped, at every member."""
    floor = close.successor.floor
    if floor is not None:
        group.ignoring = True
        group.aligned = group.aligned and is_all_of(group, floor)
    plans.close(group, close.successor.aligned, now, out)
    whole = group.aligned and not group.ignoring
    assert not whole or group.replayed is None, "what is final comes up before its view ends"
    group.ordered.clear()
    group.deferred.clear()
    group.taken_back.held.clear()  # no more can be multicast in this view
    group.report(out)


def on_installed(group: Group, installed: Installed, now: Now, out: Out) -> None:
    successor = installed.successor
    expected = group.me in successor.aligned and group.aligned
    if installed.continuing or is_all_of(group, successor.floor):
        group.aligned = expected
    else:
        group.aligned = False
    group.view = successor.view
    group.causal = Causal.of(group.view)
    group.finality = Finality.of(group.view, group.resilience)
    group.ignoring, group.told, group.taken = False, 0, 0
    if installed.continuing and group.takes_part:
        group.unstable.clear()  # whatever this view has taken of them, every member has now
    group.takes_part = False
    group.donor = Donor(tuple(site for site in successor.aligned if site != group.me))
    group.ordered.clear()
    group.deferred.clear()
    group.fetched.clear()
    group.snapshot_for.clear()
    group.history_for.clear()
    group.early.clear()
    group.replayed = None
    group.ordering_runs = False
    plans.begin_view(group)
    out.deliver(group.me, Entered(group.view, installed.continuing))
    if group.aligned:
        group.append(group.view, out)
        begin_view(group, group.log.whole, group.log.sessions, now, out)
        return
    plans.use(group, group.log.roles_at(group.log.final).plan)  # a tentative one could be another than others have
    if not needs_roles(group.ordering):
        plans.begin(group, now, out)  # or others would wait for this site until it has the whole order
    group.report(out)
    alignment.fetch(group, out)


def is_all_of(group: Group, floor: Floor | None) -> bool:
    """Whether our log is the one that is to be the order."""
    return Floor(group.log.length, group.log.digest) == floor


def begin_view(group: Group, start: Base, taken: Sessions, now: Now, out: Out) -> None:
    """The log holds the whole order up to this view: take part. `taken` is what members have of each site."""
    group.start_of_view = start
    group.sessions_at_start = taken.copy()
    group.takes_part = True
    save(group, out)
    group.report(out)
    group.arm_telling(out)
    plan = group.reached.roles.plan
    if plan != group.plan or not group.ordering_runs:
        group.ordered = group.ordered if plan == group.plan else []
        plans.use(group, plan)
        plans.begin(group, now, out)
    group.take_ordered(out)
    taken_back.begin_view(group)
    group.submit_outstanding(group.sessions_at_start, now, out)


def needs_roles(ordering: Layer) -> bool:
    """Whether the protocol can begin a view only with the roles that the whole order before it says."""
    return getattr(type(ordering), "KEEPS_ROLES", False)


def starting_roles(ordering: Any) -> Roles:
    """Before the first entry: nobody's, and the protocol's rule for the start."""
    return Roles(given=ordering.given) if needs_roles(ordering) else Roles()


def save(group: Group, out: Out, *, binding: bool = True) -> None:
    """What a new life needs beside the entries in the log."""
    saved = Saved(group.log.base, group.log.sessions_at_base, group.sessions_at_start.unordered)
    out.save("group", msgspec.msgpack.encode(saved), binding=binding)
