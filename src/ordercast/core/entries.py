"""An entry of the ordered log."""

from __future__ import annotations

from msgspec import Struct

from ordercast.core.ids import SiteId
from ordercast.core.messages import Bundle
from ordercast.core.views import View


class RoleChange(Struct, frozen=True, array_like=True, tag=2, gc=False):
    """A site begins to issue tickets, or stops (hybrid report, section 6.3)."""

    site: SiteId
    active: bool


Content = Bundle | View | RoleChange
"""What has a place in the order."""


class Entry(Struct, frozen=True, array_like=True, gc=False):
    """Something with a place in the order: a bundle, or a control entry, which takes one position."""

    position: int
    end: int
    """The position after it: a bundle takes as many as it has messages."""
    content: Content
    digest: int
    """Of the whole order up to here."""
