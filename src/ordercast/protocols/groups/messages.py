"""What the site groups of members tell each other."""

from __future__ import annotations

from typing import Generic, TypeVar

from msgspec import Struct

from ordercast.core.deliveries import Snapshot
from ordercast.core.entries import Entry
from ordercast.core.ids import SiteId
from ordercast.core.messages import Bundle
from ordercast.protocols.groups.log import Base, Roles, Sessions

Inner = TypeVar("Inner")


class Ordering(Struct, Generic[Inner], frozen=True, array_like=True, tag="ordering", gc=False):
    """A multicast of the ordering protocol."""

    ordered: int
    """How long the sender's log is: with a majority of these, positions are final."""
    message: Inner
    plan: int = 0
    """The number of the plan under which the protocol runs."""


class Private(Struct, Generic[Inner], frozen=True, array_like=True, tag="private", gc=False):
    """A message of the ordering protocol to one site."""

    message: Inner
    plan: int = 0


class Begun(Struct, frozen=True, array_like=True, tag="begun", gc=False):
    """The sender has gone over to a plan: for its sake no earlier one need go on."""

    ordered: int
    plan: int


class Unordered(Struct, frozen=True, array_like=True, tag="unordered", gc=False):
    """A fifo or causal bundle."""

    ordered: int
    bundle: Bundle
    void: tuple[Bundle, ...] = ()
    """What the sender has retracted, if it has not told that in this view: who answers the bundle follows it too."""


class Standing(Struct, frozen=True, array_like=True, tag="standing", gc=False):
    """How far the sender has ordered, when nothing else tells it; and its digest of the final order."""

    ordered: int
    final: int
    digest: int


class Fetch(Struct, frozen=True, array_like=True, tag="fetch"):
    """A member without the whole order asks one that has it for the rest."""

    start: int
    digest: int
    """Of the asker's order below `start`, which is final there."""


class Beginning(Struct, frozen=True, array_like=True):
    """Where a member begins that is too far behind for entries alone."""

    snapshot: Snapshot
    digest: int
    """Of the order below the snapshot's position."""
    roles: Roles
    sessions: Sessions
    """At that position."""
    start_of_view: Base
    """The order as the view began, if the snapshot reaches beyond that."""


class Supplement(Struct, frozen=True, array_like=True, tag="supplement"):
    """Entries of the order from where a member asked, or from a snapshot on, up to the beginning of the view."""

    entries: tuple[Entry, ...]
    end: int
    """Where the order stands as the view begins: the asker is done when it has all up to here."""
    sessions: Sessions
    """At `end`; empty if more is to come."""
    begin: Beginning | None = None
    final: int = 0
    """If more is to come: what is below is final, and need not wait for the rest."""


class Probe(Struct, frozen=True, array_like=True, tag="probe"):
    """Asks for the receiver's digests of the order below these positions: ours differs below the last of them."""

    places: tuple[int, ...]


class Digests(Struct, frozen=True, array_like=True, tag="digests"):
    """Answers `Probe`, as far as the log reaches: positions, and the digests of the order below them."""

    known: tuple[tuple[int, int], ...]


GroupMessage = Begun | Unordered | Standing | Fetch | Supplement | Probe | Digests


class Donor(Struct):
    """At a member without the whole order: whom to ask next."""

    sites: tuple[SiteId, ...] = ()
    turn: int = 0

    def next(self) -> SiteId | None:
        """One that has the whole order after the other."""
        self.turn += 1
        return self.sites[self.turn % len(self.sites)] if self.sites else None
