"""What can befall a site of a live group, and what can befall a channel."""

from __future__ import annotations

from msgspec import Struct

from ordercast.core.events import TimerKey
from ordercast.core.ids import SiteId
from ordercast.verify.views.states import Budget

# --- at a site ---


class Boots(Struct, frozen=True):
    """The host starts a site for the first time."""


class Allows(Struct, frozen=True):
    """From here on everything is tried that this budget allows."""

    budget: Budget


class Multicasts(Struct, frozen=True):
    """A participant of the site multicasts its next message."""


class Arrives(Struct, frozen=True):
    """A message comes out of the stream of a site."""

    sender: SiteId
    data: bytes


class Drops(Struct, frozen=True):
    """A message that travels by itself comes from a site."""

    sender: SiteId
    data: bytes
    heartbeat: bool


class Ticks(Struct, frozen=True):
    """Much time passes at the site. Nothing has come from the silent ones meanwhile, but heartbeats from the others
    whom it does not suspect."""

    silent: tuple[SiteId, ...] = ()
    heartbeats: bool = False
    """Whether the heartbeats that the site itself sends now get anywhere."""


class Fires(Struct, frozen=True):
    """Another timer runs out."""

    key: TimerKey


class Crashes(Struct, frozen=True):
    """The site goes down, for ever or until it restarts."""

    lost: bool = False
    """Whether all that is under way from it is lost."""


class Restarts(Struct, frozen=True):
    """The site comes up in a new life, with what is on its disk."""


HostEvent = Boots | Allows | Multicasts | Arrives | Drops | Ticks | Fires | Crashes | Restarts

# --- in a channel ---


class Resets(Struct, frozen=True):
    """The sender begins a new stream, to this life of the receiver."""

    life: int


class Vanishes(Struct, frozen=True):
    """All that is under way is lost."""


class GoesDown(Struct, frozen=True):
    """The receiver has crashed."""

    forever: bool


class ComesUp(Struct, frozen=True):
    """The receiver is back, in its next life."""


ChannelEvent = Resets | Vanishes | GoesDown | ComesUp

AnyEvent = HostEvent | ChannelEvent
