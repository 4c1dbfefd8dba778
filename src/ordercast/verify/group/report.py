"""What a check has to say, in words a person can follow."""

from __future__ import annotations

from typing import assert_never

from ordercast.core.entries import Content, Entry, RoleChange
from ordercast.core.ids import MessageId, SiteId, incarnation_of, origin_of, seq_of
from ordercast.core.messages import Bundle
from ordercast.core.views import View

VIOLATIONS_MAX = 20
"""A broken protocol violates something at every delivery; so many are enough to see why."""


class Report:
    """Violations found so far."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.violations: list[str] = []

    def add(self, prop: str, site: SiteId, what: str) -> None:
        """One more violation of a property, seen at a site."""
        if len(self.violations) < VIOLATIONS_MAX:
            self.violations.append(f"{prop}: {self.names[site]} {what}")

    def message(self, id: MessageId) -> str:
        """A message's name."""
        life = incarnation_of(id)
        return f"message {seq_of(id)} of {self.names[origin_of(id)]}" + (f" (life {life})" if life else "")

    def content(self, content: Content) -> str:
        """What an entry holds."""
        match content:
            case Bundle(id=id):
                return self.message(id)
            case View(id=view):
                return f"view {view}"
            case RoleChange(site=site, active=active):
                return f"{self.names[site]} going {'active' if active else 'passive'}"
            case _:
                assert_never(content)

    def entry(self, entry: Entry) -> str:
        """An entry and its place."""
        return f"{self.content(entry.content)} at position {entry.position}"
