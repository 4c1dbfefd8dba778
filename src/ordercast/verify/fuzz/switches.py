"""Counts changes of role and sequencer in a case, and what they met: an end of the view, or a fault."""

from __future__ import annotations

from ordercast.core.deliveries import Delivery, Entered
from ordercast.core.effects import Note
from ordercast.core.ids import SiteId
from ordercast.simulator.observer import Observer
from ordercast.simulator.scenario import Fault
from ordercast.simulator.simulation import Simulation
from ordercast.verify.fuzz.phases import group_sites, phase_of, switch_of

KINDS = {
    "to active": "going active",
    "to passive": "going passive",
    "sequencer": "changing sequencer",
    "aborted": "aborted by the last active",
    "reassigned": "reassigning",
    "took over": "taking over",
}
"""By how their notes begin."""

BEGUN = ("going active", "going passive", "changing sequencer")
"""Those that take time: until the switch, or what the old sequencer has left, is delivered."""

VIEW_ENDED = "end of view"


class SwitchCounter(Observer):
    """Watches one run.

    A switch that takes time meets what befalls the group while it is under way; one that is done at once meets the
    phase of its site's view, unless that is steady.
    """

    def __init__(self) -> None:
        self.switches: dict[str, int] = {}
        self.met: dict[str, int] = {}
        """For each "kind / what it met" how often."""
        self._under_way: dict[SiteId, str] = {}

    def on_start(self, simulation: Simulation) -> None:
        self._sites = {site.id: site for site in group_sites(simulation)}

    def on_note(self, at_us: int, site: SiteId, note: Note) -> None:
        if note.kind != "role" or note.detail is None:
            return
        kind = next(kind for start, kind in KINDS.items() if note.detail.startswith(start))
        self.switches[kind] = self.switches.get(kind, 0) + 1
        if kind in BEGUN:
            self._under_way[site] = kind
        elif (phase := phase_of(self._sites[site])) != "steady":
            self._meets(kind, phase)

    def on_group(self, at_us: int, site: SiteId, event: Delivery) -> None:
        if isinstance(event, Entered):
            if site in self._under_way:
                self._meets(self._under_way.pop(site), VIEW_ENDED)
        elif site in self._under_way and phase_of(self._sites[site]) == "steady" and not switch_of(self._sites[site]):
            del self._under_way[site]

    def on_fault(self, at_us: int, fault: Fault) -> None:
        for kind in dict.fromkeys(self._under_way.values()):
            self._meets(kind, fault.kind)

    def on_crash(self, at_us: int, site: SiteId) -> None:
        self._under_way.pop(site, None)

    def _meets(self, kind: str, what: str) -> None:
        key = f"{kind} / {what}"
        self.met[key] = self.met.get(key, 0) + 1
