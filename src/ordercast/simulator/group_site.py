"""A simulated site of a live group: the full stack, an ordered log that survives crashes, a clock of its own."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Any

from ordercast.core.deliveries import (
    Delivered,
    Entered,
    Finalized,
    History,
    HistoryWanted,
    Logged,
    Snapshot,
    Taken,
    Truncated,
)
from ordercast.core.entries import Entry
from ordercast.core.events import Event, FromAbove, Now, Started, TimerKey
from ordercast.core.ids import MessageId, SiteId
from ordercast.core.layer import Layer
from ordercast.core.participants import Attach, Detach, JoinGroup, LeaveGroup, Speak
from ordercast.core.plans import Plan
from ordercast.core.stack import Stack
from ordercast.protocols.full import Life, full_stack
from ordercast.protocols.groups.building import Recovered, needed_from
from ordercast.protocols.groups.participants import Participants
from ordercast.protocols.groups.site_group import SiteGroup
from ordercast.protocols.membership.view_synchrony import ViewSynchrony
from ordercast.protocols.ordering.setup import Configured
from ordercast.simulator.site import SimulatedSite

if TYPE_CHECKING:
    from ordercast.simulator.simulation import Simulation


HISTORY_ENTRIES = 100
"""So many entries of its log a simulated host gives at once."""


class GroupSite(SimulatedSite):
    """Crashes, and comes back as a new life with what it has saved and logged."""

    layer: Stack

    def __init__(self, site: SiteId, simulation: Simulation) -> None:
        super().__init__(site, simulation)
        self.log: list[Entry] = []
        """What the ordered log on disk holds."""
        self.final = 0
        self.drift_ppm = 0
        self._drift_from = (0, 0)
        """(true time, time of this site's monotonic clock) when the drift last changed."""
        self._wall_ahead_us = 0

    # --- lives ---

    def boot(self, ordering: Layer, configured: Configured, resilience: int, retained_positions: int) -> None:
        """Begin a life, with no more of the log than it may need: a host forgets the rest some day."""
        needed = needed_from(self.saved)
        entries = tuple(entry for entry in self.log if entry.position >= needed)
        recovered = Recovered(dict(self.saved), entries, self.final, retained_positions)
        sites = configured.setup.members
        life = Life(self.id, sites, self.incarnation, self.now().monotonic_us, recovered, configured)
        self.layer = full_stack(ordering, life, resilience)
        self.handle(Started())

    def crash(self) -> None:
        """Lose everything but what is on disk."""
        self.crashed = True
        self.paused = 0
        self._postponed.clear()
        self._timers.clear()

    def revive(self) -> None:
        """Come up again as a new life; `boot` follows."""
        self.crashed = False
        self.incarnation += 1

    @property
    def next_message(self) -> MessageId:
        """The id of the message that is multicast next."""
        return self.participants.next_message

    def participant_says(self, asked: Speak | Attach | Detach | JoinGroup | LeaveGroup) -> None:
        """A participant with a session multicasts, comes, joins or leaves a group, or goes."""
        if self.crashed or self.paused:
            return
        self.handle(FromAbove(asked))

    @property
    def participants(self) -> Participants:
        """The layer on top."""
        layer = self.layer.layers[0]
        assert isinstance(layer, Participants)
        return layer

    @property
    def group(self) -> SiteGroup[Any]:
        """The layer below it."""
        layer = self.layer.layers[1]
        assert isinstance(layer, SiteGroup)
        return layer

    @property
    def views(self) -> ViewSynchrony[Any]:
        """The layer below that."""
        layer = self.layer.layers[2]
        assert isinstance(layer, ViewSynchrony)
        return layer

    def standing(self) -> tuple[int, int, int, Plan]:
        """View, length of the order, its digest, and under which plan it is ordered."""
        return self.views.view.id, self.group.log.length, self.group.log.digest, self.group.plan

    def is_idle(self) -> bool:
        """Whether nothing is waited for, and no message of the view is kept for others."""
        return self.layer.waiting_for() is None and self.views.traffic.kept_count() == 0

    def suspicion_us(self, site: SiteId) -> int:
        """So much silence of another site makes this one suspect it, as it has measured their round trips so far."""
        return self.views.suspector.peers[site].timeout_us()

    # --- clocks ---

    def now(self) -> Now:
        """What this site's clocks show."""
        true_us, monotonic_us = self._drift_from
        passed_us = self._simulation.now_us - true_us
        monotonic_us += passed_us + passed_us * self.drift_ppm // 1_000_000
        return Now(monotonic_us, monotonic_us + self._wall_ahead_us, 0)

    def set_drift(self, ppm: int) -> None:
        """From now on the clock runs fast by so many parts in a million."""
        self._drift_from = (self._simulation.now_us, self.now().monotonic_us)
        self.drift_ppm = ppm

    def step_clock(self, by_us: int) -> None:
        """The wall clock jumps; the monotonic one does not."""
        self._wall_ahead_us += by_us

    def set_timer(self, key: TimerKey, after_us: int) -> None:
        super().set_timer(key, after_us - after_us * self.drift_ppm // 1_000_000)

    def handle_now(self, event: Event) -> None:
        self.layer.handle(event, self.now(), self)
        while self._came_back:
            self.layer.handle(self._came_back.popleft(), self.now(), self)

    # --- effects ---

    def deliver(self, sender: SiteId, message: Any) -> None:
        match message:
            case Delivered(bundle=bundle):
                self._simulation.observe_delivery(self.id, bundle)
            case Taken(bundle=bundle):
                self._simulation.observe_multicast(self.id, bundle)
            case Logged(entry=entry):
                self.log.append(entry)
            case Truncated(from_position=position):
                self.log = [entry for entry in self.log if entry.position < position]
            case Finalized(below=below):
                self.final = below
            case Snapshot(position=position):
                self.log.clear()
                self.final = position
            case HistoryWanted() if self._simulation.hosts_keep_history:
                self._came_back.append(FromAbove(self._history(message)))
            case HistoryWanted(asker=asker, start=start):
                self._came_back.append(FromAbove(History(asker, start)))
            case Entered(view=view):
                self._simulation.observe_view(self.id, view)
            case _:
                pass
        self._simulation.observe_group(self.id, message)

    def _history(self, wanted: HistoryWanted) -> History:
        """From the log on disk, if it reaches so far back."""
        at = bisect_left(self.log, wanted.start, key=lambda entry: entry.position)
        before = self.log[at - 1].digest if at else 0
        reaches = self.log[at - 1].end == wanted.start if at else wanted.start == 0
        entries = self.log[at : at + HISTORY_ENTRIES] if reaches else []
        return History(wanted.asker, wanted.start, tuple(entries), before)
