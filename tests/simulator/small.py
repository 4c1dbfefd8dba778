"""Small scenarios, and an observer that keeps everything."""

from __future__ import annotations

from typing import Any

from ordercast.core.effects import Note
from ordercast.core.ids import SiteId
from ordercast.core.messages import Bundle
from ordercast.core.views import View
from ordercast.planning.topology import Delays, Distribution, Topology, from_delays
from ordercast.simulator.observer import Observer
from ordercast.simulator.scenario import Fault, ProtocolChoice, Scenario, Traffic


def delays(
    sites: str = "ABC", delay_ms: float = 20, variance: float = 0.0, distribution: Distribution = "chi2"
) -> Delays:
    """Sites that are all equally far apart."""
    matrix = [[0.0 if a == b else delay_ms for b in sites] for a in sites]
    return Delays(sites=list(sites), one_way_ms=matrix, variance=variance, distribution=distribution)


def topology(
    sites: str = "ABC", delay_ms: float = 20, variance: float = 0.0, distribution: Distribution = "chi2"
) -> Topology:
    """The same as a topology."""
    return from_delays(delays(sites, delay_ms, variance, distribution))


def scenario(
    protocol: str = "symmetric",
    sites: str = "ABC",
    *,
    rate: float = 50,
    fault: tuple[Fault, ...] = (),
    traffic: tuple[Traffic, ...] | None = None,
    variance: float = 4.0,
    **more: Any,
) -> Scenario:
    """Two seconds of the same load at every site, unless told otherwise."""
    load = (Traffic(sites=list(sites), rate=rate),) if traffic is None else traffic
    settings = {"duration_s": 2.0, **more}
    return Scenario(
        protocol=ProtocolChoice(name=protocol, stack="ideal"),
        delays=delays(sites, variance=variance),
        traffic=list(load),
        fault=list(fault),
        **settings,
    )


class Diary(Observer):
    """Writes down all that happens."""

    def __init__(self) -> None:
        self.events: list[tuple[Any, ...]] = []

    def on_view(self, at_us: int, site: SiteId, view: View) -> None:
        self.events.append((at_us, site, "view", view))

    def on_multicast(self, at_us: int, site: SiteId, bundle: Bundle) -> None:
        self.events.append((at_us, site, "multicast", bundle))

    def on_deliver(self, at_us: int, site: SiteId, bundle: Bundle) -> None:
        self.events.append((at_us, site, "deliver", bundle))

    def on_note(self, at_us: int, site: SiteId, note: Note) -> None:
        self.events.append((at_us, site, "note", note))

    def on_crash(self, at_us: int, site: SiteId) -> None:
        self.events.append((at_us, site, "crash", None))

    def on_traffic_end(self, at_us: int) -> None:
        self.events.append((at_us, None, "traffic end", None))

    def on_end(self, at_us: int) -> None:
        self.events.append((at_us, None, "end", None))

    def of(self, what: str, site: int | None = None) -> list[tuple[int, Any]]:
        """(when, what) of one kind of event, at one site or all."""
        return [(at, thing) for at, where, kind, thing in self.events if kind == what and site in (None, where)]
