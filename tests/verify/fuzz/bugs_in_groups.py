"""Mistakes one could make in the site group: positions, levels, finality, alignment."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

from ordercast.core.deliveries import Retracted, Truncated
from ordercast.core.effects import Note, Out
from ordercast.core.entries import Entry
from ordercast.core.events import Now
from ordercast.core.messages import Bundle
from ordercast.core.views import View
from ordercast.protocols.groups import alignment, showing, taken_back
from ordercast.protocols.groups.causal import Causal
from ordercast.protocols.groups.finality import Finality
from ordercast.protocols.groups.log import Base, Log, Sessions
from ordercast.protocols.groups.site_group import SiteGroup
from ordercast.protocols.groups.taken_back import TakenBack
from ordercast.protocols.ordering.merge import Merge
from tests.verify.fuzz.patches import Patch

Group = SiteGroup[Any]


def rest_of_a_view_in_order_of_receipt() -> Patch:
    def broken(self: Merge[Any]) -> list[Any]:
        ticketed = [self.held.pop(id) for _, _, id in self.tickets if id in self.held]
        left = ticketed + list(self.held.values())
        self.tickets.clear()
        self.held.clear()
        self.clocks.clear()
        return left

    return patch.object(Merge, "close", broken)


def final_with_less_than_a_majority() -> Patch:
    def broken(cls: type[Finality], view: View, resilience: int) -> Finality:
        size = len(view.members)
        enough = max(1, size // 2)
        return cls(dict.fromkeys(view.members, 0), enough, min(size, max(resilience + 1, enough)))

    return patch.object(Finality, "of", classmethod(broken))


def safe_with_as_many_as_may_fail() -> Patch:
    def broken(cls: type[Finality], view: View, resilience: int) -> Finality:
        size = len(view.members)
        majority = size // 2 + 1
        return cls(dict.fromkeys(view.members, 0), majority, min(size, max(resilience, majority)))

    return patch.object(Finality, "of", classmethod(broken))


def safe_is_delivered_at_once() -> Patch:
    def broken(group: Group, entry: Entry, out: Out) -> None:
        showing.deliver(group, entry, out)

    return patch.object(showing, "show", broken)


def retract_leaves_one_entry() -> Patch:
    def broken(group: Group, position: int, out: Out) -> None:
        group.log.truncate(position)
        out.record(Note("retract", position=position))
        out.deliver(group.me, Truncated(position + 1))
        out.deliver(group.me, Retracted(position + 1))

    return patch.object(alignment, "retract", broken)


def participants_are_not_told_of_a_retraction() -> Patch:
    def broken(group: Group, position: int, out: Out) -> None:
        for entry in group.log.slice(position, group.log.length):
            if isinstance(entry.content, Bundle) and alignment.is_mine(group, entry.content):
                group.outstanding[entry.content.id] = entry.content
        group.log.truncate(position)
        out.deliver(group.me, Truncated(position))

    return patch.object(alignment, "retract", broken)


def retracted_bundles_are_not_outstanding_again() -> Patch:
    def broken(group: Group, position: int, out: Out) -> None:
        group.log.truncate(position)
        group.cautious = [entry for entry in group.cautious if entry.position < position]
        out.deliver(group.me, Truncated(position))
        out.deliver(group.me, Retracted(position))

    return patch.object(alignment, "retract", broken)


def answers_do_not_wait_for_what_is_retracted() -> Patch:
    def never(self: TakenBack, bundle: Bundle) -> bool:
        return False

    return patch.object(TakenBack, "hold", never)


def answers_to_what_is_retracted_wait_until_the_view_changes() -> Patch:
    def never(group: Group, now: Now, out: Out) -> None:
        pass

    return patch.object(taken_back, "release", never)


def sessions_are_not_taken_over() -> Patch:
    align = alignment.align

    def broken(group: Group, start: Base, sessions: Sessions, now: Now, out: Out) -> None:
        align(group, start, Sessions(), now, out)

    return patch.object(alignment, "align", broken)


def causal_past_is_not_checked() -> Patch:
    def always(self: Causal, past: tuple[int, ...]) -> bool:
        return True

    return patch.object(Causal, "is_ready", always)


def order_does_not_follow_what_causal_bundles_tell() -> Patch:
    def always(self: Causal, bundle: Bundle) -> bool:
        return True

    return patch.object(Causal, "follows_delivered", always)


def duplicates_get_a_second_position() -> Patch:
    is_new = Sessions.is_new

    def broken(self: Sessions, bundle: Bundle, ordered: bool) -> bool:
        return ordered or is_new(self, bundle, ordered)

    return patch.object(Sessions, "is_new", broken)


def unstable_bundles_are_forgotten() -> Patch:
    align = alignment.align

    def broken(group: Group, start: Base, sessions: Sessions, now: Now, out: Out) -> None:
        group.unstable.clear()
        align(group, start, sessions, now, out)

    return patch.object(alignment, "align", broken)


def log_with_a_hole_counts_for_finality() -> Patch:
    def broken(self: Group) -> int:
        self.told = self.log.length
        return self.told

    return patch.object(SiteGroup, "tell_length", broken)


def snapshot_comes_with_the_wrong_position() -> Patch:
    restart_at = Log.restart_at

    def broken(self: Log, base: Base, sessions: Sessions) -> None:
        restart_at(self, Base(base.position + 1, base.digest), sessions)

    return patch.object(Log, "restart_at", broken)


def outstanding_bundles_are_not_multicast_again() -> Patch:
    def broken(self: Group, taken: Sessions, now: Now, out: Out) -> None:
        self.outstanding.clear()

    return patch.object(SiteGroup, "submit_outstanding", broken)
