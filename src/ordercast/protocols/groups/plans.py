"""The ordering protocol of a group changed while the group runs, without a change of view and without a stop.

A *plan* says which protocol the group is under. A change of it is a bundle of the order. Where that comes up, every
member goes over: what the old protocol would still deliver does not count, at any member, and each multicasts again
under the new one what it has outstanding. Messages of the ordering protocol carry the number of their plan; those of a
plan that has not come up here yet wait.

Others may be behind, and need tickets of this site to come as far. So the old protocol goes on, unheard, until every
member has said that it has gone over. Its tickets travel at once now: no more traffic is coming that could carry them.

A view closes under the plans that its cut holds, one after the other. What an earlier one has left behind, and nobody
has been able to multicast again in the view, comes last: whatever is in the cut has to come up before the next view. A
member that does not hold the whole order yet knows only of the plans in the part of it that is final.

`group` is the `SiteGroup` whose state this reads and changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs

from ordercast.core.effects import Out
from ordercast.core.events import (
    Event,
    Flush,
    FromAbove,
    FromBelow,
    Now,
    TimerFired,
    TimerKey,
    ViewClosed,
    ViewInstalled,
)
from ordercast.core.ids import SiteId
from ordercast.core.messages import Bundle, Level
from ordercast.core.plans import Plan
from ordercast.protocols.groups.messages import Begun
from ordercast.protocols.groups.ordering_out import OrderingOut
from ordercast.protocols.ordering.catalogue import PROTOCOLS

if TYPE_CHECKING:
    from ordercast.protocols.groups.site_group import SiteGroup

    Group = SiteGroup[Any]


class Retired(Struct):
    """The protocol of an earlier plan of this view: nobody hears it here, but others may still need it."""

    plan: int
    build: int
    ordering: Any
    left: list[Bundle]
    """What it has delivered, or would have, behind the change."""


def use(group: Group, plan: Plan) -> None:
    """Have the protocol of this plan at hand."""
    if plan == group.plan:
        return
    configured = group.configured
    assert configured is not None, "this group was not told how to build other ordering protocols"
    group.plan = plan
    group.build += 1
    if not plan.number:
        group.ordering = PROTOCOLS[configured.protocol].build(configured.setup)
        return
    change = plan.change
    options = {name: tuple(value) if isinstance(value, list) else value for name, value in change.options.items()}
    group.ordering = PROTOCOLS[change.protocol].build(structs.replace(configured.setup, options=options))


def come_up(group: Group, plan: Plan) -> None:
    """A change of plan has come up: what the old protocol has delivered behind it does not count, nor what waits."""
    group.due = plan
    left = [*group.deferred, *(content for content in group.ordered if isinstance(content, Bundle))]
    group.retired.append(Retired(group.plan.number, group.build, group.ordering, left))
    group.ordered.clear()
    group.deferred.clear()


def go_over(group: Group, now: Now, out: Out, *, closing: bool = False) -> None:
    """Begin the plan that is due; it may hold the next one. While a view closes, nothing can be multicast in it."""
    while group.due is not None:
        plan, group.due = group.due, None
        use(group, plan)
        handle_retired(group, group.retired[-1], Flush(), now, out)
        begin(group, now, out)
        if group.due is None and not closing:
            submit_again(group, now, out)
        if not closing:
            out.multicast(Begun(group.tell_length(), plan.number))


def close(group: Group, survivors: tuple[SiteId, ...], now: Now, out: Out) -> None:
    """Order all that is left of the view, under one plan after the other; and then what they have left behind."""
    close_current(group, survivors, now, out)
    if not group.aligned or group.ignoring:
        return
    forget_retired(group)
    at = 0
    while at < len(group.retired):
        handle_retired(group, group.retired[at], ViewClosed(survivors), now, out)
        for bundle in group.retired[at].left:
            waits = any(bundle.id == each.id for each in group.deferred)
            if not waits and group.has_its_past(bundle) and group.reached.sessions.is_new(bundle, ordered=True):
                group.place(bundle, out)
                if group.due is not None:
                    go_over(group, now, out, closing=True)
                    close_current(group, survivors, now, out)
        at += 1


def close_current(group: Group, survivors: tuple[SiteId, ...], now: Now, out: Out) -> None:
    """Up to the end of the newest plan."""
    while True:
        group.order(ViewClosed(survivors), now, out)
        if group.aligned and not group.ignoring:
            for content in list(group.ordered):
                if group.due is None and group.has_its_past(content):
                    group.place(content, out)
        if group.due is None:
            return
        go_over(group, now, out, closing=True)


def begin(group: Group, now: Now, out: Out) -> None:
    """Let the ordering protocol begin, with the roles that the order says; and hear what has come for it."""
    group.ordering_runs = True
    group.order(ViewInstalled(group.view, group.reached.roles.actives), now, out)
    if group.flushing:
        group.order(Flush(), now, out)
    early, group.early = group.early, []
    for sender, number, message in early:
        receive(group, sender, number, message, now, out)


def submit_again(group: Group, now: Now, out: Out) -> None:
    """What of this site the old protocol has not ordered is multicast under the new one; it follows what it followed
    when it was multicast first. (Were that worked out anew, two bundles could come to follow each other.)"""
    for _, bundle in sorted(group.outstanding.items()):
        if bundle.level < Level.AGREED or group.taken_back.holds(bundle):
            continue
        if group.log.sessions.is_new(bundle, ordered=True):
            group.order(FromAbove(bundle), now, out)


def receive(group: Group, sender: SiteId, number: int, message: Any, now: Now, out: Out) -> None:
    """A message of the ordering protocol of some plan has come."""
    current = group.plan.number
    if number < current:
        to_retired(group, number, FromBelow(sender, message), now, out)
    elif number == current and group.ordering_runs and group.due is None:
        group.ordering.handle(FromBelow(sender, message), now, OrderingOut(group, out))
    else:
        group.early.append((sender, number, message))


def on_timer(group: Group, build: int, key: TimerKey, now: Now, out: Out) -> None:
    """A timer of an ordering protocol that is or was in use."""
    if build == group.build:
        group.order(TimerFired(key), now, out)
        return
    for retired in group.retired:
        if retired.build == build:
            handle_retired(group, retired, TimerFired(key), now, out)


def to_retired(group: Group, number: int, event: Event, now: Now, out: Out) -> None:
    for retired in group.retired:
        if retired.plan == number:
            handle_retired(group, retired, event, now, out)


def handle_retired(group: Group, retired: Retired, event: Event, now: Now, out: Out) -> None:
    retired.ordering.handle(event, now, OrderingOut(group, out, retired))


def on_begun(group: Group, member: SiteId, number: int) -> None:
    """A member has gone over, and has multicast again what it had to."""
    group.gone_over[member] = number
    forget_retired(group)


def forget_retired(group: Group) -> None:
    """Once all have gone over, nobody needs what was before."""
    least = min(group.gone_over.get(each, 0) for each in group.view.members)
    group.retired = [retired for retired in group.retired if retired.plan >= least]


def begin_view(group: Group) -> None:
    """Whatever was in use in the view before is over."""
    group.retired.clear()
    group.gone_over.clear()
    group.due = None
