"""The effects of an event at a site of a live group, as they add up."""

from __future__ import annotations

from typing import Any, assert_never

import msgspec

from ordercast.core.canonical import Frozen
from ordercast.core.deliveries import Finalized, HistoryWanted, Logged, SnapshotWanted, Truncated
from ordercast.core.effects import Cancel, Deliver, Effect, Install, Multicast, Record, Save, Send, SetTimer
from ordercast.core.ids import SiteId
from ordercast.core.wire import Wire
from ordercast.protocols.links.frames import Reset, Unreliable
from ordercast.protocols.membership.messages import Alive
from ordercast.verify.views.events import Arrives, Drops, Resets
from ordercast.verify.views.states import Disk, SiteState


class Performed:
    """What has been done so far."""

    def __init__(self, state: SiteState, *, heartbeats: bool) -> None:
        self._state = state
        self._heartbeats = heartbeats
        self._timers = set(state.timers)
        self._saved = dict(state.disk.saved)
        self._log = list(state.disk.log)
        self._final = state.disk.final
        self._all: list[Effect] = []
        self.sends: list[tuple[SiteId, Any]] = []
        self.happenings: list[Any] = []

    def perform(self, effect: Effect) -> None:
        """One more."""
        self._all.append(effect)
        match effect:
            case Send(message=Unreliable(message=Alive())) if not self._heartbeats:
                pass
            case Send(to=to, message=message):
                self.sends.append((to, message))
            case Deliver(message=message):
                self._deliver(message)
            case Save(key=key, value=value):
                self._saved[key] = value
            case SetTimer(key=key):
                self._timers.add(key)
            case Cancel(key=key):
                self._timers.discard(key)
            case Record() | Install():
                pass
            case Multicast():
                raise AssertionError("below view synchrony nobody multicasts")
            case _:
                assert_never(effect)

    def _deliver(self, message: Any) -> None:
        """To the participants; and to the disk, what is for it."""
        match message:
            case Logged(entry=entry):
                self._log.append(entry)
            case Truncated(from_position=position):
                self._log = [entry for entry in self._log if entry.position < position]
            case Finalized(below=below):
                self._final = below
            case HistoryWanted() | SnapshotWanted():
                raise AssertionError("no scope is so long that anybody needs more than what is in memory")
        self.happenings.append(message)

    def all(self) -> tuple[Effect, ...]:
        """In the order in which they were put."""
        return tuple(self._all)

    def after(self, frozen: Frozen) -> SiteState:
        """The state of the site that has done all this."""
        disk = Disk(tuple(sorted(self._saved.items())), tuple(self._log), self._final)
        return self._state._replace(frozen=frozen, timers=tuple(sorted(self._timers, key=repr)), disk=disk)

    def arrival(self, sent: Any, wire: Wire) -> Arrives | Drops | Resets:
        """What has been sent, as the event that it will be."""
        me = self._state.site
        match sent:
            case Reset(incarnation=life):
                return Resets(life)
            case Unreliable(message=Alive() as alive):
                alive = msgspec.structs.replace(alive, echo_us=-1, echo_age_us=0)
                return Drops(me, wire.encode(alive), True)
            case Unreliable(message=message):
                return Drops(me, wire.encode(message), False)
            case _:
                return Arrives(me, wire.encode(sent))
