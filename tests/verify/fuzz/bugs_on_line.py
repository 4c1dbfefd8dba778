"""Mistakes one could make in what live sites add: sessions, participants' groups, history, changes of the ordering."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

from ordercast.core.effects import Out
from ordercast.core.entries import Entry
from ordercast.core.events import Event, Now
from ordercast.core.ids import SiteId
from ordercast.core.messages import Bundle, Level
from ordercast.core.plans import Plan
from ordercast.core.views import View
from ordercast.protocols.groups import alignment, plans
from ordercast.protocols.groups.authors import Authors, with_void
from ordercast.protocols.groups.log import Base, Log, Roles, Sessions
from ordercast.protocols.groups.members import Change, Members
from ordercast.protocols.groups.ordering_out import OrderingOut
from ordercast.protocols.groups.plans import Retired
from ordercast.protocols.groups.site_group import SiteGroup
from tests.verify.fuzz.patches import Patch

Group = SiteGroup[Any]

# --- changes of the ordering ---


def messages_of_the_old_plan_still_count() -> Patch:
    def broken(self: OrderingOut, sender: SiteId, message: Any) -> None:
        self._group.on_ordered(message, self._out)

    return patch.object(OrderingOut, "deliver", broken)


def outstanding_bundles_are_not_multicast_again_under_the_new_plan() -> Patch:
    def broken(group: Group, now: Now, out: Out) -> None:
        pass

    return patch.object(plans, "submit_again", broken)


def early_messages_of_a_later_plan_are_dropped() -> Patch:
    receive = plans.receive

    def broken(group: Group, sender: SiteId, number: int, message: Any, now: Now, out: Out) -> None:
        if number <= group.plan.number:
            receive(group, sender, number, message, now, out)

    return patch.object(plans, "receive", broken)


def member_that_comes_back_begins_with_the_old_plan() -> Patch:
    use = plans.use

    def broken(group: Group, plan: Plan) -> None:
        if group.retired:
            use(group, plan)

    return patch.object(plans, "use", broken)


def old_protocol_ends_where_the_change_comes_up() -> Patch:
    def broken(group: Group, retired: Retired, event: Event, now: Now, out: Out) -> None:
        pass

    return patch.object(plans, "handle_retired", broken)


def what_follows_what_is_worked_out_anew_under_the_new_plan() -> Patch:
    def broken(group: Group, now: Now, out: Out) -> None:
        for _, bundle in sorted(group.outstanding.items()):
            if bundle.level >= Level.AGREED and group.log.sessions.is_new(bundle, ordered=True):
                group.submit(bundle, now, out)

    return patch.object(plans, "submit_again", broken)


def snapshot_comes_without_the_plan() -> Patch:
    restart_at = Log.restart_at

    def broken(self: Log, base: Base, sessions: Sessions) -> None:
        roles = Roles(base.roles.members, base.roles.actives)
        restart_at(self, Base(base.position, base.digest, roles), sessions)

    return patch.object(Log, "restart_at", broken)


# --- sessions ---


def what_is_multicast_again_comes_up_again() -> Patch:
    def broken(self: Authors, bundle: Bundle, position: int) -> Bundle:
        return bundle

    return patch.object(Authors, "admit", broken)


def one_body_that_came_up_before_makes_all_void() -> Patch:
    admit = Authors.admit

    def broken(self: Authors, bundle: Bundle, position: int) -> Bundle:
        admitted = admit(self, bundle, position)
        return with_void(bundle, tuple(range(len(bundle.bodies)))) if admitted.void else admitted

    return patch.object(Authors, "admit", broken)


def sessions_of_participants_are_not_taken_over() -> Patch:
    def broken(self: Sessions) -> Sessions:
        return Sessions(dict(self.ordered), dict(self.unordered))

    return patch.object(Sessions, "copy", broken)


# --- participants' groups ---


def members_stay_when_their_site_leaves_the_view() -> Patch:
    def broken(self: Members, view: View) -> tuple[Change, ...]:
        return ()

    return patch.object(Members, "_enter", broken)


# --- history ---


def history_is_taken_without_a_look_at_what_is_there() -> Patch:
    def broken(mine: list[Entry], theirs: list[Entry]) -> int | None:
        return None

    return patch.object(alignment, "first_difference", broken)
