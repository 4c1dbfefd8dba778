"""Faults: what a scenario lets go wrong, and when it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET

from ordercast.core.ids import SiteId
from ordercast.simulator.network import Link
from ordercast.simulator.scenario import Fault

if TYPE_CHECKING:
    from ordercast.simulator.simulation import Simulation


def schedule(fault: Fault, simulation: Simulation) -> None:
    """Put the beginning of a fault, and its end if it has one, on the agenda."""
    at_us = round(fault.at_s * 1e6)
    simulation.schedule(at_us, simulation.observe_fault, fault)
    match fault.kind:
        case "crash":
            simulation.schedule(at_us, simulation.crash, _sites(fault, simulation))
        case "pause":
            assert fault.for_s is not UNSET
            pause = (_sites(fault, simulation), round(fault.for_s * 1e6))
            simulation.schedule(at_us, lambda pause: simulation.pause(*pause), pause)
        case "recover":
            simulation.schedule(at_us, simulation.recover, _sites(fault, simulation))
        case "clock-step":
            assert fault.by_ms is not UNSET
            step = (_sites(fault, simulation), round(fault.by_ms * 1e3))
            simulation.schedule(at_us, lambda step: simulation.step_clocks(*step), step)
        case "clock-drift":
            assert fault.ppm is not UNSET
            drift = (_sites(fault, simulation), round(fault.ppm))
            simulation.schedule(at_us, lambda drift: simulation.set_drift(*drift), drift)
        case "heal":
            simulation.schedule(at_us, _heal, [link for row in simulation.network.links for link in row])
        case _:
            touched = (fault, _links(fault, simulation))
            simulation.schedule(at_us, _begin, touched)
            if fault.until_s is not UNSET:
                simulation.schedule(round(fault.until_s * 1e6), _end, touched)


def _begin(touched: tuple[Fault, list[Link]]) -> None:
    fault, links = touched
    for link in links:
        link.faults.append(fault)
        _apply(link)


def _end(touched: tuple[Fault, list[Link]]) -> None:
    fault, links = touched
    for link in links:
        if fault in link.faults:
            link.faults.remove(fault)
            _apply(link)


def _heal(links: list[Link]) -> None:
    for link in links:
        link.faults = [fault for fault in link.faults if fault.kind != "partition"]
        _apply(link)


def _apply(link: Link) -> None:
    """What all the faults come to that strike this link now: of several probabilities the highest counts."""
    link.cut = any(fault.kind == "partition" for fault in link.faults)
    link.loss = _probability(link, "loss")
    link.duplicate = _probability(link, "duplicate")
    link.reorder = _probability(link, "reorder")
    link.extra_us = sum(round(fault.extra_ms * 1e3) for fault in link.faults if fault.extra_ms is not UNSET)


def _probability(link: Link, kind: str) -> float:
    active = (fault for fault in link.faults if fault.kind == kind)
    return max((fault.probability for fault in active if fault.probability is not UNSET), default=0.0)


def _sites(fault: Fault, simulation: Simulation) -> list[SiteId]:
    assert fault.sites is not UNSET
    return [simulation.topology.site(name) for name in fault.sites]


def _links(fault: Fault, simulation: Simulation) -> list[Link]:
    """The links that the fault strikes: those between the sites of a partition and all others (if it is one-way the
    outgoing ones alone), those of `between` in both directions, or all."""
    links = simulation.network.links
    if fault.kind == "partition":
        side = _sites(fault, simulation)
        others = [site for site in simulation.topology.sites if site not in side]
        outgoing = [links[a][b] for a in side for b in others]
        return outgoing if fault.one_way is True else outgoing + [links[b][a] for a in side for b in others]
    if fault.between is UNSET:
        return [link for row in links for link in row]
    a, b = (simulation.topology.site(name) for name in fault.between)
    return [links[a][b], links[b][a]]
