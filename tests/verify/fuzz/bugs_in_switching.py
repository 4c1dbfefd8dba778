"""Mistakes one could make in switching roles: those that Figure 5 makes or leaves room for, and others."""

from __future__ import annotations

from unittest.mock import patch

from msgspec.structs import replace

from ordercast.core.effects import Out
from ordercast.core.events import Now, ViewInstalled
from ordercast.core.ids import MessageId
from ordercast.protocols.ordering import deciding
from ordercast.protocols.ordering.configuration import Configuration, Going, Reassign
from ordercast.protocols.ordering.dynamic_hybrid import DynamicHybrid
from tests.verify.fuzz.patches import Patch


def last_active_goes_passive() -> Patch:
    """Two that leave at once would leave nobody."""

    def broken(self: Configuration, site: object) -> bool:
        return False

    return patch.object(Configuration, "is_last_active", broken)


def aborted_switch_counts_as_one() -> Patch:
    """Finding 22: what was assigned to the site meanwhile names a role that it does not have any more."""
    on_aborted = DynamicHybrid.on_aborted

    def broken(self: DynamicHybrid, going: Going, now: Now, out: Out) -> None:
        self.configuration.numbers[going.site] += 1
        on_aborted(self, going, now, out)

    return patch.object(DynamicHybrid, "on_aborted", broken)


def tries_are_numbered_like_roles() -> Patch:
    """Finding 23: the second try of a site that had to stay looks like the first."""
    go = deciding.go

    def broken(local: DynamicHybrid, active: bool, why: str, now: Now, out: Out) -> None:
        local.attempts = local.configuration.numbers[local.me]
        go(local, active, why, now, out)

    return patch.object(deciding, "go", broken)


def all_that_can_be_released_is_released_before_a_switch_takes_effect() -> Patch:
    """Finding 20: what comes after goingToActive may have to wait for tickets of the new active site."""

    def broken(self: DynamicHybrid, now: Now, out: Out) -> None:
        released = []
        while self.merge.tickets:
            ticket = self.merge.tickets[0][0]
            content = self.merge.release()
            if content is None:
                break
            released.append((content, ticket))
        for content, ticket in released:
            self.deliver(content, ticket, now, out)

    return patch.object(DynamicHybrid, "release", broken)


def passive_site_reassigns_whoever_leaves() -> Patch:
    """Finding 21: its own sequencer may have tickets under way for the same messages."""

    def broken(self: DynamicHybrid, going: Going, now: Now, out: Out) -> None:
        self.on_switched(going, out)
        if self.phase == "closing":
            return
        if going.site == self.me:
            self.be_passive(self.closest_active(), now, out)
        elif not self.is_active:
            self.reassign(now, out)

    return patch.object(DynamicHybrid, "on_passive", broken)


def site_orders_for_any_role_of_its_own() -> Patch:
    """Also for the one that it has given up: what it was assigned then may have been reassigned to another."""

    def broken(self: DynamicHybrid, messages: tuple[MessageId, ...], out: Out) -> None:
        mine = self.configuration.descriptor(self.me)
        for id, descriptor in list(self.assigned.items()):
            if descriptor is not None and descriptor.site == self.me:
                self.assigned[id] = mine
        issue_for(self, messages, out)

    issue_for = DynamicHybrid.issue_for
    return patch.object(DynamicHybrid, "issue_for", broken)


def reassigned_message_gets_a_second_ticket() -> Patch:
    """Whether it has one is not looked up."""

    def broken(self: DynamicHybrid, reassign: Reassign, out: Out) -> None:
        self.assigned.update(dict.fromkeys(reassign.messages, reassign.sequencer))
        if reassign.sequencer.site == self.me:
            self.issue_for(reassign.messages, out)

    return patch.object(DynamicHybrid, "on_reassign", broken)


def view_begins_with_the_roles_that_a_site_remembers() -> Patch:
    """A switch that was ordered while the view was being closed may be missing from them."""
    begin_view = DynamicHybrid.begin_view

    def broken(self: DynamicHybrid, installed: ViewInstalled, now: Now, out: Out) -> None:
        remembered = tuple(site for site in self.configuration.actives if site in installed.view.members)
        begin_view(self, replace(installed, actives=remembered), now, out)

    return patch.object(DynamicHybrid, "begin_view", broken)


def what_was_sent_during_a_switch_is_left_to_nobody() -> Patch:
    """Once active, a site orders what it sends; what it sent before names no sequencer."""

    def broken(self: DynamicHybrid, now: Now, out: Out) -> None:
        self.unassigned.clear()
        be_active(self, now, out)

    be_active = DynamicHybrid.be_active
    return patch.object(DynamicHybrid, "be_active", broken)


def leaving_site_goes_on_ordering() -> Patch:
    """It stops only when its switch is delivered: tickets that come behind it are waited for by nobody."""
    issue_for = DynamicHybrid.issue_for

    def broken(self: DynamicHybrid, messages: tuple[MessageId, ...], out: Out) -> None:
        if self.phase != "to-passive":
            issue_for(self, messages, out)
            return
        self.phase = "active"
        issue_for(self, messages, out)
        self.phase = "to-passive"

    return patch.object(DynamicHybrid, "issue_for", broken)
