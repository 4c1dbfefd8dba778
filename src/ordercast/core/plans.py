"""Which ordering protocol a group is under. It can change while the group runs: the change is an entry of the order."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from ordercast.core.messages import Act, Bundle


class ChangeOrdering(Struct, frozen=True):
    """From the host: let the group go over to another ordering protocol, or to other options of the same one."""

    protocol: str
    options: dict[str, Any] = {}
    """As the protocol wants them: sites by their ids."""


class Plan(Struct, frozen=True, array_like=True, gc=False):
    """What the newest change says, at some place of the order."""

    number: int = 0
    """How many changes there have been. The plan before the first one is what the sites have been configured with."""
    body: bytes = b""
    """Of the change's bundle."""

    def after(self, bundle: Bundle) -> Plan:
        """The plan once this bundle, which changes it, has come up."""
        return Plan(self.number + 1, bundle.bodies[0])

    @property
    def change(self) -> ChangeOrdering:
        """What was asked for."""
        return msgspec.msgpack.decode(self.body, type=ChangeOrdering)


def changes_plan(bundle: Bundle) -> bool:
    """Whether the bundle is an entry that changes the ordering protocol."""
    return bundle.author is not None and bundle.author.act is Act.PLANS and not bundle.void
