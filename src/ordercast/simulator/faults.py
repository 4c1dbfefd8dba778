"""Faults: what a scenario lets go wrong, and when it ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import UNSET

from ordercast.core.ids import SiteId
from ordercast.simulator.network import Link
from ordercast.simulator.scenario import Fault

if TYPE_CHECKING:
    from ordercast.simulator.simulation import Simulation

Change = Callable[[], None]


def schedule(fault: Fault, simulation: Simulation) -> None:
    """Put the beginning of a fault, and its end if it has one, on the agenda."""
    begin, end = _changes(fault, simulation)
    simulation.schedule(round(fault.at_s * 1e6), _perform, begin)
    if end is not None and fault.until_s is not UNSET:
        simulation.schedule(round(fault.until_s * 1e6), _perform, end)


def _perform(change: Change) -> None:
    change()


def _changes(fault: Fault, simulation: Simulation) -> tuple[Change, Change | None]:
    """What to do when the fault begins, and how to undo it."""
    match fault.kind:
        case "crash":
            return lambda: simulation.crash(_sites(fault, simulation)), None
        case "pause":
            assert fault.for_s is not UNSET
            for_us = round(fault.for_s * 1e6)
            return lambda: simulation.pause(_sites(fault, simulation), for_us), None
        case "partition":
            cut = _cut_links(fault, simulation)
            return lambda: _add_cuts(cut, 1), lambda: _add_cuts(cut, -1)
        case "heal":
            return lambda: _heal(simulation), None
        case "loss" | "duplicate" | "reorder":
            assert fault.probability is not UNSET
            return _setting(fault.kind, _links(fault, simulation), fault.probability)
        case "slow-link":
            assert fault.extra_ms is not UNSET
            return _setting("extra_us", _links(fault, simulation), round(fault.extra_ms * 1e3))


def _setting(name: str, links: list[Link], value: float) -> tuple[Change, Change]:
    def assign(new: float) -> None:
        for link in links:
            setattr(link, name, new)

    return lambda: assign(value), lambda: assign(0)


def _sites(fault: Fault, simulation: Simulation) -> list[SiteId]:
    assert fault.sites is not UNSET
    return [simulation.topology.site(name) for name in fault.sites]


def _links(fault: Fault, simulation: Simulation) -> list[Link]:
    """The links of `between`, in both directions; all links without it."""
    links = simulation.network.links
    if fault.between is UNSET:
        return [link for row in links for link in row]
    a, b = (simulation.topology.site(name) for name in fault.between)
    return [links[a][b], links[b][a]]


def _cut_links(fault: Fault, simulation: Simulation) -> list[Link]:
    """The links between the sites of the fault and all others; only the outgoing ones if it is one-way."""
    side = _sites(fault, simulation)
    links = simulation.network.links
    others = [site for site in simulation.topology.sites if site not in side]
    outgoing = [links[a][b] for a in side for b in others]
    return outgoing if fault.one_way is True else outgoing + [links[b][a] for a in side for b in others]


def _add_cuts(links: list[Link], change: int) -> None:
    for link in links:
        link.cuts = max(0, link.cuts + change)


def _heal(simulation: Simulation) -> None:
    for row in simulation.network.links:
        for link in row:
            link.cuts = 0
