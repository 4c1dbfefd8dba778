"""What the explorer keeps of a site of a live group."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct

from ordercast.core.canonical import Frozen
from ordercast.core.entries import Entry
from ordercast.core.events import TimerKey
from ordercast.core.ids import SiteId


class Budget(Struct, frozen=True, kw_only=True):
    """How often something may still happen at a site."""

    multicasts: int = 0
    ticks: int = 0
    tells: int = 0
    """How often it may tell how much it has ordered, when no multicast does."""
    retries: int = 0
    """How often it may ask again for what is missing of a cut, or of the order."""
    crashes: int = 0
    restarts: int = 0


NOTHING = Budget()


class Disk(NamedTuple):
    """What survives a crash."""

    saved: tuple[tuple[str, bytes], ...] = ()
    """By key, in the order of the keys."""
    log: tuple[Entry, ...] = ()
    final: int = 0


class SiteState(NamedTuple):
    """Everything that a site's future depends on."""

    site: SiteId
    frozen: Frozen | None = None
    """None while it is down."""
    life: int = 0
    multicasts: int = 0
    """How many messages its participants have multicast in this life."""
    ticks: int = 0
    """How often much time has passed: its clock."""
    timers: tuple[TimerKey, ...] = ()
    """Those that are set, in a fixed order."""
    disk: Disk = Disk()
    budget: Budget = NOTHING
