"""A simulated site: the host of one stack, performing its effects in virtual time."""

from __future__ import annotations

from collections import deque
from heapq import heappush
from typing import TYPE_CHECKING, Any

from ordercast.core.effects import Note
from ordercast.core.events import Event, FromAbove, FromBelow, TimerFired, TimerKey
from ordercast.core.ids import MessageId, SiteId, pack_message_id
from ordercast.core.layer import Layer
from ordercast.core.messages import Bundle, Level
from ordercast.core.views import View
from ordercast.simulator.network import Handler

if TYPE_CHECKING:
    from ordercast.simulator.simulation import Simulation


class SimulatedSite:
    """Feeds events to the stack and is its `Out`.

    Effects are performed as they are put, which comes to the same as afterwards: nothing but the agenda and the
    observers sees them before the stack has finished with the event.
    """

    def __init__(self, site: SiteId, simulation: Simulation) -> None:
        self.id = site
        self.layer: Layer
        self.incarnation = 0
        """Which of its lives this is."""
        self.crashed = False
        self.paused = 0
        """How many pauses have begun and not ended."""
        self._simulation = simulation
        self._postponed: list[tuple[Handler, Any]] = []
        self._came_back: deque[Event] = deque()
        self._timers: dict[TimerKey, int] = {}
        self._sent = 0
        self.saved: dict[str, bytes] = {}

    # --- events ---

    def handle(self, event: Event) -> None:
        """An event of the host: a message arrives, a participant multicasts, a timer fires."""
        if self.crashed:
            return
        if self.paused:
            self._postponed.append((self.handle, event))
            return
        self._simulation.events += 1
        self.handle_now(event)

    def handle_now(self, event: Event) -> None:
        """Let the stack handle an event, and after it what comes back to this site at once."""
        now = self._simulation.now
        self.layer.handle(event, now, self)
        while self._came_back:
            self.layer.handle(self._came_back.popleft(), now, self)

    def participant_multicasts(self, body: bytes, level: Level = Level.AGREED) -> None:
        """Make a bundle of one message and hand it to the stack."""
        if self.crashed or self.paused:
            return
        bundle = Bundle(self.next_message, (body,), level)
        self._sent += 1
        self._simulation.observe_multicast(self.id, bundle)
        self.handle(FromAbove(bundle))

    @property
    def next_message(self) -> MessageId:
        """The id of the message that is multicast next."""
        return pack_message_id(self.id, self.incarnation, self._sent)

    def crash(self) -> None:
        """Stop for ever."""
        self.crashed = True

    def resume(self, incarnation: int) -> None:
        """End a pause of this life: what came meanwhile is handled now. A crash has ended it early."""
        if self.crashed or incarnation != self.incarnation:
            return
        self.paused -= 1
        if self.paused:
            return
        postponed, self._postponed = self._postponed, []
        for handler, argument in postponed:
            handler(argument)

    def _on_timer(self, armed: tuple[TimerKey, int]) -> None:
        if self.paused:
            self._postponed.append((self._on_timer, armed))
            return
        key, sequence = armed
        if self._timers.get(key) == sequence:
            del self._timers[key]
            self.handle(TimerFired(key))

    # --- effects ---

    def multicast(self, message: Any) -> None:
        event = FromBelow(self.id, message)
        self._came_back.append(event)
        simulation = self._simulation
        simulation.multicasts += 1
        simulation.transmissions += simulation.network.multicast(self.id, event, simulation.now_us)

    def send(self, to: SiteId, message: Any) -> None:
        simulation = self._simulation
        simulation.transmissions += 1
        simulation.network.send(self.id, to, FromBelow(self.id, message), simulation.now_us)

    def deliver(self, sender: SiteId, message: Any) -> None:
        if isinstance(message, Bundle):  # changes of role leave a note
            self._simulation.observe_delivery(self.id, message)

    def install(self, view: View) -> None:
        self._simulation.observe_view(self.id, view)

    def set_timer(self, key: TimerKey, after_us: int) -> None:
        simulation = self._simulation
        sequence = self._timers[key] = simulation.network.next_sequence()
        heappush(simulation.agenda, (simulation.now_us + after_us, sequence, self._on_timer, (key, sequence)))

    def cancel(self, key: TimerKey) -> None:
        self._timers.pop(key, None)

    def save(self, key: str, value: bytes, *, binding: bool = True) -> None:
        self.saved[key] = value

    def record(self, note: Note) -> None:
        self._simulation.observe_note(self.id, note)
