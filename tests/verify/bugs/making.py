"""Puts bugs into protocols: the shipped classes with a few lines replaced; nothing else is faked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from msgspec import Struct

from ordercast.core.effects import Out
from ordercast.core.events import Event, Now, ViewInstalled
from ordercast.core.layer import Layer
from ordercast.protocols.ordering.catalogue import PROTOCOLS
from ordercast.protocols.ordering.setup import Setup

Kind = TypeVar("Kind", bound=Struct)

Build = Callable[[Setup], Layer]


def planted(kind: type[Any], protocol: str) -> Build:
    """Builds the protocol and puts its state into the class with the bug."""

    def build(setup: Setup) -> Layer:
        built: Any = PROTOCOLS[protocol].build(setup)
        layer: Layer = become(kind, built)
        return layer

    return build


def become(kind: type[Kind], other: Struct) -> Kind:
    """The same state under another class."""
    return kind(**{name: getattr(other, name) for name in other.__struct_fields__})


class WithMerge:
    """Puts another merge into a protocol whenever a view begins."""

    merge: Any
    MERGE: type[Any]

    def handle(self, event: Event, now: Now, out: Out) -> None:
        super().handle(event, now, out)  # type: ignore[misc]
        if isinstance(event, ViewInstalled):
            self.merge = become(self.MERGE, self.merge)
