"""What happens in a simulation, for whoever wants to know: statistics, checks, traces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ordercast.core.deliveries import Delivery
from ordercast.core.effects import Note
from ordercast.core.ids import SiteId
from ordercast.core.messages import Bundle
from ordercast.core.views import View
from ordercast.simulator.scenario import Fault

if TYPE_CHECKING:
    from ordercast.simulator.simulation import Simulation


class Observer:
    """Override what is of interest. Times are virtual microseconds."""

    def on_start(self, simulation: Simulation) -> None:
        """The simulation that is watched has been set up; nothing has happened yet."""

    def on_view(self, at_us: int, site: SiteId, view: View) -> None:
        """A site has installed a view."""

    def on_multicast(self, at_us: int, site: SiteId, bundle: Bundle) -> None:
        """A participant of the site multicasts."""

    def on_deliver(self, at_us: int, site: SiteId, bundle: Bundle) -> None:
        """A bundle is delivered to the site's participants."""

    def on_group(self, at_us: int, site: SiteId, event: Delivery) -> None:
        """What a live group tells its host and participants, deliveries included."""

    def on_note(self, at_us: int, site: SiteId, note: Note) -> None:
        """A protocol has recorded something."""

    def on_crash(self, at_us: int, site: SiteId) -> None:
        """A site has crashed."""

    def on_recover(self, at_us: int, site: SiteId, incarnation: int) -> None:
        """A crashed site comes up again, as a new life."""

    def on_fault(self, at_us: int, fault: Fault) -> None:
        """A fault of the scenario begins now."""

    def on_traffic_end(self, at_us: int) -> None:
        """No more traffic: what follows is the drain, which is checked and not measured."""

    def on_end(self, at_us: int) -> None:
        """Nothing happens any more."""


class Measure(Observer):
    """Watches one run, and ends up with figures."""

    def figures(self) -> Mapping[str, float]:
        """What came of it, by name, once the run has ended."""
        raise NotImplementedError


MakeMeasure = Callable[[], Measure]
"""Makes an observer for a run; it must be importable by name, for it is called in other processes."""


def overrides(observer: Observer, hook: str) -> bool:
    """Whether the observer wants to hear of something: what nobody listens to need not be told."""
    return getattr(type(observer), hook) is not getattr(Observer, hook)
