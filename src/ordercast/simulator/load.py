"""The load that a scenario describes, as an outside observer knows it: mean gaps over time."""

from __future__ import annotations

from msgspec import UNSET

from ordercast.core.ids import SiteId
from ordercast.planning.network import KnownNetwork
from ordercast.planning.topology import Topology
from ordercast.simulator.scenario import Scenario, Traffic


def known_network(scenario: Scenario, topology: Topology) -> KnownNetwork:
    """True mean delays and gaps of a scenario."""
    pieces = {site: _pieces(_entries(scenario, topology, site), scenario.duration_s) for site in topology.sites}
    gaps = tuple(None if weight == 0 else 1e6 / weight for weight in mean_rates(scenario, topology))
    return KnownNetwork(topology.mean_us, pieces, gaps)


def mean_rates(scenario: Scenario, topology: Topology) -> list[float]:
    """Messages per second of each site, averaged over the whole of the traffic."""
    return [
        sum(
            _rate(traffic) * max(0.0, _until_s(traffic, scenario.duration_s) - traffic.from_s)
            for traffic in _entries(scenario, topology, site)
        )
        / scenario.duration_s
        for site in topology.sites
    ]


def expected_arrivals(scenario: Scenario) -> float:
    """Roughly how many messages arrive in a run, and so how long it takes beside others."""
    topology = scenario.topology()
    return sum(mean_rates(scenario, topology)) * scenario.duration_s * len(topology.names)


def _entries(scenario: Scenario, topology: Topology, site: SiteId) -> list[Traffic]:
    return [traffic for traffic in scenario.traffic for name in traffic.sites if name == topology.names[site]]


def _rate(traffic: Traffic) -> float:
    """A closed loop has no rate of its own; it counts as one message per second and outstanding message."""
    if traffic.closed_loop is not UNSET:
        return float(traffic.closed_loop)
    assert traffic.rate is not UNSET
    return traffic.rate


def _until_s(traffic: Traffic, duration_s: float) -> float:
    return duration_s if traffic.until_s is None else min(traffic.until_s, duration_s)


def _pieces(entries: list[Traffic], duration_s: float) -> tuple[tuple[int, float | None], ...]:
    """(from time, mean gap from then on): a new piece wherever an entry's window begins or ends."""
    edges = sorted({0.0, *(entry.from_s for entry in entries), *(_until_s(entry, duration_s) for entry in entries)})
    pieces = []
    for edge in edges:
        rate = sum(_rate(entry) for entry in entries if entry.from_s <= edge < _until_s(entry, duration_s))
        pieces.append((round(edge * 1e6), 1e6 / rate if rate else None))
    return tuple(pieces)
