"""Multicasts of a participant that have come at once: one bundle, if they could as well have been one request.

A client multicasts together what it has in one turn of its loop. A site that has been busy finds the requests of many
such turns: each by itself would cost as much as all of them together, and the site would stay behind.
"""

from __future__ import annotations

from msgspec import Struct

from ordercast.core.messages import Author, Level
from ordercast.core.service import BUNDLE_BODIES_MAX, BUNDLE_BYTES_MAX, Submit
from ordercast.site.gateway.receipts import Awaited


class Run(Struct):
    """Consecutive messages of one author."""

    author: Author
    """Of the first."""
    level: Level
    bodies: list[bytes] = []
    awaited: list[Awaited] = []
    size_bytes: int = 0

    def add(self, bodies: tuple[bytes, ...], awaited: Awaited) -> None:
        """The messages of the next request."""
        self.bodies += bodies
        self.awaited.append(awaited)
        self.size_bytes += awaited.weight

    def goes_on_with(self, author: Author, submit: Submit, weight: int) -> bool:
        """Whether these are the next messages of the same author, and there is room for them in the bundle."""
        mine = self.author
        return (
            author.number == mine.number + len(self.bodies)
            and author.session == mine.session
            and author.group == mine.group
            and submit.level is self.level
            and len(self.bodies) + len(submit.bodies) <= BUNDLE_BODIES_MAX
            and self.size_bytes + weight <= BUNDLE_BYTES_MAX
        )
