"""What the sites of a live group are doing with regard to their view."""

from __future__ import annotations

from typing import Any

from ordercast.simulator.group_site import GroupSite
from ordercast.simulator.simulation import Simulation


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


def layers_of(site: GroupSite) -> tuple[Any, Any]:
    """The site group and the view synchrony of a site."""
    return site.group, site.views
