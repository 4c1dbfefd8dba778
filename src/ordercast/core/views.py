"""Views: the agreed answer to *who is in*."""

from __future__ import annotations

from msgspec import Struct

from ordercast.core.ids import SiteId, ViewId


class View(Struct, frozen=True, array_like=True):
    """The operational members of a group, in ascending order of their ids."""

    id: ViewId
    members: tuple[SiteId, ...]
