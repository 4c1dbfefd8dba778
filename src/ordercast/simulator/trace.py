"""What happens in a simulation as trace records on disk."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

from ordercast.core.deliveries import Delivery
from ordercast.core.effects import Note
from ordercast.core.ids import SiteId
from ordercast.core.messages import Bundle
from ordercast.core.recorder import Recorder
from ordercast.core.trace import TraceSink
from ordercast.core.views import View
from ordercast.records.traces import TraceWriter
from ordercast.simulator.group_site import GroupSite
from ordercast.simulator.observer import Observer
from ordercast.simulator.simulation import Simulation


class SimulationRecorder(Observer):
    """Gives the records of all sites to one sink, in the order in which things happen."""

    def __init__(self, run: str, sink: TraceSink) -> None:
        self._run = run
        self._sink = sink
        self._simulation: Simulation
        self._recorders: list[Recorder] = []

    def on_start(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._recorders = [self._recorder(site, 0) for site in simulation.topology.sites]

    def _recorder(self, site: SiteId, incarnation: int) -> Recorder:
        resilience = self._simulation.scenario.protocol.resilience
        return Recorder(self._run, site, incarnation, self._sink, resilience)

    def on_view(self, at_us: int, site: SiteId, view: View) -> None:
        if not self._simulation.is_group:
            self._recorders[site].on_view(at_us, view)

    def on_multicast(self, at_us: int, site: SiteId, bundle: Bundle) -> None:
        self._recorders[site].on_multicast(at_us, bundle)

    def on_deliver(self, at_us: int, site: SiteId, bundle: Bundle) -> None:
        if not self._simulation.is_group:
            self._recorders[site].on_deliver(at_us, bundle)

    def on_group(self, at_us: int, site: SiteId, event: Delivery) -> None:
        self._recorders[site].on_group(at_us, event)

    def on_note(self, at_us: int, site: SiteId, note: Note) -> None:
        self._recorders[site].on_note(at_us, note)

    def on_crash(self, at_us: int, site: SiteId) -> None:
        self._recorders[site].on_crash(at_us)

    def on_recover(self, at_us: int, site: SiteId, incarnation: int) -> None:
        member = self._simulation.sites[site]
        assert isinstance(member, GroupSite), "on the ideal stack nobody comes back"
        self._recorders[site] = self._recorder(site, incarnation)
        self._recorders[site].on_recover(at_us, member.final)

    def on_end(self, at_us: int) -> None:
        settled = self._settled()
        for site in self._simulation.sites:
            if not site.crashed:
                self._recorders[site.id].on_end(at_us, settled and site.id in self._simulation.core)

    def _settled(self) -> bool:
        simulation = self._simulation
        waiting = [site.id for site in simulation.sites if not site.crashed and site.layer.waiting_for() is not None]
        return simulation.settled() if simulation.is_group else not waiting


class TraceObserver(SimulationRecorder):
    """Writes the trace of one run. The file is there once the run has ended, or `close()` was called."""

    def __init__(self, run: str, directory: Path) -> None:
        self._writer = TraceWriter(directory, run)
        super().__init__(run, self._writer)

    @property
    def path(self) -> Path:
        """Where the finished file lies."""
        return self._writer.path

    def on_end(self, at_us: int) -> None:
        super().on_end(at_us)
        self.close()

    def close(self) -> None:
        """Write what is left and give the file its name. Closing again does nothing."""
        self._writer.close()

    def __enter__(self) -> TraceObserver:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._writer.__exit__(kind, error, traceback)
