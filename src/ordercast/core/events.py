"""What can happen to a layer. Time is an input: it comes with the event."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ordercast.core.ids import SiteId
from ordercast.core.views import View

TimerKey = str | tuple[Any, ...]
"""Belongs to the layer that set the timer; a stack puts the layer's index before it."""


class Now(Struct, frozen=True, gc=False):
    """The site's clocks at the event. Only clock-driven protocols may read the wall part."""

    monotonic_us: int
    wall_us: int
    wall_error_us: int


class FromAbove(Struct, frozen=True, gc=False):
    """The layer above (or a participant) multicasts a message, or sends it to one site."""

    message: Any
    to: SiteId | None = None


class FromBelow(Struct, frozen=True, gc=False):
    """The layer below (or the network) hands up a message from a site."""

    sender: SiteId
    message: Any


class TimerFired(Struct, frozen=True, gc=False):
    """A timer that this layer set, and neither replaced nor cancelled, has run out."""

    key: TimerKey


class ViewInstalled(Struct, frozen=True, gc=False):
    """The layer below has installed a view."""

    view: View
    actives: tuple[SiteId, ...] = ()
    """Who issues tickets as it begins, for protocols whose roles change; empty: the protocol's own rule decides."""


class ViewClosed(Struct, frozen=True, gc=False):
    """All messages of the view that count have been handed up: deliver every one of them now, before the next view.

    What a survivor may have delivered already keeps its place; the rest goes in an order that follows from the
    messages alone.
    """

    survivors: tuple[SiteId, ...]
    """The members that have gone through the whole view and go on to the next."""


class Started(Struct, frozen=True, gc=False):
    """The host is up: a layer that acts by itself sets its first timers."""


class Flush(Struct, frozen=True, gc=False):
    """No more traffic is coming that could carry tickets: from here on they travel at once."""


Event = FromAbove | FromBelow | TimerFired | ViewInstalled | ViewClosed | Started | Flush
