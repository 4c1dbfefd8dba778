"""Dynamic hybrid ordering: roles change while the group runs (hybrid report, sections 6 and 7, Figure 5).

As in the static hybrid protocol (`hybrid`), active sites issue tickets for their own messages and for those of passive
sites. Here a passive site names its sequencer in each message, by a *descriptor* that holds only as long as the
sequencer keeps its role. To change its own role a site multicasts *goingToActive* or *goingToPassive*, which is
ordered like any message, so all members go through the same sequence of configurations. A passive site changes its
sequencer once all that the old one was to order is delivered; if that goes passive first, the site *reassigns* what is
left to another.

In the papers a site that switches stops sending until it has switched. Here it sends on, but names no sequencer: once
it has switched it orders these messages itself, or assigns them. Their way is not lost, and no message of another
level overtakes them at the sender.

Each site considers its role at intervals, by what it has measured itself (`deciding`, `planning.switching`).

Assumes: view-synchronous multicast, FIFO between each pair of sites; a view is closed deterministically, so that no
message outlives it and roles begin anew with each view, from the configuration that the order says.
Cost: none beyond the message itself while the actives keep sending; a multicast and its ticket for each change of role,
and one for each passive site whose sequencer goes passive.

Where the pseudo-code is wrong or silent (docs/findings.md has the runs that show it):

- Roles are evaluated one message at a time: who may still issue a smaller ticket changes in the middle of the queue.
- Only a passive site whose own sequencer has gone passive reassigns, and only what has no ticket.
- What has been given a ticket is not given another when the ticket has left.
- A switch aborted by the last active site keeps its role number, so what was assigned to the site meanwhile, and not
  ordered as it was about to leave, is ordered then.
- The tries of a site are numbered apart from its roles, or a second one could not be told from an aborted first.
- The last active site does not try again before the configuration changes.
"""

from __future__ import annotations

from typing import ClassVar, Literal, assert_never

from msgspec import Struct
from msgspec.structs import replace

from ordercast.core.effects import Note, Out
from ordercast.core.entries import RoleChange
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
from ordercast.core.ids import MessageId, SiteId, Ticket
from ordercast.core.layer import Waiting
from ordercast.core.messages import Bundle
from ordercast.planning.estimators import Estimates
from ordercast.planning.roles import closest
from ordercast.protocols.ordering import deciding
from ordercast.protocols.ordering.configuration import (
    Configuration,
    Content,
    Descriptor,
    Envelope,
    Going,
    Probe,
    Reassign,
    place_among_senders,
)
from ordercast.protocols.ordering.issuer import Issuer
from ordercast.protocols.ordering.merge import Merge
from ordercast.protocols.ordering.messages import Echo, Issued, Tickets
from ordercast.protocols.ordering.observations import Observations
from ordercast.protocols.ordering.rate_synchronised import RateSynchronisedClock
from ordercast.protocols.ordering.setup import Setup

CONSIDER_US = 200_000
"""A site considers its role so often."""

TENURE_US = 1_000_000
"""It keeps a role, or a sequencer, at least so long: estimates need time to follow."""

Phase = Literal["passive", "to-active", "active", "to-passive", "changing-sequencer", "closing"]
"""The states of Figure 5, and one more: the view ends, and switches only count for the next."""


class DynamicHybrid(Struct):
    """Active sites order; who is active changes on line."""

    WIRE: ClassVar = Envelope | Tickets | Reassign | Probe | Echo
    KEEPS_ROLES: ClassVar = True

    me: SiteId
    given: tuple[SiteId, ...]
    """Who is active when a group starts, as far as they are members; empty: everybody."""
    issuer: Issuer
    merge: Merge[Content]
    flush: bool
    observations: Observations
    configuration: Configuration
    phase: Phase
    sequencer: Descriptor
    """Who orders for this site while it is passive."""
    desired: SiteId
    """While the sequencer changes: who is to be the next."""
    tenure_us: int = TENURE_US
    assigned: dict[MessageId, Descriptor | None] = {}
    """Who is to order what has been received and has no ticket of this site."""
    undelivered: list[MessageId] = []
    """What this site has assigned to its sequencer, in order, and not delivered: ]l, c] of the papers."""
    unassigned: list[MessageId] = []
    """What it has multicast since it began to switch."""
    attempts: int = 0
    must_stay: bool = False
    """Whether this site has tried to go passive as the last active one, in this configuration."""
    ending: bool = False
    """Whether no more traffic is coming: roles stay as they are."""
    settled_us: int = 0
    """When its role or sequencer changed last."""

    def handle(self, event: Event, now: Now, out: Out) -> None:
        match event:
            case FromBelow(sender=sender, message=message):
                self.on_receive(sender, message, now, out)
            case FromAbove(message=Bundle() as bundle):
                self.send(bundle, now, out)
            case TimerFired(key="consider"):
                out.set_timer("consider", CONSIDER_US)
                deciding.consider(self, now, out)
            case Flush():
                self.flush = self.ending = True
                out.cancel("consider")
                if self.is_active:
                    self.answer(self.issuer.clock.value, out)
            case ViewClosed(survivors=survivors):
                self.close(survivors, now, out)
            case ViewInstalled():
                self.begin_view(event, now, out)
            case FromAbove() | TimerFired() | Started():
                raise AssertionError(f"not for the dynamic hybrid protocol: {event}")
            case _:
                assert_never(event)

    @property
    def is_active(self) -> bool:
        """Whether others wait for this site's tickets, by the configuration delivered."""
        return self.me in self.configuration.actives

    @property
    def estimates(self) -> Estimates:
        clock = self.issuer.clock
        assert isinstance(clock, RateSynchronisedClock)
        return clock.estimates

    # --- views (section 6.1, and "View changes" in 6.3) ---

    def begin_view(self, installed: ViewInstalled, now: Now, out: Out) -> None:
        """The roles are those of the order; in a group that starts, those given, or everybody is active."""
        members, was_active = installed.view.members, self.is_active
        actives = installed.actives or Configuration.at_start(self.given, members)
        self.configuration = Configuration.of(members, actives)
        self.merge = Merge.of(self.me, actives)
        self.issuer.begin_view(actives)
        for left in (self.assigned, self.undelivered, self.unassigned):
            left.clear()
        self.must_stay = False
        self.settled_us = now.monotonic_us
        self.observations.begin_view(members, now.monotonic_us)
        self.phase = "active" if self.is_active else "passive"
        if not self.is_active:
            self.sequencer = self.closest_active()
        elif not was_active:
            self.note("took over", "no active site is left, and this one has the highest id", out)
        if not self.ending:
            out.set_timer("consider", CONSIDER_US)
        out.install(installed.view)

    def close(self, survivors: tuple[SiteId, ...], now: Now, out: Out) -> None:
        self.phase = "closing"
        self.merge.seal(survivors)
        self.release(now, out)
        for content in self.merge.close():
            self.deliver(content, self.issuer.clock.value, now, out)

    # --- steady state (section 6.2) ---

    def send(self, content: Content, now: Now, out: Out) -> None:
        sequencer: Descriptor | None = None
        ticket = self.issuer.clock.value
        issued: tuple[Issued, ...] = ()
        if self.phase == "active":
            sequencer = self.configuration.descriptor(self.me)
            ticket = self.issuer.clock.next_for_own()
            out.record(Note("ticket", content.id, ticket))
            issued = self.take_unsent()
        elif self.phase == "passive":
            sequencer = self.sequencer
            self.undelivered.append(content.id)
        else:
            self.unassigned.append(content.id)
        probe = self.issuer.clock.wants_probe(now.monotonic_us)
        out.multicast(Envelope(content, sequencer, ticket, issued, now.monotonic_us, probe))

    def on_receive(
        self, sender: SiteId, message: Envelope | Tickets | Reassign | Probe | Echo, now: Now, out: Out
    ) -> None:
        match message:
            case Envelope():
                self.issuer.clock.heard(sender, message.ticket, message.sent_us, now.monotonic_us)
                self.on_envelope(sender, message, now, out)
                if message.probe and sender != self.me:
                    out.send(sender, Echo(message.sent_us, self.observations.own_row(self.estimates)))
            case Tickets():
                self.issuer.clock.observe(message.ticket)
                self.on_tickets(sender, message, now, out)
            case Reassign():
                self.issuer.clock.observe(message.ticket)
                self.on_reassign(message, out)
            case Probe():
                if sender != self.me:
                    out.send(sender, Echo(message.sent_us, self.observations.own_row(self.estimates)))
            case Echo():
                self.issuer.clock.echoed(sender, now.monotonic_us - message.sent_us)
                self.observations.on_row(sender, message.delays_us)
            case _:
                assert_never(message)

    def on_envelope(self, sender: SiteId, envelope: Envelope, now: Now, out: Out) -> None:
        content, sequencer = envelope.content, envelope.sequencer
        if sequencer is not None and sequencer.site == sender:
            self.merge.put(envelope.ticket, sender, content.id, content)
            self.on_tickets(sender, envelope, now, out)
            return
        self.merge.hold(content.id, content, envelope.ticket)
        self.assigned[content.id] = sequencer
        if sequencer is not None and sequencer.site == self.me:
            self.issue_for((content.id,), out)
        self.release(now, out)  # its ticket may be here: another may have ordered it, if it was reassigned

    def issue_for(self, messages: tuple[MessageId, ...], out: Out) -> None:
        """Issue tickets for those of the messages that are assigned to this site in its present role."""
        if self.phase != "active":
            return
        descriptor = self.configuration.descriptor(self.me)
        for id in messages:
            if self.assigned.get(id) == descriptor:
                del self.assigned[id]
                out.record(Note("ticket", id, self.issuer.issue_for(id)))
        self.merge.barrier = self.issuer.barrier()
        if self.flush and self.issuer.unsent:
            self.send_tickets(out)

    def on_tickets(self, sender: SiteId, carrier: Envelope | Tickets, now: Now, out: Out) -> None:
        for ticket, message in carrier.issued:
            self.merge.add(ticket, sender, message)
        self.merge.raise_horizon(sender, carrier.ticket)
        if sender == self.me:
            self.issuer.came_back()
            self.merge.barrier = self.issuer.barrier()
        elif self.flush and self.is_active and (carrier.issued or isinstance(carrier, Envelope)):
            self.answer(carrier.ticket, out)
        self.release(now, out)

    def answer(self, ticket: Ticket, out: Out) -> None:
        """`flush`: keep nobody waiting who holds a message with this ticket, or waits for one of ours."""
        if self.issuer.unsent or ticket > self.issuer.announced:
            self.send_tickets(out)

    def send_tickets(self, out: Out) -> None:
        issued = self.take_unsent()
        out.multicast(Tickets(self.issuer.clock.value, issued))

    def take_unsent(self) -> tuple[Issued, ...]:
        issued = self.issuer.take_unsent()
        self.merge.barrier = self.issuer.barrier()
        return issued

    # --- delivery ---

    def release(self, now: Now, out: Out) -> None:
        """One at a time: a switch that is delivered changes what may be released next."""
        while self.merge.tickets:
            ticket = self.merge.tickets[0][0]
            content = self.merge.release()
            if content is None:
                return
            self.deliver(content, ticket, now, out)

    def deliver(self, content: Content, ticket: Ticket, now: Now, out: Out) -> None:
        self.assigned.pop(content.id, None)
        if self.undelivered and self.undelivered[0] == content.id:
            del self.undelivered[0]
        if isinstance(content, Bundle):
            out.deliver(content.origin, content)
            if self.phase == "changing-sequencer" and not self.undelivered:
                deciding.change_sequencer(self, now, out)
        elif content.active:
            self.on_active(content, ticket, now, out)
        elif self.configuration.is_last_active(content.site):
            self.on_aborted(content, now, out)
        else:
            self.on_passive(content, now, out)

    # --- switches (sections 6.3 to 6.6) ---

    def on_active(self, going: Going, ticket: Ticket, now: Now, out: Out) -> None:
        """goingToActive is delivered: the site issues tickets, all above that of its switch."""
        self.merge.raise_horizon(going.site, ticket)
        self.on_switched(going, out)
        if going.site == self.me and self.phase != "closing":
            assert not self.undelivered, "what this site sent before it switched was ordered before"
            self.be_active(now, out)

    def on_passive(self, going: Going, now: Now, out: Out) -> None:
        """goingToPassive is delivered: whoever had the site for a sequencer finds another."""
        self.on_switched(going, out)
        if self.phase == "closing":
            return
        if going.site == self.me:
            self.be_passive(self.closest_active(), now, out)
        elif not self.is_active and self.sequencer.site == going.site:
            self.reassign(now, out)

    def on_aborted(self, going: Going, now: Now, out: Out) -> None:
        """At least one site must be active: the last one stays."""
        if going.site == self.me and self.phase != "closing":
            out.record(Note("role", detail="aborted: no other site is active"))
            self.must_stay = True
            self.be_active(now, out)

    def on_switched(self, going: Going, out: Out) -> None:
        """A new configuration, at the same place of the order at every member."""
        self.configuration.switch(going.site, going.active)
        self.must_stay = False
        self.merge.set_issuers(self.configuration.actives)
        self.issuer.clock.set_issuers(self.configuration.actives)
        out.deliver(going.site, RoleChange(going.site, going.active))

    def reassign(self, now: Now, out: Out) -> None:
        """The sequencer is active no more: what it has left without a ticket goes to another."""
        self.sequencer = self.closest_active()
        if self.undelivered:
            self.note("reassigned", f"{len(self.undelivered)} messages to {self.sequencer.site}", out)
            out.multicast(Reassign(tuple(self.undelivered), self.sequencer, self.issuer.clock.value))
        if self.phase == "changing-sequencer":
            self.be_passive(self.sequencer, now, out)

    def on_reassign(self, reassign: Reassign, out: Out) -> None:
        for id in reassign.messages:
            if id in self.assigned:
                self.assigned[id] = reassign.sequencer
        if reassign.sequencer.site == self.me:
            self.issue_for(reassign.messages, out)

    def be_active(self, now: Now, out: Out) -> None:
        """Order what has been waiting for this site, what it has sent meanwhile included."""
        self.phase, self.settled_us = "active", now.monotonic_us
        self.assigned.update(dict.fromkeys(self.unassigned, self.configuration.descriptor(self.me)))
        self.unassigned.clear()
        self.issue_for(tuple(sorted(self.assigned, key=place_among_senders)), out)
        if self.flush:
            self.answer(self.issuer.clock.value, out)

    def be_passive(self, sequencer: Descriptor, now: Now, out: Out) -> None:
        """Have the sequencer order what this site has sent meanwhile."""
        self.phase, self.settled_us, self.sequencer = "passive", now.monotonic_us, sequencer
        if self.unassigned:
            out.multicast(Reassign(tuple(self.unassigned), sequencer, self.issuer.clock.value))
        self.undelivered += self.unassigned
        self.unassigned.clear()

    def closest_active(self) -> Descriptor:
        return self.configuration.descriptor(self.observations.closest(self.configuration.actives, self.estimates))

    def note(self, what: str, why: str, out: Out) -> None:
        out.record(Note("role", detail=f"{what}: {why}"))

    def waiting_for(self) -> Waiting | None:
        return self.merge.waiting_for()


def build(setup: Setup) -> DynamicHybrid:
    """Options: `active`, who is active in a group that starts; `policy`, by which sites decide on their roles.

    Decisions need a detector that tells a shift from noise: the papers' sees shifts in Poisson sources all the time.
    """
    setup = replace(setup, options={"detector": "cusum", **setup.options})
    actives = (given := setup.options.get("active", ())) or setup.members
    configuration = Configuration.of(setup.members, actives)
    return DynamicHybrid(
        me=setup.me,
        given=given,
        issuer=Issuer(setup.me, setup.rate_synchronised_clock(actives)),
        merge=Merge.of(setup.me, actives),
        flush=setup.flush,
        observations=Observations.of(setup),
        configuration=configuration,
        phase="active" if setup.me in actives else "passive",
        sequencer=configuration.descriptor(closest(setup.me, actives, setup.network.delays_us)),
        desired=setup.me,
    )
