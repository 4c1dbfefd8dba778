"""Mistakes one could make in switching roles, by somebody who had not read the checks."""

from __future__ import annotations

from unittest.mock import patch

from ordercast.core.effects import Note, Out
from ordercast.core.events import Now, ViewInstalled
from ordercast.core.ids import MessageId, Ticket
from ordercast.protocols.ordering.configuration import (
    Content,
    Descriptor,
    Envelope,
    Going,
    place_among_senders,
)
from ordercast.protocols.ordering.dynamic_hybrid import DynamicHybrid
from tests.verify.fuzz.patches import Patch


def tickets_are_forgotten_once_they_have_left() -> Patch:
    """As in Figure 5: whatever is pending, assigned to me and not among the tickets to send gets a ticket (again)."""

    def broken(self: DynamicHybrid, messages: tuple[MessageId, ...], out: Out) -> None:
        if self.phase != "active":
            return
        descriptor = self.configuration.descriptor(self.me)
        to_send = [id for _, id in self.issuer.unsent]
        for id in sorted(self.assigned, key=place_among_senders):
            if self.assigned[id] == descriptor and id not in to_send:
                out.record(Note("ticket", id, self.issuer.issue_for(id)))
        self.merge.barrier = self.issuer.barrier()
        if self.flush and self.issuer.unsent:
            self.send_tickets(out)

    return patch.object(DynamicHybrid, "issue_for", broken)


def new_active_is_expected_above_the_clock_of_whoever_delivers_its_switch() -> Patch:
    """It is bound to issue above the ticket of its switch only, and the clock here may be well beyond that."""
    on_active = DynamicHybrid.on_active

    def broken(self: DynamicHybrid, going: Going, ticket: Ticket, now: Now, out: Out) -> None:
        on_active(self, going, max(ticket, self.issuer.clock.value), now, out)

    return patch.object(DynamicHybrid, "on_active", broken)


def site_about_to_go_active_issues_for_what_it_sends() -> Patch:
    """It names itself, in the role to come, so its first tickets may be below that of its own switch."""
    send = DynamicHybrid.send

    def broken(self: DynamicHybrid, content: Content, now: Now, out: Out) -> None:
        if self.phase != "to-active":
            send(self, content, now, out)
            return
        present = self.configuration.descriptor(self.me)
        ticket = self.issuer.clock.next_for_own()
        out.record(Note("ticket", content.id, ticket))
        issued = self.take_unsent()
        to_come = Descriptor(self.me, present.number + 1)
        out.multicast(Envelope(content, to_come, ticket, issued, now.monotonic_us))

    return patch.object(DynamicHybrid, "send", broken)


def site_about_to_go_active_reassigns_nothing() -> Patch:
    """It is to order for itself soon; but its switch waits for a ticket of a sequencer that has gone passive."""
    reassign = DynamicHybrid.reassign

    def broken(self: DynamicHybrid, now: Now, out: Out) -> None:
        if self.phase != "to-active":
            reassign(self, now, out)

    return patch.object(DynamicHybrid, "reassign", broken)


def what_was_sent_while_switching_is_assigned_only_once() -> Patch:
    """It is not counted among what the sequencer has still to order, and stays behind when that goes passive."""
    be_passive = DynamicHybrid.be_passive

    def broken(self: DynamicHybrid, sequencer: Descriptor, now: Now, out: Out) -> None:
        counted = len(self.undelivered)
        be_passive(self, sequencer, now, out)
        del self.undelivered[counted:]

    return patch.object(DynamicHybrid, "be_passive", broken)


def role_numbers_go_on_in_the_next_view() -> Patch:
    """Members that stay count on, and a newcomer begins at zero: the roles that it names are never theirs."""
    begin_view = DynamicHybrid.begin_view

    def broken(self: DynamicHybrid, installed: ViewInstalled, now: Now, out: Out) -> None:
        known = self.configuration.numbers
        begin_view(self, installed, now, out)
        self.configuration.numbers.update({site: known.get(site, 0) for site in installed.view.members})
        if not self.is_active:
            self.sequencer = self.closest_active()

    return patch.object(DynamicHybrid, "begin_view", broken)
