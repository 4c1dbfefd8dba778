"""What the judge of a live group keeps, as immutable values: what each site has shown, and what is agreed."""

from __future__ import annotations

from typing import NamedTuple

from ordercast.core.entries import Entry
from ordercast.core.ids import MessageId, SiteId
from ordercast.core.messages import Bundle
from ordercast.core.views import View

Place = tuple[int, int]
"""An entry of an order: the digest of the order up to it, and what it is: a message's id, or -1 - the view's."""


def place_of(entry: Entry) -> Place:
    """What an order says at the entry's position."""
    content = entry.content
    return entry.digest, int(content.id) if isinstance(content, Bundle) else -1 - content.id


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
    """The newest that it has installed in this life."""


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
