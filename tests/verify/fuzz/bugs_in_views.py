"""Mistakes one could make in the membership."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import msgspec

from ordercast.core.effects import Out
from ordercast.core.events import FromAbove, Now
from ordercast.core.ids import SiteId, ViewId
from ordercast.core.views import View
from ordercast.protocols.links.frames import Unreliable
from ordercast.protocols.membership import choice, coordination, succession
from ordercast.protocols.membership.messages import Accept, Ballot, Close, Cut, Decided, Direct, Floor, Successor
from ordercast.protocols.membership.traffic import Traffic
from ordercast.protocols.membership.view_synchrony import ViewSynchrony
from tests.verify.fuzz.patches import Patch, both

Local = ViewSynchrony[Any]


def promise_is_not_kept() -> Patch:
    promise = succession.promise

    def broken(local: Local, ballot: Ballot, now: Now, out: Out) -> None:
        with patch.object(ViewSynchrony, "save"):
            promise(local, ballot, now, out)

    return patch.object(succession, "promise", broken)


def lower_ballot_is_accepted() -> Patch:
    def broken(local: Local, sender: SiteId, accept: Accept, now: Now, out: Out) -> None:
        succession.promise(local, accept.ballot, now, out)
        local.closing = (accept.ballot, accept.successor)
        succession.complete(local, now, out)

    return patch.object(succession, "on_accept", broken)


def accepted_successor_is_ignored_by_the_next_coordinator() -> Patch:
    choose = choice.choose

    def broken(view: View, promises: choice.Promises, joiners: Any, leaving: tuple[SiteId, ...]) -> Successor:
        ignorant = {site: msgspec.structs.replace(each, accepted=None) for site, each in promises.items()}
        return choose(view, ignorant, joiners, leaving)

    return patch.object(coordination, "choose", broken)


def cut_is_what_all_have() -> Patch:
    def broken(view: View, running: choice.Promises) -> tuple[Cut, ...]:
        cuts = []
        for place, sender in enumerate(view.members):
            count, holder = min(((p.held[place], site) for site, p in running.items()), default=(0, SiteId(0)))
            cuts.append(Cut(sender, count, holder))
        return tuple(cuts)

    return patch.object(choice, "_cuts", broken)


def view_is_closed_without_what_is_missing() -> Patch:
    def nothing_missing(self: Traffic[Any], cuts: tuple[Cut, ...]) -> list[Cut]:
        return []

    close = succession.close

    def closes(local: Local, successor: Successor, out: Out) -> None:
        for cut in successor.cuts:
            sender = local.traffic.senders[cut.sender]
            for number in range(sender.handed + 1, min(cut.count, sender.held) + 1):
                out.deliver(cut.sender, sender.kept[number])
            sender.handed = sender.held
        local.phase, local.closed_with = "closed", successor
        out.deliver(local.me, Close(successor))

    assert close is not closes
    return both(patch.object(Traffic, "missing", nothing_missing), patch.object(succession, "close", closes))


def standing_counts_though_the_view_is_being_closed() -> Patch:
    handle, on_direct = ViewSynchrony.handle, ViewSynchrony.on_direct

    def sends(self: Local, event: Any, now: Now, out: Out) -> None:
        if isinstance(event, FromAbove) and isinstance(event.to, int) and self.running:
            out.send(event.to, Direct(self.view.id, event.message))
        else:
            handle(self, event, now, out)

    def takes(self: Local, sender: SiteId, direct: Direct[Any], out: Out) -> None:
        if direct.view == self.view.id and self.running:
            out.deliver(sender, direct.payload)
        else:
            on_direct(self, sender, direct, out)

    return both(patch.object(ViewSynchrony, "handle", sends), patch.object(ViewSynchrony, "on_direct", takes))


def stable_as_soon_as_one_other_has_it() -> Patch:
    def broken(self: Traffic[Any], member: SiteId, handed: tuple[int, ...]) -> None:
        self.reported[member] = handed
        for sender, *others in zip(self.senders.values(), *self.reported.values(), strict=True):
            stable = min(sender.handed, max(others))
            if stable > sender.stable:
                sender.release(stable)

    return patch.object(Traffic, "report", broken)


def minority_decides() -> Patch:
    def always(self: View, sites: tuple[SiteId, ...]) -> bool:
        return bool(sites)

    return patch.object(View, "is_quorum", always)


def half_is_a_quorum_whichever_half_it_is() -> Patch:
    def broken(self: View, sites: tuple[SiteId, ...]) -> bool:
        return 2 * sum(1 for member in self.members if member in sites) >= len(self.members)

    return patch.object(View, "is_quorum", broken)


def decided_once_the_coordinator_agrees() -> Patch:
    def broken(local: Local, now: Now, out: Out) -> None:
        proposal = local.proposal
        if proposal is None or proposal.successor is None or local.me not in proposal.accepted:
            return
        decided = Decided(local.view.id, proposal.successor)
        for site in local.configured:
            if site != local.me:
                out.send(site, Unreliable(decided))
        succession.on_decided(local, decided, now, out)

    return patch.object(coordination, "try_to_decide", broken)


def longer_log_of_a_restarted_member_is_ignored() -> Patch:
    def broken(promises: choice.Promises, staying: list[SiteId]) -> Floor | None:
        if any(choice.can_order(promises[site]) for site in staying):
            return None
        shortest = min((promises[site] for site in staying if promises[site].aligned), key=lambda each: each.ordered)
        return choice.log_of(shortest)

    return patch.object(choice, "_floor", broken)


def restarted_member_counts_as_aligned() -> Patch:
    def broken(promises: choice.Promises, staying: list[SiteId], floor: Any) -> tuple[SiteId, ...]:
        return tuple(site for site in staying if promises[site].aligned)

    return patch.object(choice, "_aligned", broken)


def cast_of_the_old_view_is_taken_in_the_new_one() -> Patch:
    on_cast = ViewSynchrony.on_cast

    def broken(self: Local, sender: SiteId, cast: Any, out: Out) -> None:
        if self.running and cast.view < self.view.id:
            cast = msgspec.structs.replace(cast, view=self.view.id)
        on_cast(self, sender, cast, out)

    return patch.object(ViewSynchrony, "on_cast", broken)


def messages_of_the_old_view_are_thrown_away_at_once() -> Patch:
    def broken(self: Local, view: ViewId) -> Traffic[Any] | None:
        return self.traffic if self.running and view == self.view.id else None

    return patch.object(ViewSynchrony, "traffic_of", broken)


def messages_of_the_next_view_are_thrown_away() -> Patch:
    def broken(self: Local, sender: SiteId, cast: Any, out: Out) -> None:
        if cast.view == self.view.id:
            on_cast(self, sender, cast, out)

    on_cast = ViewSynchrony.on_cast
    return patch.object(ViewSynchrony, "on_cast", broken)
