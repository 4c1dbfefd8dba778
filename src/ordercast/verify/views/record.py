"""What the judge of a live group keeps, as immutable values: what each site has shown, and what is agreed."""

from __future__ import annotations

from typing import NamedTuple, assert_never

from ordercast.core.entries import Content, Entry, RoleChange
from ordercast.core.ids import MessageId, SiteId
from ordercast.core.messages import Bundle
from ordercast.core.views import View

Place = tuple[int, int]
"""An entry of an order: the digest of the order up to it, and what it is, as `identity_of` says."""


def place_of(entry: Entry) -> Place:
    """What an order says at the entry's position."""
    return entry.digest, identity_of(entry.content)


def identity_of(content: Content) -> int:
    """A message's id; negative for a view or a change of role."""
    match content:
        case Bundle(id=id):
            return int(id)
        case View(id=view):
            return -1 - 4 * view
        case RoleChange(site=site, active=active):
            return -2 - 4 * (2 * site + active)
        case _:
            assert_never(content)


class Standing(NamedTuple):
    """How far one site is."""

    up: bool = False
    life: int = 0
    given: tuple[int, ...] = ()
    """How many messages its participants have multicast, in each life."""
    log: tuple[Place, ...] = ()
    """What its disk says is ordered. Positions are indices: every bundle has one body."""
    final: int = 0
    shown: int = 0
    """The next position to show to its participants."""
    retracted: bool = False
    view: View | None = None
    """The newest that it has installed in this life ..."""
    known: View | None = None
    """... and in any."""


class Agreed(NamedTuple):
    """What sites must agree on."""

    final: tuple[Place, ...] = ()
    """The one final order."""
    views: tuple[View, ...] = ()
    """Every view that some site has installed, by number."""
    places: tuple[tuple[int, int, Place], ...] = ()
    """For each view in some order: its number, its position, and what the order says there."""
    pasts: tuple[tuple[MessageId, int], ...] = ()
    """Of messages that are not final: up to which position everything precedes them."""


class Ledger(NamedTuple):
    """The whole record."""

    sites: tuple[Standing, ...]
    agreed: Agreed = Agreed()

    def with_site(self, site: SiteId, standing: Standing) -> Ledger:
        """With another standing of one site."""
        return self._replace(sites=(*self.sites[:site], standing, *self.sites[site + 1 :]))
