"""Mistakes one could make in switching roles: those that Figure 5 makes or leaves room for, and others."""

from __future__ import annotations

from unittest.mock import patch

from ordercast.core.effects import Out
from ordercast.core.events import Now
from ordercast.core.ids import MessageId
from ordercast.protocols.ordering.configuration import Configuration, Going
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


def site_that_has_gone_passive_is_waited_for() -> Patch:
    """Its goingToPassive is delivered, and the merge counts it among those who may issue a smaller ticket still."""
    on_switched = DynamicHybrid.on_switched

    def broken(self: DynamicHybrid, going: Going, out: Out) -> None:
        before = self.configuration.actives
        on_switched(self, going, out)
        if not going.active:
            self.merge.set_issuers(before)

    return patch.object(DynamicHybrid, "on_switched", broken)


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
