"""Faults that wait for their moment: a site is struck when it is in a given phase of a change of view or of role.

Such phases last for a round trip; a fault at a moment of chance hardly ever meets one.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from ordercast.core.events import FromAbove
from ordercast.core.ids import SiteId
from ordercast.protocols.membership.messages import Leave
from ordercast.simulator import faults
from ordercast.simulator.scenario import Fault
from ordercast.simulator.simulation import Simulation
from ordercast.verify.fuzz.phases import group_sites, phase_of, switch_of

LOOK_US = 2_000
"""How often to look whether the moment has come."""


class Aim(Struct, frozen=True):
    """From `at_s` on, the first site found in the phase crashes, or is cut off, until `until_s`."""

    at_s: float
    until_s: float
    what: Literal["crash", "cut"]
    phase: str
    which: int
    """Of several that are in it at once."""


class Leaving(Struct, frozen=True):
    """A site asks to be out of the next view, for good."""

    at_s: float
    site: int


def schedule(waiting: Aim | Leaving, simulation: Simulation) -> None:
    """Put it on the agenda."""

    def look(aim: Aim) -> None:
        sites = [site for site in group_sites(simulation) if aim.phase in (phase_of(site), switch_of(site))]
        if simulation.now_us >= round(aim.until_s * 1e6):
            return
        if sites:
            _strike(aim, sites[aim.which % len(sites)].id, simulation)
        else:
            simulation.schedule(simulation.now_us + LOOK_US, look, aim)

    def leave(leaving: Leaving) -> None:
        simulation.sites[leaving.site].handle(FromAbove(Leave()))

    simulation.schedule(round(waiting.at_s * 1e6), look if isinstance(waiting, Aim) else leave, waiting)


def _strike(aim: Aim, site: SiteId, simulation: Simulation) -> None:
    names, now_s = [simulation.topology.names[site]], simulation.now_us / 1e6
    if aim.what == "crash":
        faults.schedule(Fault(kind="crash", at_s=now_s, sites=names), simulation)
        faults.schedule(Fault(kind="recover", at_s=aim.until_s, sites=names), simulation)
    else:
        faults.schedule(Fault(kind="partition", at_s=now_s, until_s=aim.until_s, sites=names), simulation)
