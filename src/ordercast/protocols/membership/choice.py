"""The coordinator's choice: from the promises of members to the successor of their view."""

from __future__ import annotations

from msgspec import Struct

from ordercast.core.ids import SiteId, ViewId
from ordercast.core.views import View
from ordercast.protocols.membership.messages import Ballot, Cut, Floor, Promise, Successor


class Joiner(Struct, frozen=True):
    """A site outside the view that wants to be in."""

    incarnation: int
    hears: tuple[SiteId, ...]


Promises = dict[SiteId, Promise]


def can_choose(view: View, promises: Promises) -> bool:
    """Whether the promises suffice: a quorum of the view, and one in it that knows the whole order."""
    return view.is_quorum(tuple(promises)) and any(promise.aligned for promise in promises.values())


def choose(view: View, promises: Promises, joiners: dict[SiteId, Joiner], leaving: tuple[SiteId, ...]) -> Successor:
    """The successor to propose. One that may have been decided already must be proposed again."""
    accepted: list[tuple[Ballot, Successor]] = [p.accepted for p in promises.values() if p.accepted is not None]
    if accepted:
        newest = max(accepted, key=lambda each: each[0])[1]
        if may_be_decided(newest, promises):
            return newest
    leaving = may_leave(promises, leaving)
    staying = _staying(view, promises, leaving)
    joining = _joining(joiners, staying, promises)
    lives = {site: promises[site].incarnation for site in staying} | joining
    members = tuple(sorted(lives))
    floor = _floor(promises, staying)
    return Successor(
        View(ViewId(view.id + 1), members, tuple(lives[site] for site in members)),
        _cuts(view, {site: promises[site] for site in (*staying, *leaving) if promises[site].running}),
        _aligned(promises, staying, floor),
        floor,
    )


def may_be_decided(successor: Successor, promises: Promises) -> bool:
    """Whether somebody may have agreed to the successor with the whole order in its log.

    Without that nothing is decided, and it may have become impossible: when everybody who was to hold the whole
    order has restarted before closing the view.
    """
    for site in successor.aligned:
        promise = promises.get(site)
        if promise is None:
            return True
        if promise.whole and promise.accepted is not None and promise.accepted[1] == successor:
            return True
    return False


def can_order(promise: Promise) -> bool:
    """Whether the member holds the whole order so far, and can close the view with any cut."""
    return promise.aligned and promise.running and not promise.closed


def may_leave(promises: Promises, leaving: tuple[SiteId, ...]) -> tuple[SiteId, ...]:
    """Who of those that want to leave can: what they hold must not get lost with them. The others ask again."""
    if not any(can_order(promise) for site, promise in promises.items() if site not in leaving):
        return ()
    return tuple(site for site in leaving if promises[site].running)


def _staying(view: View, promises: Promises, leaving: tuple[SiteId, ...]) -> list[SiteId]:
    """Those that promised and do not leave; if a quorum among them trust each other, only these, lowest ids first."""
    stayers = [site for site in sorted(promises) if site not in leaving]
    trusting: list[SiteId] = []
    for site in stayers:
        if not any(site in promises[other].suspects or other in promises[site].suspects for other in trusting):
            trusting.append(site)
    trusted = [promises[site] for site in trusting]
    knows = any(map(can_order, trusted)) if leaving else any(promise.aligned for promise in trusted)
    return trusting if knows and view.is_quorum((*trusting, *leaving)) else stayers


def _joining(joiners: dict[SiteId, Joiner], staying: list[SiteId], promises: Promises) -> dict[SiteId, int]:
    """The joiners that every member hears, and that hear every member: others would be expelled at once."""
    admitted: dict[SiteId, int] = {}
    for site, joiner in sorted(joiners.items()):
        heard = all(site in promises[member].hears for member in staying)
        if heard and all(member in joiner.hears for member in staying):
            admitted[site] = joiner.incarnation
    return admitted


def _floor(promises: Promises, staying: list[SiteId]) -> Floor | None:
    """The longest log, if only members have it that have restarted; or if nobody is left who can close the view.

    A restarted member's log may hold final entries that no running member has. What a running member has ordered
    follows from the messages of the cut, and so does what every other running member will order. Who has closed the
    view has ordered all that can be final in it, since a quorum had stopped; but cannot order a different cut.
    """
    able = max((promises[site].ordered for site in staying if can_order(promises[site])), default=-1)
    logs = [promises[site] for site in staying if promises[site].aligned and not can_order(promises[site])]
    longest = max((each for each in logs if able < 0 or not each.running), key=lambda each: each.ordered, default=None)
    return None if longest is None or longest.ordered <= able else log_of(longest)


def _cuts(view: View, running: Promises) -> tuple[Cut, ...]:
    """For each member of the old view all that any running member has of it."""
    cuts = []
    for place, sender in enumerate(view.members):
        count, holder = max(((p.held[place], -site) for site, p in running.items()), default=(0, 0))
        cuts.append(Cut(sender, count, SiteId(-holder)))
    return tuple(cuts)


def _aligned(promises: Promises, staying: list[SiteId], floor: Floor | None) -> tuple[SiteId, ...]:
    """Who will hold the whole order once the old view is closed."""
    if floor is None:
        return tuple(site for site in staying if can_order(promises[site]))
    return tuple(site for site in staying if promises[site].aligned and log_of(promises[site]) == floor)


def log_of(promise: Promise) -> Floor:
    """The member's log, as it would be named as the order."""
    return Floor(promise.ordered, promise.digest)
