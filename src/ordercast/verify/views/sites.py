"""The sites of a live group in the explorer: groups over view synchrony, as they ship, with a disk under each.

**Time** stands still but for *ticks*, of which each site has a few. At a tick so much time has passed that every
time-out of the membership is over; the sites that are *silent* have not been heard in that time, and are suspected
now, rightly or not; of the others heartbeats have come that brought no news. Which sites can be silent is for the
scope to say, and every choice is tried. So any site can suspect any other at any time, which is all that a suspector
does for the membership: its levels, measured round trips and time stamps only say when. Heartbeats therefore carry no
echo here, lest round trips be measured that mean nothing.

**What is under way** is in `channels`. **A crash** may lose all that is under way from the site, or nothing: what
lies between is reached by what arrives before. A new life begins with what is on the disk. The effects of one event
are not torn apart by a crash.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from ordercast.core.canonical import freeze, thaw
from ordercast.core.effects import Effects
from ordercast.core.events import Event, FromAbove, FromBelow, Now, Started, TimerFired, TimerKey
from ordercast.core.ids import SiteId, pack_message_id
from ordercast.core.layer import Layer
from ordercast.core.messages import Bundle, Level
from ordercast.core.stack import Stack
from ordercast.core.wire import Wire
from ordercast.protocols.full import Life, upper_layers
from ordercast.protocols.groups.building import Recovered
from ordercast.protocols.membership.messages import (
    Accept,
    Accepted,
    Cast,
    Decided,
    Direct,
    Prepare,
    Promise,
    Refuse,
    Supply,
    Want,
)
from ordercast.protocols.membership.view_synchrony import ViewSynchrony
from ordercast.verify.reactions import Reaction, Reactions, Step
from ordercast.verify.views.effects import Performed
from ordercast.verify.views.events import (
    Allows,
    AnyEvent,
    Arrives,
    Boots,
    ComesUp,
    Crashes,
    Drops,
    Fires,
    GoesDown,
    HostEvent,
    Multicasts,
    Restarts,
    Ticks,
    Vanishes,
)
from ordercast.verify.views.happenings import Broke, Crashed, Given, Revived
from ordercast.verify.views.states import Budget, SiteState

TICK_US = 20_000_000
"""Longer than any time-out of the membership when no round trip has been measured."""

CONSIDER: TimerKey = (0, ("ordering", 0, "consider"))
"""A site considers its role, under the ordering protocol that the group began with: a script says when."""

NEVER_BY_THEMSELVES: tuple[TimerKey, ...] = ((1, "tick"), (0, "standing"), CONSIDER)
"""Timers that come round for ever. A tick has a move of its own; *standing* repeats what `tell` tells."""


class Rules(Struct, frozen=True, kw_only=True):
    """What a scope allows its sites."""

    silences: tuple[tuple[tuple[SiteId, ...], ...], ...]
    """By site: which sites can be silent together."""
    accurate: bool
    """Whether only sites that are down fall silent."""
    heartbeats: bool
    """Whether heartbeats are explored, too."""
    level: Level
    resilience: int


class LiveSites(Reactions[SiteState, AnyEvent]):
    """The sites of one scope."""

    def __init__(
        self,
        orderings: Callable[[], Sequence[Layer]],
        rules: Rules,
        watch: Callable[[Step], None],
    ) -> None:
        """`orderings` gives each site's ordering protocol, new for each life."""
        super().__init__(watch)
        self._orderings = orderings
        self._rules = rules
        self._members = tuple(SiteId(site) for site in range(len(rules.silences)))
        self._like = [self._boot(SiteState(site)) for site in self._members]
        self._newest_view: dict[int, int] = {}
        self.wire = Wire(self._like[0].WIRE)

    def first_state(self, site: SiteId) -> SiteState:
        return SiteState(site)

    def is_up(self, state: int) -> bool:
        """Whether the site is running."""
        return self.states[state].frozen is not None

    def newest_view(self, state: int) -> int:
        """The newest view that a site that is up has installed, or that it knows to be without it."""
        if state not in self._newest_view:
            views = self._thaw(self.states[state]).layers[1]
            assert isinstance(views, ViewSynchrony)
            lacks_it = views.newest is not None and views.outside
            self._newest_view[state] = views.newest.id if views.newest and lacks_it else views.view.id
        return self._newest_view[state]

    def is_void(self, state: int, arrival: int) -> bool:
        """What is about a view that is over, or answers a question that is settled, if it changes nothing now. (It
        could still show, later, that a suspected sender lives. As any message it may as well be lost.)"""
        if not self.is_up(state):
            return False
        with self.unseen():
            reaction = self.react(state, arrival)
        if (reaction.after, reaction.sends, reaction.happenings) != (state, (), ()):
            return False
        event = self.events[arrival]
        assert isinstance(event, Arrives | Drops)
        return is_settled(self._thaw(self.states[state]), event.sender, self.wire.decode(event.data))

    # --- what can happen ---

    def possible(self, state: SiteState) -> Sequence[HostEvent]:
        if state.frozen is None:
            return [Restarts()] if state.budget.restarts else []
        return [*self._moves(state), *(each for each in _timers(state) if spent(state.budget, each.key) is not None)]

    def timers_set(self, state: int) -> list[Fires]:
        """The timers of a site that may run out at any moment, whatever its budget says."""
        return _timers(self.states[state])

    def _moves(self, state: SiteState) -> list[HostEvent]:
        budget, events = state.budget, list[HostEvent]()
        if budget.multicasts:
            events.append(Multicasts())
        if budget.ticks:
            events.extend(self._ticks(state.site))
        if budget.crashes:
            events.extend((Crashes(), Crashes(lost=True)))
        return events

    def _ticks(self, site: SiteId) -> list[Ticks]:
        ticks = [Ticks(silent, self._rules.heartbeats) for silent in self._rules.silences[site]]
        if self._rules.accurate:
            self.awaits.update((self.events.number(tick), tick.silent) for tick in ticks)
        return ticks

    # --- what it leads to ---

    def work_out(self, state: SiteState, event: AnyEvent) -> tuple[Reaction, Step]:
        match event:
            case Allows(budget=budget):
                return self._unchanged(state._replace(budget=budget))
            case Crashes(lost=lost):
                return self._crash(state, lost)
            case _:
                return self._run(state, event)

    def _unchanged(self, state: SiteState) -> tuple[Reaction, Step]:
        return Reaction(self.states.number(state), (), ()), Step(state.site, None, (), None)

    def _crash(self, state: SiteState, lost: bool) -> tuple[Reaction, Step]:
        left = msgspec.structs.replace(state.budget, crashes=state.budget.crashes - 1)
        after = SiteState(state.site, None, state.life, 0, state.ticks, (), state.disk, left)
        vanishes = self.events.number(Vanishes())
        sends = tuple((to, vanishes) for to in self._members if lost and to != state.site)
        down = self.events.number(GoesDown(forever=not left.restarts))
        return Reaction(self.states.number(after), sends, (Crashed(),), down), Step(state.site, None, (), None)

    def _run(self, state: SiteState, event: AnyEvent) -> tuple[Reaction, Step]:
        """The layers handle the event. If one of them fails, that is for the judge."""
        like = self._like[state.site]
        before = state
        state, layer, first = self._begin(state, event)
        performed = Performed(state, heartbeats=not isinstance(event, Ticks) or event.heartbeats)
        if isinstance(event, Multicasts):
            performed.happenings.append(Given(first.message))  # type: ignore[union-attr]
        if isinstance(event, Boots | Restarts):
            performed.happenings.append(Revived(state.life))
        try:
            handle(layer, first, self._now(state), performed)
        except Exception as error:
            performed.happenings.append(Broke(f"{type(error).__name__}: {error}"))
            return self._reaction(before, performed, event), Step(state.site, first, performed.all(), layer)
        assert type(layer) is type(like)
        after = performed.after(freeze(layer))
        return self._reaction(after, performed, event), Step(state.site, first, performed.all(), layer)

    def _reaction(self, after: SiteState, performed: Performed, event: AnyEvent) -> Reaction:
        sends = tuple((to, self.events.number(performed.arrival(sent, self.wire))) for to, sent in performed.sends)
        up = self.events.number(ComesUp()) if isinstance(event, Restarts) else None
        return Reaction(self.states.number(after), sends, tuple(performed.happenings), up)

    def _begin(self, state: SiteState, event: AnyEvent) -> tuple[SiteState, Stack, Event]:
        """What the event means to the layers, and what it changes before they see it."""
        budget = state.budget
        match event:
            case Boots():
                return state, self._boot(state), Started()
            case Restarts():
                left = msgspec.structs.replace(budget, restarts=budget.restarts - 1)
                state = state._replace(life=state.life + 1, budget=left)
                return state, self._boot(state), Started()
            case Ticks(silent=silent):
                left = msgspec.structs.replace(budget, ticks=max(0, budget.ticks - 1))
                layer, before = self._thaw(state), self._now(state)
                state = state._replace(ticks=state.ticks + 1, budget=left)
                pass_time(layer, before, self._now(state), silent)
                return state, layer, TimerFired((1, "tick"))
            case Multicasts():
                left = msgspec.structs.replace(budget, multicasts=max(0, budget.multicasts - 1))
                id = pack_message_id(state.site, state.life, state.multicasts)
                bundle = Bundle(id, (b"",), self._rules.level)
                state = state._replace(multicasts=state.multicasts + 1, budget=left)
                return state, self._thaw(state), FromAbove(bundle)
            case Fires(key=key):
                timers = tuple(each for each in state.timers if each != key)
                state = state._replace(timers=timers, budget=spent(budget, key) or budget)
                return state, self._thaw(state), TimerFired(key)
            case Arrives(sender=sender, data=data) | Drops(sender=sender, data=data):
                return state, self._thaw(state), FromBelow(sender, self.wire.decode(data))
            case _:
                raise AssertionError(f"not for the layers: {event}")

    def _thaw(self, state: SiteState) -> Stack:
        assert state.frozen is not None, f"site {state.site} is down"
        layer = thaw(state.frozen, self._like[state.site])
        assert isinstance(layer, Stack)
        return layer

    def _boot(self, state: SiteState) -> Stack:
        disk, ordering = state.disk, self._orderings()[state.site]
        recovered = Recovered(dict(disk.saved), disk.log, disk.final)
        started_us = self._now(state).monotonic_us
        life = Life(state.site, self._members, state.life, started_us, recovered)
        return upper_layers(ordering, life, self._rules.resilience)

    def _now(self, state: SiteState) -> Now:
        us = state.ticks * TICK_US
        return Now(us, us, 0)


def _timers(state: SiteState) -> list[Fires]:
    return [Fires(key) for key in state.timers if key not in NEVER_BY_THEMSELVES]


def spent(budget: Budget, key: TimerKey) -> Budget | None:
    """What is left once the timer has run out; None if it may not."""
    match key:
        case (0, "tell"):
            left = msgspec.structs.replace(budget, tells=budget.tells - 1)
            return left if budget.tells else None
        case (0, "fetch") | (1, "want"):
            left = msgspec.structs.replace(budget, retries=budget.retries - 1)
            return left if budget.retries else None
    return budget


def is_settled(layer: Stack, sender: SiteId, message: Any) -> bool:
    """Whether a message that changes nothing will never change anything."""
    views = layer.layers[1]
    assert isinstance(views, ViewSynchrony)
    match message:
        case Promise() | Accepted():
            return True
        case Decided(successor=successor):
            return successor.view.id <= views.view.id
        case Prepare() | Refuse() | Accept() | Direct():
            return bool(message.view < views.view.id)
        case Cast(view=view, number=number):
            return view < views.view.id or holds(views, sender, number)
        case Supply(view=view, sender=origin, first=first, payloads=payloads):
            return view < views.view.id or holds(views, origin, first + len(payloads) - 1)
        case Want():
            return bool(message.view < views.view.id - 1)
    return False


def holds(views: ViewSynchrony[Any], origin: SiteId, upto: int) -> bool:
    """Whether all messages of a member up to this one have been received in the present view."""
    return views.running and origin in views.traffic.senders and views.traffic.senders[origin].held >= upto


def pass_time(layer: Stack, before: Now, after: Now, silent: tuple[SiteId, ...]) -> None:
    """All who were not suspected have been heard since then, but for the silent."""
    views = layer.layers[1]
    assert isinstance(views, ViewSynchrony)
    suspected = views.suspector.suspects(before.monotonic_us)
    for site, peer in views.suspector.peers.items():
        if site in silent or site in suspected:
            peer.heard_us = min(peer.heard_us, after.monotonic_us - peer.timeout_us())
        else:
            peer.heard_us = after.monotonic_us


def handle(layer: Stack, first: Event, now: Now, performed: Performed) -> None:
    """As the simulator's site does: what comes back from the host is handled after the effects of the event."""
    pending: deque[Any] = deque([first])
    while pending:
        out = Effects()
        layer.handle(pending.popleft(), now, out)
        for effect in out.list:
            performed.perform(effect)
