"""The coordinator's part in a change of view: when to begin one, whom to ask, when it is decided.

These are the handlers of `view_synchrony` that only the lowest member that is not suspected runs; `local` is that
layer, whose state they read and change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ordercast.core.effects import Out
from ordercast.core.events import Now
from ordercast.core.ids import SiteId
from ordercast.protocols.links.frames import Unreliable
from ordercast.protocols.membership import succession
from ordercast.protocols.membership.choice import Joiner, Promises, can_choose, choose
from ordercast.protocols.membership.messages import (
    Accept,
    Accepted,
    Ballot,
    Decided,
    Prepare,
    Promise,
    Refuse,
    Successor,
)
from ordercast.protocols.membership.suspector import HEARTBEAT_US

if TYPE_CHECKING:
    from ordercast.protocols.membership.view_synchrony import ViewSynchrony

    Local = ViewSynchrony[Any]


class Proposal(Struct):
    """One ballot of this coordinator."""

    ballot: Ballot
    since_us: int
    promises: Promises = {}
    successor: Successor | None = None
    accepted: list[SiteId] = []
    whole: bool = False
    """Whether the log of one of these holds the whole order up to the successor."""
    asked_us: dict[SiteId, int] = {}
    """When each member was last asked."""


def coordinate(local: Local, now: Now, out: Out) -> None:
    """At every tick: begin a change of view if one is needed and it is ours to begin, or go on with it."""
    now_us = now.monotonic_us
    if local.newest is not None or local.me not in local.view.members:
        return
    reachable = present(local, now_us)
    if not local.view.is_quorum(reachable):
        local.block(out)
    if all(leaves(local, member) for member in reachable):
        local.dismiss(out)  # nobody is left to go on
    if min(reachable) != local.me:
        local.proposal = None
        return
    proposal = local.proposal
    if proposal is None or now_us > proposal.since_us + 2 * patience_us(local):
        if now_us >= local.not_before_us and needs_change(local, reachable, now_us):
            propose(local, now, out)
    else:
        ask_again(local, proposal, now, out)
        try_to_choose(local, now, out)
        try_to_decide(local, now, out)


def present(local: Local, now_us: int) -> tuple[SiteId, ...]:
    """The members that can take part in agreeing on the next view: those that we hear and that hear us."""
    suspects = local.suspector.suspects(now_us)
    return tuple(member for member in local.view.members if member not in suspects and not is_deaf(local, member))


def is_deaf(local: Local, member: SiteId) -> bool:
    """Whether the member's heartbeats say that it does not hear ours."""
    return member in local.alives and local.me in local.alives[member].suspects


def needs_change(local: Local, reachable: tuple[SiteId, ...], now_us: int) -> bool:
    """Whether the view is not what it should be, or a change of it has got stuck."""
    if local.phase != "open":
        mine = local.acceptor.promised[1] == local.me
        return mine or now_us >= local.promised_us + patience_us(local)
    view = local.view
    complete = len(reachable) == len(view.members)
    restarted = any(site in view.members and not local.is_member(site, alive) for site, alive in local.alives.items())
    if local.blocked or not complete or restarted or any(has_stopped(local, member) for member in reachable):
        return True
    leaving = [member for member in reachable if leaves(local, member)]
    return 0 < len(leaving) < len(reachable) or bool(find_joiners(local, reachable, now_us))


def has_stopped(local: Local, member: SiteId) -> bool:
    """Whether the member has stopped in our view: for somebody who has begun to change it, and may have given up."""
    alive = local.alives.get(member)
    return alive is not None and alive.stopped and alive.view == local.view


def leaves(local: Local, member: SiteId) -> bool:
    """Whether the member wants to be out of the next view."""
    if member == local.me:
        return local.leaving
    return member in local.alives and local.alives[member].leaving


def find_joiners(local: Local, members: tuple[SiteId, ...], now_us: int) -> dict[SiteId, Joiner]:
    """Sites that want to be in, and that hear and are heard by every member we can reach."""
    heard = local.suspector.hears(now_us)
    others = [local.alives[member] for member in members if member in local.alives]
    found = {}
    for site, alive in local.alives.items():
        if site in heard and alive.joining and not local.is_member(site, alive):
            mutual = all(site in other.hears for other in others)
            if mutual and all(member in alive.hears for member in members if member != site):
                found[site] = Joiner(alive.incarnation, alive.hears)
    return found


def patience_us(local: Local) -> int:
    """How long a change of view may take before somebody else tries: several round trips."""
    slowest_us = max((peer.round_trip.timeout_us(0) for peer in local.suspector.peers.values()), default=0)
    return 4 * (slowest_us + HEARTBEAT_US)


def propose(local: Local, now: Now, out: Out) -> None:
    """Phase 1: ask everybody to stop."""
    local.round_seen = max(local.round_seen, local.acceptor.promised[0]) + 1
    local.proposal = Proposal((local.round_seen, local.me), now.monotonic_us)
    ask_again(local, local.proposal, now, out)


def ask_again(local: Local, proposal: Proposal, now: Now, out: Out) -> None:
    """Ask those who have not answered for a while."""
    question: Prepare | Accept
    if proposal.successor is None:
        question, answered = Prepare(local.view.id, proposal.ballot), list(proposal.promises)
    else:
        question = Accept(local.view.id, proposal.ballot, proposal.successor)
        answered = proposal.accepted
    for member in local.view.members:
        asked_us = proposal.asked_us.get(member)
        if member in answered or (asked_us is not None and now.monotonic_us < asked_us + wait_us(local, member)):
            continue
        proposal.asked_us[member] = now.monotonic_us
        local.tell(member, question, now, out)


def wait_us(local: Local, member: SiteId) -> int:
    """How long to wait for an answer before asking again."""
    if member == local.me:
        return HEARTBEAT_US
    return local.suspector.peers[member].round_trip.timeout_us(HEARTBEAT_US)


def on_promise(local: Local, sender: SiteId, promise: Promise, now: Now, out: Out) -> None:
    """A member has stopped, and tells what it holds."""
    proposal = local.proposal
    if proposal is not None and promise.ballot == proposal.ballot and proposal.successor is None:
        proposal.promises[sender] = promise
        try_to_choose(local, now, out)


def try_to_choose(local: Local, now: Now, out: Out) -> None:
    """Phase 2, once all whom we do not suspect have promised, and they suffice."""
    proposal = local.proposal
    if proposal is None or proposal.successor is not None:
        return
    promises = proposal.promises
    if any(member not in promises for member in present(local, now.monotonic_us)):
        return
    if not can_choose(local.view, promises):
        local.block(out)
        return
    joiners = find_joiners(local, tuple(sorted(promises)), now.monotonic_us)
    leaving = tuple(member for member in sorted(promises) if leaves(local, member))
    proposal.successor = choose(local.view, promises, joiners, leaving)
    proposal.asked_us.clear()
    ask_again(local, proposal, now, out)


def on_accepted(local: Local, sender: SiteId, accepted: Accepted, now: Now, out: Out) -> None:
    """A member holds the cut and agrees. One that is not to hold the order in the next view cannot vouch for it."""
    proposal = local.proposal
    if proposal is None or proposal.successor is None or accepted.ballot != proposal.ballot:
        return
    if sender not in proposal.accepted:
        proposal.accepted.append(sender)
        proposal.whole = proposal.whole or (accepted.whole and sender in proposal.successor.aligned)
        try_to_decide(local, now, out)


def try_to_decide(local: Local, now: Now, out: Out) -> None:
    """Decided once a quorum has agreed; but those who are there get the time to complete the cut first."""
    proposal = local.proposal
    if proposal is None or proposal.successor is None:
        return
    missing = [member for member in present(local, now.monotonic_us) if member not in proposal.accepted]
    if missing or not proposal.whole or not local.view.is_quorum(tuple(proposal.accepted)):
        return
    decided = Decided(local.view.id, proposal.successor)
    for site in local.configured:
        if site != local.me and (site in local.view.members or site in decided.successor.view.members):
            out.send(site, Unreliable(decided))
    succession.on_decided(local, decided, now, out)


def on_refuse(local: Local, refuse: Refuse, now: Now) -> None:
    """Somebody else coordinates too: let them try first."""
    if local.proposal is not None and refuse.promised > local.proposal.ballot:
        local.proposal = None
        local.round_seen = max(local.round_seen, refuse.promised[0])
        rank = 1 + local.configured.index(local.me)
        local.not_before_us = now.monotonic_us + rank * patience_us(local)
