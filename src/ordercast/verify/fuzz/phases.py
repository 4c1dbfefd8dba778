"""What the sites of a live group are doing with regard to their view, and to their role."""

from __future__ import annotations

from typing import Any

from ordercast.simulator.group_site import GroupSite
from ordercast.simulator.simulation import Simulation

SWITCHING = ("to-active", "to-passive", "changing-sequencer")
"""The phases of the dynamic hybrid protocol in which a site is about to change role or sequencer."""


def group_sites(simulation: Simulation) -> list[GroupSite]:
    """The sites of a live group."""
    return [site for site in simulation.sites if isinstance(site, GroupSite)]


def phase_of(site: GroupSite) -> str:
    """What a site is doing with regard to its view."""
    if site.crashed:
        return "down"
    group, views = layers_of(site)
    if views.view.id == 0:
        return "starting"
    if views.outside or not views.running:
        return "outside"
    if views.blocked:
        return "blocked"
    if views.phase != "open":
        return str(views.phase)
    return "steady" if group.aligned else "aligning"


def switch_of(site: GroupSite) -> str | None:
    """What a site is doing with regard to its role, where roles change: None if it keeps it."""
    if site.crashed:
        return None
    phase = getattr(layers_of(site)[0].ordering, "phase", None)
    return phase if phase in SWITCHING else None


def layers_of(site: GroupSite) -> tuple[Any, Any]:
    """The site group and the view synchrony of a site."""
    return site.group, site.views
