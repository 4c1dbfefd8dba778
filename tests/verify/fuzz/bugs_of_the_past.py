"""Mistakes that were made, planted again: what the fuzzer has found, see docs/findings.md.

Those that were among the mistakes one could make are in the other files: findings 5 and 6.
"""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import msgspec

from ordercast.core.deliveries import Finalized, Snapshot, SnapshotWanted
from ordercast.core.effects import Out
from ordercast.core.events import Now
from ordercast.core.ids import SiteId
from ordercast.core.messages import Bundle
from ordercast.core.views import View
from ordercast.protocols.groups import alignment, showing
from ordercast.protocols.groups.log import Base, Sessions
from ordercast.protocols.groups.messages import Beginning
from ordercast.protocols.groups.site_group import SiteGroup
from ordercast.protocols.groups.taken_back import TakenBack
from ordercast.protocols.links.reliable import Reliable
from ordercast.protocols.membership import choice, coordination, succession
from ordercast.protocols.membership.messages import Ballot, Successor
from ordercast.protocols.membership.traffic import Traffic
from ordercast.protocols.membership.view_synchrony import ViewSynchrony
from tests.verify.fuzz.patches import Patch, both

Group = SiteGroup[Any]
Local = ViewSynchrony[Any]


def ack_of_another_life_is_accepted() -> Patch:
    """Finding 7."""
    on_frame = Reliable.on_frame

    def broken(self: Reliable, sender: SiteId, frame: Any, now: Now, out: Out) -> None:
        if frame.ack is not None:
            ack = msgspec.structs.replace(frame.ack, incarnation=self.incarnation)
            frame = msgspec.structs.replace(frame, ack=ack)
        on_frame(self, sender, frame, now, out)

    return patch.object(Reliable, "on_frame", broken)


def view_is_decided_without_a_whole_log() -> Patch:
    """Finding 8."""

    def can_choose(view: View, promises: choice.Promises) -> bool:
        return view.is_quorum(tuple(promises))

    def holds_whole(local: Local, successor: Successor) -> bool:
        return True

    return both(
        patch.object(coordination, "can_choose", can_choose), patch.object(succession, "holds_whole", holds_whole)
    )


def what_was_received_counts_as_handed_up() -> Patch:
    """Finding 9."""
    return both(
        patch.object(Traffic, "handed", Traffic.held),
        patch.object(Traffic, "report", _report_of_what_is_held),
    )


def _report_of_what_is_held(self: Traffic[Any], member: SiteId, held: tuple[int, ...]) -> None:
    self.reported[member] = held
    if self.all_report():
        for sender, *others in zip(self.senders.values(), *self.reported.values(), strict=True):
            stable = min(sender.held, *others)
            if stable > sender.stable:
                sender.release(stable)


def nobody_sees_that_a_member_has_stopped() -> Patch:
    """Finding 15."""

    def never(local: Local, member: SiteId) -> bool:
        return False

    return patch.object(coordination, "has_stopped", never)


def view_is_closed_with_a_successor_of_a_ballot_that_is_over() -> Patch:
    """Finding 17."""
    promise = succession.promise

    def broken(local: Local, ballot: Ballot, now: Now, out: Out) -> None:
        closing = local.closing
        promise(local, ballot, now, out)
        local.closing = closing

    return patch.object(succession, "promise", broken)


def snapshot_waits_until_what_is_final_reaches_into_the_view() -> Patch:
    """Finding 16."""

    def broken(group: Group, asker: SiteId, out: Out) -> None:
        if group.log.final >= group.start_of_view.position:
            group.snapshot_for.append(asker)
            out.deliver(group.me, SnapshotWanted(group.log.final))

    return patch.object(alignment, "want_snapshot", broken)


def sessions_are_counted_from_the_start_of_the_view_though_the_log_is_not() -> Patch:
    """Found with finding 16."""

    def broken(group: Group, position: int) -> Sessions:
        sessions = group.sessions_at_start.copy()
        for entry in group.log.slice(group.start_of_view.position, position):
            if isinstance(entry.content, Bundle):
                sessions.take(entry.content, ordered=True)
        return sessions

    return patch.object(alignment, "sessions_at", broken)


def snapshot_makes_a_site_forget_what_it_has_delivered() -> Patch:
    """Found with finding 16."""

    def broken(group: Group, begin: Beginning, out: Out) -> None:
        if group.log.length > group.log.final:
            alignment.retract(group, group.log.final, out)
        group.cautious.clear()
        group.fetched.clear()
        snapshot: Snapshot = begin.snapshot
        group.log.restart_at(Base(snapshot.position, begin.digest), begin.sessions.copy())
        out.deliver(group.me, snapshot)

    return patch.object(alignment, "take_snapshot", broken)


def restarted_site_makes_its_own_log_final() -> Patch:
    """Finding 18."""

    def broken(self: Group, out: Out) -> None:
        below = min(self.finality.below(self.finality.majority), self.log.length)
        if below > self.log.final:
            self.log.finalize(below)
            out.deliver(self.me, Finalized(below))
        if self.cautious:
            showing.show_certain(self, out)

    return patch.object(SiteGroup, "finalize", broken)


def answers_do_not_wait_for_what_others_tell_first() -> Patch:
    """Finding 31, as it was done at first."""
    add = TakenBack.add

    def broken(self: TakenBack, others: list[tuple[int, Bundle]], start: int, final: int) -> None:
        heard = {each.bundle.id for each in self.voids}
        add(self, [(position, bundle) for position, bundle in others if bundle.id not in heard], start, final)

    return patch.object(TakenBack, "add", broken)
