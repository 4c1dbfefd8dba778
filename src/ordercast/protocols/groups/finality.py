"""When positions become final: enough members of the view have ordered them."""

from __future__ import annotations

from msgspec import Struct

from ordercast.core.ids import SiteId
from ordercast.core.views import View


class Finality(Struct):
    """How long each member's log is, as far as this site knows."""

    lengths: dict[SiteId, int]
    majority: int
    safe: int
    """max(F + 1, a majority): so many members must have what is delivered as safe."""

    @classmethod
    def of(cls, view: View, resilience: int) -> Finality:
        """A view begins: nobody has been heard."""
        size = len(view.members)
        majority = size // 2 + 1
        return cls(dict.fromkeys(view.members, 0), majority, min(size, max(resilience + 1, majority)))

    def hear(self, member: SiteId, length: int) -> bool:
        """A member tells the length of its log; returns whether that is news."""
        if length <= self.lengths.get(member, length):
            return False
        self.lengths[member] = length
        return True

    def below(self, count: int) -> int:
        """The position up to which at least `count` members have ordered."""
        return sorted(self.lengths.values(), reverse=True)[count - 1]
