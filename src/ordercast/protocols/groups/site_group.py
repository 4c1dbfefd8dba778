"""What participants see: levels, positions, what is final, and views, in one stream.

Agreed and safe bundles go through the ordering protocol, which is a layer of its own inside this one; what it
delivers gets positions in the log. Fifo and causal bundles go past it. Every multicast tells how long the sender's log
is: a position is *final* once a majority of the view has ordered it, and a safe bundle is delivered only then (or once
resilience + 1 members have, if those are more).

A bundle of this site stays outstanding until it is delivered. What a change of view has kept from being taken is
multicast again in the next view; sessions tell what has been taken before.

A member that does not hold the whole order (it has joined, restarted, or was cut off) fetches the rest from another
before it takes part: it compares what it has beyond its last final position, retracts what the majority has ordered
otherwise, and goes on from there; or it begins with a snapshot.
"""

from __future__ import annotations

from typing import Any, ClassVar, Generic, TypeVar, assert_never

from msgspec import Struct, field

from ordercast.core.deliveries import (
    Delivered,
    GroupBlocked,
    GroupLeft,
    History,
    Logged,
    Snapshot,
)
from ordercast.core.effects import Out
from ordercast.core.entries import Content, Entry, RoleChange
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
from ordercast.core.ids import MessageId, SiteId
from ordercast.core.layer import Waiting
from ordercast.core.messages import Bundle, Level
from ordercast.core.plans import Plan, changes_plan
from ordercast.core.views import View
from ordercast.protocols.groups import alignment, divergence, plans, showing, standing, taken_back, view_changes
from ordercast.protocols.groups.causal import Causal
from ordercast.protocols.groups.finality import Finality
from ordercast.protocols.groups.log import Base, Log, Sessions
from ordercast.protocols.groups.messages import (
    Begun,
    Digests,
    Donor,
    Fetch,
    GroupMessage,
    Ordering,
    Private,
    Probe,
    Standing,
    Supplement,
    Unordered,
)
from ordercast.protocols.groups.ordering_out import OrderingOut
from ordercast.protocols.groups.plans import Retired
from ordercast.protocols.groups.taken_back import TakenBack
from ordercast.protocols.links.frames import Congestion
from ordercast.protocols.membership.messages import (
    Adopted,
    Blocked,
    Close,
    Dismissed,
    Installed,
    Leave,
    Progress,
    Stable,
    Stop,
)
from ordercast.protocols.ordering.setup import Configured

Inner = TypeVar("Inner")


class SiteGroup(Struct, Generic[Inner]):
    """One site's part in its group, above view synchrony."""

    WIRE: ClassVar[Any] = GroupMessage | Ordering[Inner] | Private[Inner]

    me: SiteId
    ordering: Any
    """The ordering protocol, a layer; `group_over` makes a type of group for each type of it."""
    resilience: int
    view: View
    log: Log
    finality: Finality
    causal: Causal
    aligned: bool = False
    """Whether the log holds the whole order."""
    start_of_view: Base = Base()
    """The order as this view began, its own entry included ..."""
    sessions_at_start: Sessions = field(default_factory=Sessions)
    """... and who had sent what."""
    replayed: Log | None = None
    """Where a snapshot reaches into the view: the order from the start of the view on, as far as the ordering protocol
    has come with it. Up to the snapshot the log has it already."""
    ignoring: bool = False
    """Whether what the ordering protocol delivers does not count: a longer log than ours is the order."""
    ordering_runs: bool = False
    """Whether the ordering protocol has begun this view."""
    early: list[tuple[SiteId, int, Inner]] = []
    """For the ordering protocol of a plan, until it has begun in this view."""
    configured: Configured | None = None
    plan: Plan = Plan()
    """Under which the ordering protocol runs."""
    build: int = 0
    """How many have been built."""
    due: Plan | None = None
    """It has come up, and is about to begin."""
    retired: list[Retired] = []
    gone_over: dict[SiteId, int] = {}
    """The number of the plan that each member has gone over to in this view."""
    flushing: bool = False
    """Whether no more traffic is coming."""
    ordered: list[Bundle | RoleChange] = []
    """From the ordering protocol: waiting for their past, or for the order before this view."""
    deferred: list[Bundle] = []
    """Ordered before an agreed bundle that they follow: they come up after it."""
    cautious: list[Entry] = []
    """In the log, not delivered: a safe bundle that is not held by enough members, and all behind it."""
    outstanding: dict[MessageId, Bundle] = {}
    """This site's bundles that have not been delivered to it yet."""
    taken_back: TakenBack = field(default_factory=TakenBack)
    takes_part: bool = False
    """Whether this site has multicast in this view what it had outstanding."""
    taken: int = 0
    """How many multicasts of this site the view has taken."""
    unstable: list[tuple[int, Bundle]] = []
    """This site's fifo and causal bundles that some member may not hold yet: which of its multicasts each was.
    If the view goes on without this site they are lost, and multicast again when it is back."""
    fetched: list[Entry] = []
    donor: Donor = field(default_factory=Donor)
    snapshot_for: list[SiteId] = []
    history_for: dict[SiteId, Fetch] = {}
    """Who has asked for entries that only the host has."""
    tell_us: int = standing.TELL_US
    """So long a lone message is not final though all have it; a shorter time costs more messages of their own."""
    told: int = 0
    """The length of the log that others have been told of."""
    telling: bool = False

    def handle(self, event: Event, now: Now, out: Out) -> None:
        match event:
            case FromBelow(sender=sender, message=message):
                self.on_receive(sender, message, now, out)
            case FromAbove(message=Bundle() as bundle):
                self.outstanding[bundle.id] = bundle
                self.taken_back.accept(bundle.id, self.log.length, self.log.final)
                if self.aligned and self.view.id:
                    self.submit(bundle, now, out)
                else:
                    self.causal.on_early(bundle)
            case FromAbove(message=Snapshot() as snapshot):
                alignment.send_snapshot(self, snapshot, out)
            case FromAbove(message=History() as history):
                alignment.on_history(self, history, out)
            case FromAbove(message=Leave() as leave):
                out.multicast(leave)
            case TimerFired(key="tell"):
                self.telling = False
                if self.told < self.log.length:
                    standing.tell(self, out)
            case Started():
                out.set_timer("standing", standing.STANDING_US)
                for entry in self.log.slice(self.log.final, self.log.length):
                    showing.show(self, entry, out)
            case TimerFired(key="standing"):
                out.set_timer("standing", standing.STANDING_US)
                if self.aligned:
                    standing.tell(self, out)
            case TimerFired(key="fetch"):
                alignment.fetch(self, out)
            case TimerFired(key=("ordering", build, key)):
                plans.on_timer(self, build, key, now, out)
            case Flush():
                self.flushing = True
                self.order(event, now, out)
            case FromAbove() | TimerFired() | ViewInstalled() | ViewClosed():
                raise AssertionError(f"not for a site group: {event}")
            case _:
                assert_never(event)
        if self.taken_back.voids and self.aligned:
            taken_back.release(self, now, out)
        while self.due is not None:
            plans.go_over(self, now, out)
            taken_back.release(self, now, out)

    def on_receive(self, sender: SiteId, message: Any, now: Now, out: Out) -> None:
        match message:
            case Ordering() | Unordered() | Begun() if sender == self.me:
                self.on_own(message, now, out)
            case Ordering():
                self.hear_length(sender, message.ordered, out)
                plans.receive(self, sender, message.plan, message.message, now, out)
            case Private():
                plans.receive(self, sender, message.plan, message.message, now, out)
            case Begun():
                self.hear_length(sender, message.ordered, out)
                plans.on_begun(self, sender, message.plan)
            case Unordered():
                self.hear_length(sender, message.ordered, out)
                self.taken_back.hear([each for each in message.void if not alignment.is_mine(self, each)])
                self.on_unordered(sender, message.bundle, out)
            case Standing() | Probe() | Digests():
                divergence.on_receive(self, sender, message, out)
            case Fetch():
                alignment.on_fetch(self, sender, message, out)
            case Supplement():
                alignment.on_supplement(self, message, now, out)
            case Stable(count=count):
                self.unstable = [(number, bundle) for number, bundle in self.unstable if number > count]
            case Stop():
                self.report(out)
            case Close():
                view_changes.on_close(self, message, now, out)
            case Installed():
                view_changes.on_installed(self, message, now, out)
            case Adopted(view=view, aligned=aligned):
                self.aligned = aligned and self.aligned
                if self.aligned:
                    self.append(view, out)
                self.report(out)
            case Blocked():
                out.deliver(self.me, GroupBlocked())
            case Dismissed():
                out.deliver(self.me, GroupLeft())
            case Congestion():
                out.deliver(sender, message)
            case _:
                raise AssertionError(f"no message of a site group: {message}")

    def on_own(self, message: Ordering[Inner] | Unordered | Begun, now: Now, out: Out) -> None:
        """One of this site's own multicasts has been taken by the view."""
        self.taken += 1
        if isinstance(message, Ordering):
            plans.receive(self, self.me, message.plan, message.message, now, out)
        elif isinstance(message, Begun):
            plans.on_begun(self, self.me, message.plan)
        else:
            self.unstable.append((self.taken, message.bundle))
            self.on_unordered(self.me, message.bundle, out)

    # --- multicast ---

    def submit(self, bundle: Bundle, now: Now, out: Out, *, again: bool = False) -> None:
        """Hand a bundle of this site on, with what must be delivered before it; or hold it back."""
        is_ordered = bundle.level >= Level.AGREED
        if not is_ordered:
            self.causal.any = True
        past = () if bundle.level == Level.FIFO else self.causal.past()
        ordered_past = self.causal.ordered_past_again(bundle) if again else self.causal.ordered_past()
        if is_ordered:
            self.causal.on_submit(self.me)
        if (past, ordered_past) != (bundle.past, bundle.ordered_past):
            bundle = Bundle(bundle.id, bundle.bodies, bundle.level, past, ordered_past, bundle.author)
            self.outstanding[bundle.id] = bundle
        if not is_ordered:
            out.multicast(Unordered(self.tell_length(), bundle, self.taken_back.tell()))
        elif not self.taken_back.hold(bundle):
            self.order(FromAbove(bundle), now, out)

    def submit_outstanding(self, taken: Sessions, now: Now, out: Out) -> None:
        """A view begins: multicast again what has not been taken."""
        for id, bundle in sorted(self.outstanding.items()):
            if taken.is_new(bundle, ordered=bundle.level >= Level.AGREED):
                self.submit(bundle, now, out, again=True)
            else:
                del self.outstanding[id]

    def order(self, event: Event, now: Now, out: Out) -> None:
        """Let the ordering protocol handle an event, and take its effects."""
        if self.ordering_runs and self.due is None:
            self.ordering.handle(event, now, OrderingOut(self, out))

    # --- delivery ---

    def on_unordered(self, sender: SiteId, bundle: Bundle, out: Out) -> None:
        for ready in self.causal.receive(sender, bundle):
            if self.log.sessions.is_new(ready, ordered=False):
                self.log.sessions.take(ready, ordered=False)
                self.outstanding.pop(ready.id, None)
                out.deliver(ready.origin, Delivered(ready, None, True))
        if self.aligned:
            self.take_ordered(out)

    def on_ordered(self, content: Bundle | RoleChange, out: Out) -> None:
        """The ordering protocol delivers a bundle, or says that a site has changed its role."""
        if not self.ignoring:
            self.ordered.append(content)
            if self.aligned:
                self.take_ordered(out)

    def take_ordered(self, out: Out) -> None:
        """Give positions to what is ordered and has all its past."""
        while self.ordered and self.has_its_past(self.ordered[0]):
            self.place(self.ordered.pop(0), out)

    def has_its_past(self, content: Bundle | RoleChange) -> bool:
        """Whether the fifo and causal bundles that precede have been delivered here."""
        return isinstance(content, RoleChange) or self.causal.is_ready(content.past)

    def place(self, content: Bundle | RoleChange, out: Out) -> None:
        """Append a bundle, or let it wait for the agreed ones that it follows; then those that waited for it."""
        if isinstance(content, RoleChange):
            self.append(content, out)
            return
        self.deferred.append(content)
        while (ready := self.causal.take_ready(self.deferred)) is not None:
            self.append(ready, out)

    @property
    def reached(self) -> Log:
        """The order as far as the ordering protocol has come with it."""
        return self.log if self.replayed is None else self.replayed

    def append(self, content: Content, out: Out) -> None:
        """The next position. What has one already is dropped."""
        log = self.reached
        if isinstance(content, Bundle):
            self.outstanding.pop(content.id, None)
            admitted = log.admit(content)
            if admitted is None:
                return
            content = admitted
        entry = log.append(content)
        if log is self.log:
            out.deliver(self.me, Logged(entry))
            showing.show(self, entry, out)
            self.arm_telling(out)
        else:
            alignment.count_off(self, log)
        if isinstance(content, Bundle) and changes_plan(content):
            plans.come_up(self, self.reached.roles.plan)

    # --- finality ---

    def arm_telling(self, out: Out) -> None:
        self.hear_length(self.me, self.log.length, out)
        if not self.telling:
            self.telling = True
            out.set_timer("tell", self.tell_us)

    def tell_length(self) -> int:
        """What a multicast tells of our log; a log with a hole does not count."""
        if not self.aligned:
            return 0
        self.told = self.log.length
        return self.told

    def hear_length(self, member: SiteId, length: int, out: Out) -> None:
        if self.finality.hear(member, length) and self.aligned:
            self.finalize(out)

    def finalize(self, out: Out) -> None:
        if not self.view.id:
            return  # this life has not been in a view yet: it has heard nobody but itself
        below = min(self.finality.below(self.finality.majority), self.log.length)
        if below > self.log.final:
            alignment.make_final(self, below, out)
        if self.cautious:
            showing.show_certain(self, out)

    def report(self, out: Out) -> None:
        """Tell the layer below what the log is, and whether it is whole."""
        out.multicast(Progress(self.log.length, self.log.digest, self.aligned))

    def waiting_for(self) -> Waiting | None:
        return standing.waiting_for(self)
