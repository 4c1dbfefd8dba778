"""What an ordering protocol of a group sees as its `Out`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ordercast.core.effects import Note, Out
from ordercast.core.events import TimerKey
from ordercast.core.ids import SiteId
from ordercast.core.messages import Bundle
from ordercast.core.views import View
from ordercast.protocols.groups.messages import Ordering, Private

if TYPE_CHECKING:
    from ordercast.protocols.groups.plans import Retired
    from ordercast.protocols.groups.site_group import SiteGroup


class OrderingOut:
    """Wraps its messages, and takes what it delivers into the order, unless its plan is over."""

    __slots__ = ("_group", "_out", "_retired")

    def __init__(self, group: SiteGroup[Any], out: Out, retired: Retired | None = None) -> None:
        self._group = group
        self._out = out
        self._retired = retired

    @property
    def _plan(self) -> int:
        return self._group.plan.number if self._retired is None else self._retired.plan

    @property
    def _build(self) -> int:
        return self._group.build if self._retired is None else self._retired.build

    def multicast(self, message: Any) -> None:
        self._out.multicast(Ordering(self._group.tell_length(), message, self._plan))

    def send(self, to: SiteId, message: Any) -> None:
        self._out.send(to, Private(message, self._plan))

    def deliver(self, sender: SiteId, message: Any) -> None:
        group = self._group
        if self._retired is None and group.due is None:
            group.on_ordered(message, self._out)
        elif isinstance(message, Bundle):  # behind the change of the plan: nobody hears it now
            retired = self._retired or group.retired[-1]
            retired.left.append(message)

    def install(self, view: View) -> None:
        """The group tells of views itself."""

    def set_timer(self, key: TimerKey, after_us: int) -> None:
        self._out.set_timer(("ordering", self._build, key), after_us)

    def cancel(self, key: TimerKey) -> None:
        self._out.cancel(("ordering", self._build, key))

    def save(self, key: str, value: bytes, *, binding: bool = True) -> None:
        self._out.save(f"ordering/{key}", value, binding=binding)

    def record(self, note: Note) -> None:
        self._out.record(note)
