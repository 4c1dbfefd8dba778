"""Every protocol in every host: the cases, and wrappers that put a host's other ways of running a layer to the test."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ordercast.core.canonical import freeze, thaw
from ordercast.core.effects import Note, Out
from ordercast.core.events import Event, FromBelow, Now
from ordercast.core.ids import SiteId
from ordercast.core.layer import Layer, Waiting
from ordercast.core.messages import Bundle
from ordercast.core.wire import Wire
from ordercast.planning.topology import Delays, Lan, Wan
from ordercast.protocols.ordering.catalogue import PROTOCOLS
from ordercast.simulator.observer import Observer
from ordercast.simulator.scenario import Fault, ProtocolChoice, Scenario, Traffic
from ordercast.simulator.simulation import Simulation


class Case(Struct, frozen=True):
    """A network, a load and some faults."""

    name: str
    sites: str
    network: dict[str, Any]
    traffic: list[Traffic]
    fault: list[Fault] = []


ONE_LAN = {"lan": [Lan(name="lan", sites=list("ABCD"), delay_ms=20, variance=4.0)]}
TWO_LANS = {
    "lan": [
        Lan(name="west", sites=list("ABC"), delay_ms=5, variance=0.5),
        Lan(name="east", sites=list("DE"), delay_ms=5, variance=0.5),
    ],
    "wan": [Wan(between=("west", "east"), delay_ms=80, variance=9.0)],
}
DETOURS = {"delays": Delays(sites=list("ABC"), one_way_ms=[[0, 5, 120], [5, 0, 5], [40, 5, 0]], variance=1.0)}
"""What A sends to C is overtaken by way of B."""

AT_ONCE = {"delays": Delays(sites=list("ABC"), one_way_ms=[[0] * 3] * 3)}


def _everybody(sites: str, source: Any, *rates: float, **more: Any) -> list[Traffic]:
    return [Traffic(sites=[site], rate=rate, source=source, **more) for site, rate in zip(sites, rates, strict=True)]


CASES = [
    Case(
        "one LAN, periodic, aligned", "ABCD", ONE_LAN, _everybody("ABCD", "periodic", 50, 50, 50, 50, phase="aligned")
    ),
    Case("two LANs, quasi-periodic", "ABCDE", TWO_LANS, _everybody("ABCDE", "quasi-periodic", 80, 5, 5, 40, 2)),
    Case("detours, Poisson", "ABC", DETOURS, _everybody("ABC", "poisson", 20, 60, 40)),
    Case("no delay, periodic, aligned", "ABC", AT_ONCE, _everybody("ABC", "periodic", 40, 20, 10, phase="aligned")),
    Case("two LANs, closed loops", "ABCDE", TWO_LANS, [Traffic(sites=["B", "D"], closed_loop=2, until_s=0.1)]),
    Case("one LAN, one sender", "ABCD", ONE_LAN, [Traffic(sites=["C"], rate=30, source="poisson")]),
    Case("quiet end", "ABC", DETOURS, _everybody("ABC", "poisson", 30, 30, 30, until_s=0.5)),
    Case(
        "load that moves",
        "ABC",
        DETOURS,
        [
            Traffic(sites=["A"], rate=100, until_s=1.0),
            Traffic(sites=["B"], rate=100, from_s=1.0),
            Traffic(sites=["C"], rate=5),
        ],
    ),
    Case(
        "two LANs, pauses",
        "ABCDE",
        TWO_LANS,
        _everybody("ABCDE", "poisson", 40, 20, 20, 20, 20),
        [
            Fault(kind="pause", at_s=0.3, sites=["A", "D"], for_s=0.4),
            Fault(kind="pause", at_s=0.5, sites=["A"], for_s=0.4),
            Fault(kind="pause", at_s=1.9, sites=["B"], for_s=0.5),
        ],
    ),
    Case(
        "one LAN, duplicates and disorder",
        "ABCD",
        ONE_LAN,
        _everybody("ABCD", "poisson", 40, 40, 20, 20),
        [Fault(kind="duplicate", at_s=0, probability=0.3), Fault(kind="reorder", at_s=0, probability=0.3)],
    ),
    Case(
        "detours, a slow link for a while",
        "ABC",
        DETOURS,
        _everybody("ABC", "poisson", 40, 40, 40),
        [Fault(kind="slow-link", at_s=0.5, until_s=1.0, between=("B", "C"), extra_ms=150)],
    ),
]


def choices() -> list[ProtocolChoice]:
    """Every protocol with both ticket policies and both ways to come by estimates."""
    return [
        ProtocolChoice(stack="ideal", name=name, tickets=tickets, estimates=estimates)
        for name in PROTOCOLS
        for tickets in ("piggyback", "flush")
        for estimates in ("online", "known")
    ]


def fewer_choices() -> list[ProtocolChoice]:
    """Every protocol with both ticket policies."""
    return [each for each in choices() if (each.tickets == "flush") == (each.estimates == "known")]


def name_of(value: Case | ProtocolChoice) -> str:
    """For test names."""
    return value.name if isinstance(value, Case) else f"{value.name} {value.tickets} {value.estimates}"


def scenario(choice: ProtocolChoice, case: Case) -> Scenario:
    """Two seconds."""
    return Scenario(protocol=choice, duration_s=2.0, traffic=case.traffic, fault=case.fault, **case.network)


class Diary(Observer):
    """Everything that participants and traces get to see."""

    def __init__(self) -> None:
        self.lines: list[tuple[int, SiteId, str, Any]] = []

    def on_multicast(self, at_us: int, site: SiteId, bundle: Bundle) -> None:
        self.lines.append((at_us, site, "multicast", bundle))

    def on_deliver(self, at_us: int, site: SiteId, bundle: Bundle) -> None:
        self.lines.append((at_us, site, "deliver", bundle))

    def on_note(self, at_us: int, site: SiteId, note: Note) -> None:
        self.lines.append((at_us, site, "note", note))


def diary(scenario: Scenario, wrap: type[Any] | None = None) -> tuple[list[tuple[int, SiteId, str, Any]], int]:
    """What happens in the scenario and how many events it takes, with every site's whole stack wrapped in this."""
    pages = Diary()
    simulation = Simulation(scenario, (pages,))
    for site in simulation.sites:
        site.layer = wrap(site.layer) if wrap is not None else site.layer
    simulation.run()
    return pages.lines, simulation.events


class OverTheWire:
    """Sends every message as bytes, its own copy included."""

    def __init__(self, layer: Layer) -> None:
        self._layer = layer
        self._wire = Wire(layer.WIRE)

    @property
    def WIRE(self) -> Any:
        return self._layer.WIRE

    def handle(self, event: Event, now: Now, out: Out) -> None:
        if isinstance(event, FromBelow):
            assert isinstance(event.message, bytes)
            event = FromBelow(event.sender, self._wire.decode(event.message))
        self._layer.handle(event, now, _Encoding(out, self._wire))

    def waiting_for(self) -> Waiting | None:
        return self._layer.waiting_for()


class _Encoding:
    """An `Out` that puts bytes on the network."""

    def __init__(self, out: Out, wire: Wire) -> None:
        self._out = out
        self._wire = wire

    def __getattr__(self, name: str) -> Any:
        return getattr(self._out, name)

    def multicast(self, message: Any) -> None:
        self._out.multicast(self._wire.encode(message))

    def send(self, to: SiteId, message: Any) -> None:
        self._out.send(to, self._wire.encode(message))


class Refrozen:
    """Goes on with a copy of itself, made from its canonical form, after every third event."""

    def __init__(self, layer: Layer) -> None:
        self._layer = layer
        self._events = 0

    @property
    def WIRE(self) -> Any:
        return self._layer.WIRE

    def handle(self, event: Event, now: Now, out: Out) -> None:
        self._layer.handle(event, now, out)
        self._events += 1
        if self._events % 3 == 0:
            frozen = freeze(self._layer)
            self._layer = thaw(frozen, self._layer)
            assert freeze(self._layer) == frozen

    def waiting_for(self) -> Waiting | None:
        return self._layer.waiting_for()
