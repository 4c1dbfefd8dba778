"""The one shape of everything between participants and sockets: events in, effects out."""

from __future__ import annotations

from typing import Any, Protocol

from msgspec import Struct

from ordercast.core.effects import Out
from ordercast.core.events import Event, Now
from ordercast.core.ids import SiteId


class Waiting(Struct, frozen=True):
    """What must happen before a layer can go on, for people: `what` and the site it has to come from."""

    what: str
    site: SiteId


class Layer(Protocol):
    """A deterministic state machine. Implementations are msgspec Structs: the fields are the whole state.

    A layer opens no socket, reads no clock, draws no random number and never waits. The same layer is
    run by the simulator, by the explorer and by a live site.
    """

    @property
    def WIRE(self) -> Any:
        """The union of the message types this layer exchanges with its peers; the wire form follows from it.

        A layer that wraps messages of the layer above names a generic type here, and is generic itself.
        """

    def handle(self, event: Event, now: Now, out: Out) -> None:
        """React to one event by changing the state and putting effects into `out`."""

    def waiting_for(self) -> Waiting | None:
        """What holds this layer up; None when nothing is held."""
