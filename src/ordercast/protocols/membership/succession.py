"""Every member's part in a change of view: to stop, to complete the cut, to agree, to install the next view.

These are the handlers of `view_synchrony` for the messages of a ballot; `local` is that layer, whose state they
read and change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ordercast.core.effects import Out
from ordercast.core.events import Now
from ordercast.core.ids import SiteId
from ordercast.protocols.links.frames import Reset, Unreliable
from ordercast.protocols.membership.acceptor import Acceptor
from ordercast.protocols.membership.messages import (
    Accept,
    Accepted,
    Adopted,
    Ballot,
    Close,
    Decided,
    Floor,
    Installed,
    Prepare,
    Progress,
    Promise,
    Refuse,
    Stop,
    Successor,
    Supply,
    Want,
)
from ordercast.protocols.membership.suspector import HEARTBEAT_US
from ordercast.protocols.membership.traffic import Traffic

if TYPE_CHECKING:
    from ordercast.protocols.membership.view_synchrony import ViewSynchrony

    Local = ViewSynchrony[Any]

SUPPLY_MESSAGES_MAX = 256
"""So many messages of a cut go in one answer; the rest is asked for again."""


# --- agreeing to a change of view ---


def on_prepare(local: Local, sender: SiteId, prepare: Prepare, now: Now, out: Out) -> None:
    if prepare.ballot < local.acceptor.promised:
        local.tell(sender, Refuse(local.view.id, local.acceptor.promised), now, out)
        return
    promise(local, prepare.ballot, now, out)
    local.owes_promise = True
    out.deliver(local.me, Stop())


def promise(local: Local, ballot: Ballot, now: Now, out: Out) -> None:
    if local.phase == "open":
        local.phase = "stopped"
    if ballot != local.acceptor.promised:
        local.promised_us = now.monotonic_us
        local.acceptor.promised = ballot
        local.save(out)
        if local.closing is not None and local.closing[0] is not None:
            local.closing = None  # the view must not be closed with what may not be agreed to any more


def on_progress(local: Local, progress: Progress, now: Now, out: Out) -> None:
    local.ordered, local.digest = progress.ordered, progress.digest
    if progress.aligned != local.acceptor.aligned:
        local.acceptor.aligned = progress.aligned
        local.save(out)
    if local.owes_promise:
        local.owes_promise = False
        send_promise(local, now, out)
    if local.closing is not None and local.phase == "closed":
        finish(local, now, out)


def send_promise(local: Local, now: Now, out: Out) -> None:
    ballot = local.acceptor.promised
    promise = Promise(
        local.view.id,
        ballot,
        local.incarnation,
        local.running,
        local.acceptor.aligned,
        local.phase == "closed",
        local.ordered,
        local.digest,
        local.traffic.held() if local.running else (),
        local.acceptor.accepted,
        local.acceptor.whole,
        local.suspector.suspects(now.monotonic_us),
        local.suspector.hears(now.monotonic_us),
    )
    local.tell(ballot[1], promise, now, out)


def on_accept(local: Local, sender: SiteId, accept: Accept, now: Now, out: Out) -> None:
    if accept.ballot < local.acceptor.promised:
        local.tell(sender, Refuse(local.view.id, local.acceptor.promised), now, out)
        return
    promise(local, accept.ballot, now, out)
    local.closing = (accept.ballot, accept.successor)
    complete(local, now, out)


def complete(local: Local, now: Now, out: Out) -> None:
    """Agree to the successor, or install it, as soon as everything in its cut is here and ordered."""
    assert local.closing is not None
    _, successor = local.closing
    if not local.running or local.phase == "closed":
        finish(local, now, out)
        return
    missing = local.traffic.missing(successor.cuts)
    for cut in missing:
        want(local, cut.holder, cut.sender, cut.count, now, out)
    if missing:
        out.set_timer("want", HEARTBEAT_US)
    else:
        close(local, successor, out)  # goes on when the layer above has ordered it, in `on_progress`


def finish(local: Local, now: Now, out: Out) -> None:
    """The view is closed as far as it is ours to close."""
    assert local.closing is not None
    ballot, successor = local.closing
    local.closing = None
    if ballot is None:
        install(local, successor, out)
    elif ballot == local.acceptor.promised:
        local.acceptor.accepted = (ballot, successor)
        local.acceptor.whole = holds_whole(local, successor)
        local.save(out)
        local.tell(ballot[1], Accepted(local.view.id, ballot, local.acceptor.whole), now, out)


def holds_whole(local: Local, successor: Successor) -> bool:
    """Whether our log holds the whole order up to the successor."""
    if successor.floor is not None:
        return local.acceptor.aligned and Floor(local.ordered, local.digest) == successor.floor
    return local.acceptor.aligned and local.running and local.closed_with == successor


def close(local: Local, successor: Successor, out: Out) -> None:
    """Hand up the rest of the cut, and have all of it ordered. A view is closed once."""
    local.phase = "closed"
    local.closed_with = successor
    for cut in successor.cuts:
        sender = local.traffic.senders[cut.sender]
        for number in range(sender.handed + 1, cut.count + 1):
            out.deliver(cut.sender, sender.kept[number])
        sender.handed = max(sender.handed, cut.count)
    out.deliver(local.me, Close(successor))


# --- completing the cut ---


def want(local: Local, holder: SiteId, sender: SiteId, upto: int, now: Now, out: Out) -> None:
    """Ask the holder; and, since it may be gone, one other member at a time."""
    have = local.traffic.senders[sender].held
    want = Want(local.view.id, sender, have, upto)
    others = [member for member in local.view.members if member not in (local.me, holder)]
    if holder != local.me:
        local.tell(holder, want, now, out)
    if others:
        local.tell(others[(now.monotonic_us // HEARTBEAT_US) % len(others)], want, now, out)


def on_want(local: Local, asker: SiteId, want: Want, out: Out) -> None:
    traffic = local.traffic_of(want.view)
    if traffic is None or want.sender not in traffic.senders:
        return
    kept = traffic.senders[want.sender].kept
    payloads = []
    for number in range(want.have + 1, min(want.upto, want.have + SUPPLY_MESSAGES_MAX) + 1):
        if number not in kept:
            break
        payloads.append(kept[number])
    if payloads:
        out.send(asker, Unreliable(Supply(want.view, want.sender, want.have + 1, tuple(payloads))))


def on_supply(local: Local, supply: Supply[Any], now: Now, out: Out) -> None:
    if local.running and supply.sender in local.traffic.senders:
        sender = local.traffic.senders[supply.sender]
        for offset, payload in enumerate(supply.payloads):
            sender.take(supply.first + offset, payload)
        if local.closing is not None:
            complete(local, now, out)


# --- installing a view ---


def on_decided(local: Local, decided: Decided, now: Now, out: Out) -> None:
    successor = decided.successor
    if successor.view.id <= local.view.id:
        return
    if local.me in successor.view.members and successor.view.incarnation(local.me) != local.incarnation:
        adopt(local, successor, out)
    elif local.me not in successor.view.members:
        if local.newest is None or successor.view.id > local.newest.id:
            local.newest = successor.view
            local.lose_view(out)
    elif local.running and decided.view == local.view.id and local.phase != "closed":
        local.phase = "stopped"
        local.closing = (None, successor)
        complete(local, now, out)
    else:
        install(local, successor, out)


def adopt(local: Local, successor: Successor, out: Out) -> None:
    """An earlier life of ours is in the view: take its place in agreeing on the next one, as after a restart."""
    acceptor = local.acceptor
    whole = acceptor.whole and acceptor.accepted is not None and acceptor.accepted[1] == successor
    aligned = acceptor.aligned and whole
    local.acceptor = Acceptor(successor.view, aligned, successor)
    local.traffic = Traffic.of(successor.view)
    local.running, local.phase, local.closed_with, local.closing = False, "stopped", None, None
    local.proposal, local.newest, local.owes_promise = None, None, False
    out.deliver(local.me, Adopted(successor.view, aligned))
    local.save(out)


def install(local: Local, successor: Successor, out: Out) -> None:
    old, view = local.view, successor.view
    continuing = local.running and view.id == old.id + 1 and local.closed_with == successor
    for site in local.configured:
        stays = site in view.members and view.incarnation(site) == old.incarnation(site)
        if site != local.me and not (continuing and stays):
            life = view.incarnation(site)
            out.send(site, Reset(-1 if life is None else life))
    local.acceptor = Acceptor(view, False, successor)
    local.previous = local.traffic if continuing else None
    local.traffic = Traffic.of(view)
    local.running, local.phase, local.closed_with, local.closing = True, "open", None, None
    local.proposal, local.newest, local.blocked, local.owes_promise = None, None, False, False
    local.not_before_us = 0
    out.deliver(local.me, Installed(successor, continuing))
    local.save(out)
    local.take_early(out)
