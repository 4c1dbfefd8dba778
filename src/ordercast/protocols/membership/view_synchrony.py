"""View-synchronous multicast with agreed view changes (DESIGN: primary partition).

In a view every member multicasts over reliable FIFO links. When members are suspected, want to join, or leave, the
lowest member that is not suspected coordinates the change to the next view:

1. *Prepare / Promise.* Members stop and tell what they hold. The coordinator waits for all whom it does not suspect,
   and needs a quorum of the view. What may have been decided under a lower ballot it must propose again.
2. *Accept / Accepted.* It proposes a successor: the next members, and the cut, which is all that any of those who
   stopped has received. Before a member agrees, it fetches what it lacks of the cut, hands it up, and has the layer
   above order all of it: so everything in the cut is held by a quorum before it is decided.
3. *Decided.* Members install the new view.

Assumes: reliable FIFO links inside a view; heartbeats and the messages above may be lost, and are repeated. Ballot,
accepted successor and view are saved before the sends that rest on them.
Safety does not depend on suspicions being right: two coordinators, or one that dies half-way, meet in the ballots
(single-decree Paxos for each view, whose members are the acceptors).
"""

from __future__ import annotations

from typing import Any, ClassVar, Generic, Literal, TypeVar, assert_never

import msgspec
from msgspec import Struct

from ordercast.core.effects import Out
from ordercast.core.events import (
    Event,
    Flush,
    FromAbove,
    FromBelow,
    Now,
    Started,
    TimerFired,
    ViewClosed,
    ViewInstalled,
)
from ordercast.core.ids import SiteId, ViewId
from ordercast.core.layer import Waiting
from ordercast.core.views import View
from ordercast.protocols.links.frames import Congestion, Unreliable
from ordercast.protocols.membership import coordination, succession
from ordercast.protocols.membership.acceptor import Acceptor
from ordercast.protocols.membership.coordination import Proposal
from ordercast.protocols.membership.messages import (
    Accept,
    Accepted,
    Alive,
    Ballot,
    Blocked,
    Cast,
    Decided,
    Direct,
    Dismissed,
    Leave,
    Prepare,
    Progress,
    Promise,
    Refuse,
    Stable,
    Successor,
    Supply,
    Want,
)
from ordercast.protocols.membership.suspector import HEARTBEAT_US, PATIENCE_US, Suspector
from ordercast.protocols.membership.traffic import Traffic

Payload = TypeVar("Payload")

Control = Alive | Prepare | Promise | Refuse | Accept | Accepted | Decided | Want


class ViewSynchrony(Struct, Generic[Payload]):
    """One site's part in the membership of its group."""

    WIRE: ClassVar[Any] = Control | Cast[Payload] | Supply[Payload] | Direct[Payload]

    me: SiteId
    incarnation: int
    configured: tuple[SiteId, ...]
    acceptor: Acceptor
    traffic: Traffic[Payload]
    suspector: Suspector
    previous: Traffic[Payload] | None = None
    """The messages of the view before, until every member has installed this one."""
    running: bool = False
    """Whether this life of the site has installed the view."""
    phase: Literal["open", "stopped", "closed"] = "stopped"
    closed_with: Successor | None = None
    closing: tuple[Ballot | None, Successor] | None = None
    """A successor to agree to (under this ballot) or to install (None) once the cut is complete here."""
    owes_promise: bool = False
    ordered: int = 0
    """How long the log of the layer above is ..."""
    digest: int = 0
    """... and what it says."""
    alives: dict[SiteId, Alive] = {}
    """The newest heartbeat of each other site."""
    newest: View | None = None
    """The newest view heard of, if it is newer than ours."""
    early: list[tuple[SiteId, Cast[Payload] | Direct[Payload]]] = []
    """Of views that are not installed here yet."""
    proposal: Proposal | None = None
    not_before_us: int = 0
    """After losing to a higher ballot: when to try again."""
    round_seen: int = 0
    promised_us: int = 0
    blocked: bool = False
    leaving: bool = False
    dismissed: bool = False

    @classmethod
    def start(
        cls,
        me: SiteId,
        incarnation: int,
        configured: tuple[SiteId, ...],
        now_us: int,
        saved: bytes | None,
        patience_us: int = PATIENCE_US,
    ) -> ViewSynchrony[Any]:
        """A site that comes up, for the first time or with what an earlier life has saved.

        At first every configured site is an aligned member of view 0, in which nothing was ordered and which
        nobody runs: the first start of a group is no different from a restart of all of it.
        """
        if saved is None:
            acceptor = Acceptor(View(ViewId(0), configured), aligned=True)
        else:
            acceptor = msgspec.msgpack.decode(saved, type=Acceptor)
        others = tuple(site for site in configured if site != me)
        suspector = Suspector.of(others, now_us, patience_us)
        return cls(me, incarnation, configured, acceptor, Traffic.of(acceptor.view), suspector)

    def handle(self, event: Event, now: Now, out: Out) -> None:
        match event:
            case FromBelow(message=Congestion()):
                out.deliver(event.sender, event.message)
            case FromBelow(sender=sender, message=message):
                if sender in self.suspector.peers:
                    self.suspector.on_heard(sender, now.monotonic_us)
                    self.on_receive(sender, message, now, out)
            case FromAbove(message=Progress() as progress):
                succession.on_progress(self, progress, now, out)
            case FromAbove(message=Leave()):
                self.leaving = True
            case FromAbove(message=message, to=None):
                self.on_multicast(message, out)
            case FromAbove(message=message, to=int() as to):
                if self.phase == "open":  # what is said once the view is closed must not count in it
                    out.send(to, Direct(self.view.id, message))
            case TimerFired(key="want"):
                if self.closing is not None:
                    succession.complete(self, now, out)
            case TimerFired(key="tick") | Started():
                out.set_timer("tick", HEARTBEAT_US)
                self.on_tick(now, out)
            case FromAbove() | TimerFired() | ViewInstalled() | ViewClosed():
                raise AssertionError(f"not for view synchrony: {event}")
            case Flush():
                pass
            case _:
                assert_never(event)

    @property
    def view(self) -> View:
        return self.acceptor.view

    def on_receive(self, sender: SiteId, message: Any, now: Now, out: Out) -> None:
        match message:
            case Cast():
                self.on_cast(sender, message, out)
            case Direct():
                self.on_direct(sender, message, out)
            case Alive():
                self.on_alive(sender, message, now, out)
            case Decided():
                succession.on_decided(self, message, now, out)
            case Want():
                succession.on_want(self, sender, message, out)
            case Prepare() | Promise() | Refuse() | Accept() | Accepted() | Supply():
                if message.view == self.view.id:
                    self.on_ballot(sender, message, now, out)
            case _:
                raise AssertionError(f"no message of view synchrony: {message}")

    def on_ballot(
        self,
        sender: SiteId,
        message: Prepare | Promise | Refuse | Accept | Accepted | Supply[Payload],
        now: Now,
        out: Out,
    ) -> None:
        """Something about the succession of our view. What is about another one is answered by heartbeats."""
        match message:
            case Prepare():
                succession.on_prepare(self, sender, message, now, out)
            case Promise():
                coordination.on_promise(self, sender, message, now, out)
            case Refuse():
                coordination.on_refuse(self, message, now)
            case Accept():
                succession.on_accept(self, sender, message, now, out)
            case Accepted():
                coordination.on_accepted(self, sender, message, now, out)
            case Supply():
                succession.on_supply(self, message, now, out)
            case _:
                assert_never(message)

    # --- multicast in a view ---

    def on_multicast(self, payload: Payload, out: Out) -> None:
        """While the view changes nothing is taken: the layer above multicasts again in the next."""
        if self.phase != "open":
            return
        mine = self.traffic.senders[self.me]
        mine.take(mine.held + 1, payload)
        mine.handed = mine.held
        cast = Cast(self.view.id, mine.held, payload)
        out.deliver(self.me, payload)
        for member in self.view.members:
            if member != self.me:
                out.send(member, cast)

    def on_cast(self, sender: SiteId, cast: Cast[Payload], out: Out) -> None:
        if cast.view > self.view.id or not self.running:
            self.early.append((sender, cast))
        elif cast.view == self.view.id and sender in self.traffic.senders:
            known = self.traffic.senders[sender]
            known.take(cast.number, cast.payload)
            if self.phase == "open" and known.handed < known.held:
                known.handed = known.held
                out.deliver(sender, cast.payload)

    def on_direct(self, sender: SiteId, direct: Direct[Payload], out: Out) -> None:
        if direct.view > self.view.id or not self.running:
            self.early.append((sender, direct))
        elif direct.view == self.view.id and self.phase == "open":
            out.deliver(sender, direct.payload)

    # --- heartbeats ---

    def on_tick(self, now: Now, out: Out) -> None:
        now_us = now.monotonic_us
        suspects, hears = self.suspector.suspects(now_us), self.suspector.hears(now_us)
        for site, peer in self.suspector.peers.items():
            alive = Alive(
                self.incarnation,
                self.view,
                now_us,
                peer.stamp_us,
                now_us - peer.stamp_at_us,
                self.traffic.handed() if self.running else (),
                suspects,
                hears,
                self.outside and not self.leaving,
                self.leaving,
                self.phase != "open",
            )
            out.send(site, Unreliable(alive))
        coordination.coordinate(self, now, out)

    @property
    def outside(self) -> bool:
        """Whether there is a newer view without this life of the site."""
        return self.newest is not None and self.newest.incarnation(self.me) != self.incarnation

    def on_alive(self, sender: SiteId, alive: Alive, now: Now, out: Out) -> None:
        known = self.alives.get(sender)
        if known is not None and alive.incarnation < known.incarnation:
            return  # of an earlier life
        if known is not None and alive.incarnation > known.incarnation:
            self.suspector.forget(sender)
        elif known is not None and alive.sent_us < known.sent_us:
            return  # overtaken
        self.suspector.on_heartbeat(sender, alive.sent_us, alive.echo_us, alive.echo_age_us, now.monotonic_us)
        self.alives[sender] = alive
        if alive.view.id > max(self.view.id, self.newest.id if self.newest else 0):
            self.newest = alive.view
            self.lose_view(out)
        elif alive.view.id < self.view.id and sender in self.view.members:
            self.tell_decision(sender, out)
        elif alive.view == self.view and alive.handed and self.running and self.is_member(sender, alive):
            self.on_report(sender, alive.handed, out)

    def is_member(self, site: SiteId, alive: Alive) -> bool:
        """Whether this very life of the site is in our view."""
        return self.view.incarnation(site) == alive.incarnation

    def on_report(self, sender: SiteId, handed: tuple[int, ...], out: Out) -> None:
        """A member in our view tells what it has handed up."""
        mine = self.traffic.senders[self.me]
        known = mine.stable
        self.traffic.report(sender, handed)
        if mine.stable > known:
            out.deliver(self.me, Stable(mine.stable))
        if self.traffic.all_report():
            self.previous = None

    def lose_view(self, out: Out) -> None:
        """Others have gone on without us: stop, and ask to be let in."""
        if self.outside:
            self.phase = "stopped" if self.phase == "open" else self.phase
            self.proposal = None
            if self.leaving:
                self.dismiss(out)
            else:
                self.block(out)

    def dismiss(self, out: Out) -> None:
        """This site wants to leave, and nobody needs it any more."""
        if not self.dismissed:
            self.dismissed = True
            out.deliver(self.me, Dismissed())

    def block(self, out: Out) -> None:
        if not self.blocked:
            self.blocked = True
            out.deliver(self.me, Blocked())

    def tell_decision(self, site: SiteId, out: Out) -> None:
        came_by = self.acceptor.came_by
        if came_by is not None:
            out.send(site, Unreliable(Decided(ViewId(self.view.id - 1), came_by)))

    def tell(self, site: SiteId, message: Control, now: Now, out: Out) -> None:
        """Send a message that may be lost; this site hears itself at once."""
        if site == self.me:
            self.on_receive(site, message, now, out)
        else:
            out.send(site, Unreliable(message))

    def traffic_of(self, view: ViewId) -> Traffic[Payload] | None:
        """The messages of the view, or of the one before it, for members that are late to close it."""
        if self.running and view == self.view.id:
            return self.traffic
        return self.previous if view == self.view.id - 1 else None

    def take_early(self, out: Out) -> None:
        early, self.early = self.early, []
        for sender, message in early:
            if isinstance(message, Cast):
                self.on_cast(sender, message, out)
            else:
                self.on_direct(sender, message, out)

    def save(self, out: Out) -> None:
        out.save("acceptor", msgspec.msgpack.encode(self.acceptor))

    def waiting_for(self) -> Waiting | None:
        if self.phase == "open":
            return None
        return Waiting("a new view, coordinated by", min(self.view.members))
