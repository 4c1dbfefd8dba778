"""What a study measures beyond latencies: observers that end up with figures."""

from __future__ import annotations

import math
from collections.abc import Mapping

from ordercast.core.ids import SiteId
from ordercast.core.messages import Bundle
from ordercast.core.views import View
from ordercast.simulator.group_site import GroupSite
from ordercast.simulator.observer import Measure as Measure
from ordercast.simulator.simulation import Simulation


class Silence(Measure):
    """How long the survivors of a crash deliver nothing, beside what they took to suspect the site that crashed.

    - `silence_ms`: the longest interval without any delivery at a site that is up to the end, between the warm-up and
      the end of the traffic, over all such sites; `least_silence_ms`: that of the site which has the shortest.
    - `suspicion_ms`: the silence after which the lowest of the survivors, who coordinates the change of view, suspects
      the first site that crashed; `longest_suspicion_ms`: the same of the survivor that waits longest.
    - `view_ms`: from that crash until every survivor has a view without the site.

    A figure that does not apply is NaN.
    """

    def on_start(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._warmup_us = round(simulation.scenario.warmup_s * 1e6)
        sites = simulation.topology.sites
        self._delivered_us = dict.fromkeys(sites, self._warmup_us)
        self._longest_us = dict.fromkeys(sites, 0)
        self._crash: tuple[int, SiteId] | None = None
        self._suspicion_us: dict[SiteId, int] = {}
        self._without_us: dict[SiteId, int] = {}
        """When each survivor got a view without the site that crashed."""
        self._ended = False

    def on_deliver(self, at_us: int, site: SiteId, bundle: Bundle) -> None:
        if self._ended or at_us < self._warmup_us:
            return
        silent_us = at_us - self._delivered_us[site]
        self._delivered_us[site] = at_us
        if silent_us > self._longest_us[site]:
            self._longest_us[site] = silent_us

    def on_crash(self, at_us: int, site: SiteId) -> None:
        if self._crash is None:
            self._crash = at_us, site
            for other in self._simulation.sites:
                if isinstance(other, GroupSite) and other.id != site:
                    self._suspicion_us[other.id] = other.suspicion_us(site)

    def on_view(self, at_us: int, site: SiteId, view: View) -> None:
        if self._crash is not None and self._crash[1] not in view.members:
            self._without_us.setdefault(site, at_us)

    def on_traffic_end(self, at_us: int) -> None:
        for site in self._survivors():
            self._longest_us[site] = max(self._longest_us[site], at_us - self._delivered_us[site])
        self._ended = True

    def _survivors(self) -> list[SiteId]:
        return [site.id for site in self._simulation.sites if not site.crashed]

    def figures(self) -> Mapping[str, float]:
        survivors = self._survivors()
        silences = [self._longest_us[site] for site in survivors]
        suspicions = [self._suspicion_us[site] for site in survivors if site in self._suspicion_us]
        figures_us: dict[str, float] = {
            "silence_ms": max(silences),
            "least_silence_ms": min(silences),
            "suspicion_ms": suspicions[0] if suspicions else math.nan,
            "longest_suspicion_ms": max(suspicions, default=math.nan),
            "view_ms": self._view_us(survivors),
        }
        return {name: figure_us / 1000 for name, figure_us in figures_us.items()}

    def _view_us(self, survivors: list[SiteId]) -> float:
        if self._crash is None or any(site not in self._without_us for site in survivors):
            return math.nan
        return max(self._without_us[site] for site in survivors) - self._crash[0]
