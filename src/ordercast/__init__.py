"""One agreed order of messages for a group of processes spread over LANs and slow links."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ordercast.client.connect import connect, embedded
    from ordercast.client.errors import (
        ConsumerTooSlow,
        Disconnected,
        MessageKey,
        NotSent,
        OutcomeUnknown,
        PositionGone,
        StreamEnded,
    )
    from ordercast.client.group import Group
    from ordercast.client.outbox import Receipt
    from ordercast.client.site import Site
    from ordercast.core.errors import NotFit, WrongUse
    from ordercast.core.messages import Level
    from ordercast.core.service import EARLIEST, LATEST
    from ordercast.core.stream import (
        Batch,
        Blocked,
        Delivery,
        Event,
        Finalized,
        Participant,
        Resumed,
        Retracted,
        Unblocked,
        ViewChange,
    )

__version__ = "0.1.0"

__all__ = [
    "EARLIEST",
    "LATEST",
    "Batch",
    "Blocked",
    "ConsumerTooSlow",
    "Delivery",
    "Disconnected",
    "Event",
    "Finalized",
    "Group",
    "Level",
    "MessageKey",
    "NotFit",
    "NotSent",
    "OutcomeUnknown",
    "Participant",
    "PositionGone",
    "Receipt",
    "Resumed",
    "Retracted",
    "Site",
    "StreamEnded",
    "Unblocked",
    "ViewChange",
    "WrongUse",
    "connect",
    "embedded",
]

_HOMES = {
    "client.connect": ("connect", "embedded"),
    "client.errors": (
        "ConsumerTooSlow",
        "Disconnected",
        "MessageKey",
        "NotSent",
        "OutcomeUnknown",
        "PositionGone",
        "StreamEnded",
    ),
    "client.group": ("Group",),
    "client.outbox": ("Receipt",),
    "client.site": ("Site",),
    "core.errors": ("NotFit", "WrongUse"),
    "core.messages": ("Level",),
    "core.service": ("EARLIEST", "LATEST"),
    "core.stream": (
        "Batch",
        "Blocked",
        "Delivery",
        "Event",
        "Finalized",
        "Participant",
        "Resumed",
        "Retracted",
        "Unblocked",
        "ViewChange",
    ),
}
"""Where each of them is: imported when it is first asked for, so that the command line begins at once."""

_MODULES = ("blocking", "testing")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    for home, names in _HOMES.items():
        if name in names:
            value = getattr(importlib.import_module(f"{__name__}.{home}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
