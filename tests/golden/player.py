"""Plays a scenario in the simulator and writes down, for people, what each site is told and what it does.

Own copies of a multicast come back at once; they are left out where nothing follows from them.
"""

from __future__ import annotations

from itertools import groupby
from typing import Any, ClassVar, assert_never, get_args, get_origin, get_type_hints

from msgspec import Struct, structs

from ordercast.core.effects import (
    Cancel,
    Deliver,
    Effect,
    Effects,
    Install,
    Multicast,
    Note,
    Out,
    Record,
    Save,
    Send,
    SetTimer,
)
from ordercast.core.entries import RoleChange
from ordercast.core.events import Event, Flush, FromAbove, FromBelow, Now, TimerFired, ViewInstalled
from ordercast.core.ids import MessageId, SiteId, origin_of, seq_of
from ordercast.core.layer import Layer, Waiting
from ordercast.core.messages import Bundle
from ordercast.protocols.ordering.catalogue import PROTOCOLS
from ordercast.protocols.ordering.configuration import sender_of
from ordercast.protocols.ordering.setup import Setup
from ordercast.simulator.observer import Observer
from ordercast.simulator.scenario import Scenario
from ordercast.simulator.simulation import Simulation

HIDDEN = ("sent_us",)
"""Fields of messages that only repeat the time in front of the line."""


class Watched:
    """A layer whose events and effects are written down on their way."""

    WIRE: ClassVar[Any] = None

    def __init__(self, me: SiteId, layer: Layer, player: Player) -> None:
        self._me = me
        self._layer = layer
        self._player = player

    def handle(self, event: Event, now: Now, out: Out) -> None:
        effects = Effects()
        self._layer.handle(event, now, effects)
        self._player.write(now, self._me, event, effects.list)
        for effect in effects.list:
            perform(effect, out)

    def waiting_for(self) -> Waiting | None:
        return self._layer.waiting_for()


def perform(effect: Effect, out: Out) -> None:
    """Hand an effect on to the host."""
    match effect:
        case Multicast(message=message):
            out.multicast(message)
        case Send(to=to, message=message):
            out.send(to, message)
        case Deliver(sender=sender, message=message):
            out.deliver(sender, message)
        case Install(view=view):
            out.install(view)
        case SetTimer(key=key, after_us=after_us):
            out.set_timer(key, after_us)
        case Cancel(key=key):
            out.cancel(key)
        case Save(key=key, value=value, binding=binding):
            out.save(key, value, binding=binding)
        case Record(note=note):
            out.record(note)
        case _:
            assert_never(effect)


class Player(Observer):
    """Plays one scenario."""

    def __init__(self, scenario: Scenario) -> None:
        self.lines: list[str] = []
        self.orders: dict[SiteId, list[str]] = {}
        self._names: tuple[str, ...] = scenario.topology().names
        self._sent_us: dict[str, int] = {}
        self._last_us: dict[str, int] = {}
        self._scenario = scenario

    def play(self) -> str:
        """What happened, and what came out of it."""
        simulation = Simulation(self._scenario, [self], build=self._build)
        self.orders = {site: [] for site in simulation.topology.sites}
        simulation.run()
        return "\n".join([*self.lines, "", *self._outcome(), ""])

    def _build(self, setup: Setup) -> Layer:
        return Watched(setup.me, PROTOCOLS[self._scenario.protocol.name].build(setup), self)

    def _outcome(self) -> list[str]:
        if len({tuple(order) for order in self.orders.values()}) == 1:
            lines = [f"order everywhere: {' '.join(self.orders[SiteId(0)])}"]
        else:
            lines = [f"order at {self._names[site]}: {' '.join(order)}" for site, order in self.orders.items()]
        by_origin = sorted(self._last_us, key=lambda name: (name[0], self._sent_us[name]))
        for _, names in groupby(by_origin, lambda name: name[0]):
            latencies = (f"{name} {ms(self._last_us[name] - self._sent_us[name])}" for name in names)
            lines.append(f"at the last site after: {', '.join(latencies)}")
        return lines

    # --- what happens ---

    def on_traffic_end(self, at_us: int) -> None:
        self.lines.append(f"{ms(at_us):>7}  the traffic ends, tickets travel at once")

    def on_multicast(self, at_us: int, site: SiteId, bundle: Bundle) -> None:
        self._sent_us[self._show(bundle)] = at_us

    def on_deliver(self, at_us: int, site: SiteId, bundle: Bundle) -> None:
        self._last_us[self._show(bundle)] = at_us
        self.orders[site].append(self._show(bundle))

    def write(self, now: Now, site: SiteId, event: Event, effects: list[Effect]) -> None:
        """One event and its effects."""
        what = self._event(site, event)
        did = [text for effect in effects if (text := self._effect(now, effect))]
        own = isinstance(event, FromBelow) and event.sender == site
        idle = own or isinstance(event, Flush | ViewInstalled | TimerFired)
        if did or not idle:
            self.lines.append(f"{ms(now.monotonic_us):>7}  {self._names[site]} {what}")
        self.lines += [f"{'':>11}{text}" for text in did]

    def _event(self, site: SiteId, event: Event) -> str:
        match event:
            case FromAbove(message=message):
                return f"is given {self._show(message)} to multicast"
            case FromBelow(sender=sender, message=message):
                return f"receives {self._show(message)} from {self._whom(site, sender)}"
            case TimerFired(key="consider"):
                return "considers its role"
            case TimerFired(key=key):
                return f"wakes for {key}"
            case Flush():
                return "has no more traffic"
            case _:
                return type(event).__name__

    def _effect(self, now: Now, effect: Effect) -> str | None:
        match effect:
            case Multicast(message=message):
                return f"multicasts {self._show(message)}"
            case Send(to=to, message=message):
                return f"sends {self._show(message)} to {self._names[to]}"
            case Deliver(sender=sender, message=RoleChange(active=active)):
                return f"has {self._names[sender]} {'active' if active else 'passive'} from here on"
            case Deliver(message=message):
                after_us = now.monotonic_us - self._sent_us[self._show(message)]
                return f"delivers {self._show(message)} after {ms(after_us)}"
            case Record(note=Note(kind="ticket", message=int() as message, ticket=ticket)):
                return f"issues ticket {ticket} for {self._message(message)}"
            case Record(note=Note(kind="role", detail=str() as detail)):
                return f"decides: {detail}"
            case Install() | Cancel() | SetTimer(key="consider"):
                return None
            case _:
                return f"{type(effect).__name__} {structs.astuple(effect)}"

    # --- names ---

    def _whom(self, site: SiteId, sender: SiteId) -> str:
        return "itself" if site == sender else self._names[sender]

    def _message(self, id: MessageId) -> str:
        if id < 0:
            return f"{self._names[sender_of(id)]}'s switch"
        return f"{self._names[origin_of(id)].lower()}{seq_of(id)}"

    def _show(self, value: Any, kind: Any = None) -> str:
        """A value by its declared type, since ids are but integers at run time."""
        if kind is MessageId:
            return self._message(value)
        if kind is SiteId:
            return self._names[int(value)]
        if isinstance(value, Bundle):
            return self._message(value.id)
        if isinstance(value, Struct):
            return f"{type(value).__name__}({', '.join(self._fields(value))})"
        if get_origin(kind) is tuple:
            kinds = list(get_args(kind))
            if kinds[-1] is Ellipsis:
                kinds = kinds[:1] * len(value)
            return f"({', '.join(self._show(item, each) for item, each in zip(value, kinds, strict=True))})"
        return repr(value)

    def _fields(self, message: Struct) -> list[str]:
        """Those that are not at their default."""
        shown = []
        for field in structs.fields(message):
            value = getattr(message, field.name)
            if field.name not in HIDDEN and value != field.default:
                text = self._show(value, get_type_hints(type(message))[field.name])
                shown.append(text if isinstance(value, Bundle) else f"{field.name} {text}")
        return shown


def ms(us: int) -> str:
    """Microseconds as milliseconds, without a fraction where there is none."""
    return f"{us / 1000:g} ms"
