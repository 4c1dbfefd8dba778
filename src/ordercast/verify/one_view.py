"""The sites of an ordering protocol on the ideal stack: one view, for ever, and no crashes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, assert_never

from msgspec import Struct

from ordercast.core.canonical import Frozen, freeze, thaw
from ordercast.core.effects import Cancel, Deliver, Effect, Effects, Install, Multicast, Record, Save, Send, SetTimer
from ordercast.core.events import Event, Flush, FromAbove, FromBelow, Now, TimerFired, TimerKey, ViewInstalled
from ordercast.core.ids import SiteId, ViewId, pack_message_id
from ordercast.core.layer import Layer
from ordercast.core.messages import Bundle
from ordercast.core.trace import Kind
from ordercast.core.views import View
from ordercast.core.wire import Wire
from ordercast.verify.history import Happening, messages_of
from ordercast.verify.reactions import Reaction, Reactions, Step

AT_THE_BEGINNING = Now(0, 0, 0)


class Begins(Struct, frozen=True):
    """The site installs the one view."""


class Multicasts(Struct, frozen=True):
    """A participant of the site multicasts its next message."""


class Arrives(Struct, frozen=True):
    """A message comes out of the channel from a site."""

    sender: SiteId
    data: bytes


class Fires(Struct, frozen=True):
    """A timer runs out."""

    key: TimerKey


class ClockMoves(Struct, frozen=True):
    """The site's clock goes on to its next reading."""


class Flushes(Struct, frozen=True):
    """The site is told that no more traffic is coming."""


HostEvent = Begins | Multicasts | Arrives | Fires | ClockMoves | Flushes


class SiteState(NamedTuple):
    """Everything that a site's future depends on."""

    site: SiteId
    frozen: Frozen
    multicasts: int
    """How many messages its participants have multicast."""
    clock: int
    """Which of the clock readings it has reached."""
    timers: tuple[TimerKey, ...]
    """Those that are set, in a fixed order."""
    fired: int = 0
    """How many have run out, where that is limited."""


class OneView(Reactions[SiteState, HostEvent]):
    """The sites of one scope."""

    def __init__(
        self,
        layers: Sequence[Layer],
        messages: int,
        clock_us: tuple[int, ...],
        watch: Callable[[Step], None] = lambda step: None,
        fires: tuple[int, ...] | None = None,
    ) -> None:
        """Each site multicasts so many messages, and its clock takes these readings once it has begun, at time 0.

        `watch` sees every new step. `fires` may say for each site how many timers run out there at the most.
        """
        super().__init__(watch)
        self._fires = fires
        self._layers = layers
        self._members = tuple(SiteId(site) for site in range(len(layers)))
        self._messages = messages
        self._nows = [Now(us, us, 0) for us in clock_us]
        self._wire = Wire(layers[0].WIRE)

    def first_state(self, site: SiteId) -> SiteState:
        return SiteState(site, freeze(self._layers[site]), 0, 0, ())

    def possible(self, state: SiteState) -> Sequence[HostEvent]:
        may_fire = self._fires is None or state.fired < self._fires[state.site]
        events: list[HostEvent] = [Fires(key) for key in state.timers] if may_fire else []
        if state.multicasts < self._messages:
            events.append(Multicasts())
        if state.clock + 1 < len(self._nows):
            events.append(ClockMoves())
        return events

    def work_out(self, state: SiteState, event: HostEvent) -> tuple[Reaction, Step]:
        """As the simulator's site does: what it multicasts comes back at once, after the effects of the event."""
        layer = thaw(state.frozen, self._layers[state.site])
        now = AT_THE_BEGINNING if isinstance(event, Begins) else self._nows[state.clock]
        state, first = self._begin(state, event)
        pending: deque[Event] = deque() if first is None else deque([first])
        effects: list[Effect] = []
        while pending:
            out = Effects()
            layer.handle(pending.popleft(), now, out)
            effects += out.list
            pending.extend(FromBelow(state.site, each.message) for each in out.list if isinstance(each, Multicast))
        happenings = [Happening(Kind.MULTICAST, first.message.id)] if isinstance(first, FromAbove) else []
        performed = _Performed(state, self._members, set(state.timers), [], happenings)
        for effect in effects:
            performed.perform(effect)
        timers = tuple(sorted(performed.timers, key=repr))
        after = self.states.number(state._replace(frozen=freeze(layer), timers=timers))
        reaction = Reaction(after, self._arrivals(state.site, performed.sends), tuple(happenings))
        return reaction, Step(state.site, first, tuple(effects), layer)

    def _begin(self, state: SiteState, event: HostEvent) -> tuple[SiteState, Event | None]:
        """What the event means to the layer, and what it changes before the layer sees it."""
        match event:
            case Begins():
                return state, ViewInstalled(View(ViewId(1), self._members))
            case Multicasts():
                bundle = Bundle(pack_message_id(state.site, 0, state.multicasts), (b"",))
                return state._replace(multicasts=state.multicasts + 1), FromAbove(bundle)
            case Arrives(sender=sender, data=data):
                return state, FromBelow(sender, self._wire.decode(data))
            case Fires(key=key):
                left = tuple(each for each in state.timers if each != key)
                return state._replace(timers=left, fired=state.fired + (self._fires is not None)), TimerFired(key)
            case ClockMoves():
                return state._replace(clock=state.clock + 1), None
            case Flushes():
                return state, Flush()
            case _:
                assert_never(event)

    def _arrivals(self, sender: SiteId, sends: list[tuple[SiteId, Any]]) -> tuple[tuple[SiteId, int], ...]:
        return tuple((to, self.events.number(Arrives(sender, self._wire.encode(message)))) for to, message in sends)


class _Performed(NamedTuple):
    """The effects of a step as they add up."""

    state: SiteState
    members: tuple[SiteId, ...]
    timers: set[TimerKey]
    sends: list[tuple[SiteId, Any]]
    happenings: list[Happening]

    def perform(self, effect: Effect) -> None:
        match effect:
            case Multicast(message=message):
                self.sends.extend((site, message) for site in self.members if site != self.state.site)
            case Send(to=to, message=message):
                self.sends.append((to, message))
            case Deliver(message=Bundle() as bundle):
                self.happenings.extend(Happening(Kind.DELIVER, message) for message in messages_of(bundle))
            case Deliver():
                pass  # a change of role
            case Record(note=note):
                if note.kind == Kind.RECEIVE and note.message is not None:
                    self.happenings.append(Happening(Kind.RECEIVE, note.message))
            case SetTimer(key=key):
                self.timers.add(key)
            case Cancel(key=key):
                self.timers.discard(key)
            case Install() | Save():
                pass
            case _:
                assert_never(effect)
