"""An entry of the ordered log."""

from __future__ import annotations

from msgspec import Struct

from ordercast.core.messages import Bundle
from ordercast.core.views import View


class Entry(Struct, frozen=True, array_like=True, gc=False):
    """Something with a place in the order: a bundle, or the beginning of a view."""

    position: int
    end: int
    """The position after it: a bundle takes as many as it has messages."""
    content: Bundle | View
    digest: int
    """Of the whole order up to here."""
