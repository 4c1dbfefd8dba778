"""A safe message is delivered only once max(F + 1, a majority) of the view's members hold it, and it is final then.

A trace tells that the delivery was final at its site. It tells which members have ever held the message at its
position, not which did so in time: the clocks of different sites do not say which of two things came first. A member
whose trace is cut off or missing may have held it.
"""

from __future__ import annotations

from array import array

from ordercast.core.ids import INCARNATION_BITS, MessageId, SiteId
from ordercast.core.trace import Kind, TraceRecord
from ordercast.verify.audit.check import Check, Facts
from ordercast.verify.audit.life import Code, Life, LifeId, message_name

SAFE_DELIVERY = "safe delivery"


class SafeCheck(Check):
    """Notes who logs what, and who delivers it in which view; counts at the end."""

    def __init__(self, facts: Facts) -> None:
        super().__init__(facts)
        self._logged: dict[SiteId, array[int]] = {}
        """Position and message, one after the other."""
        self._delivered: dict[tuple[int, int], tuple[SiteId, int]] = {}
        """By position and view: a site that delivered there, and what."""
        self._recovered: dict[SiteId, int] = {}
        """Below this position a site has the participants' state of another."""
        self._cut_off: dict[LifeId, bool] = {}

    def on_logged(self, life: Life, record: TraceRecord, position: int, message: int) -> None:
        self._logged.setdefault(life.site, array("q")).extend((position, message))

    def on_recover(self, life: Life, position: int) -> None:
        self._recovered[life.site] = max(position, self._recovered.get(life.site, 0))

    def on_placed(self, life: Life, record: TraceRecord, position: int, code: Code) -> None:
        if record.kind is not Kind.DELIVER or record.level != "safe" or record.position is None:
            return
        if position >= life.final:
            what = f"{life.name} delivers {message_name(code)} at position {position} as safe before it is final"
            self.facts.violated(SAFE_DELIVERY, what, (life.site,), record.view, (position,), (MessageId(code),))
        if life.installed is not None:
            self._delivered.setdefault((position, life.installed), (life.site, code))

    def finish(self) -> None:
        holders = self._holders()
        for (position, view), (site, message) in self._delivered.items():
            members, needed = self.facts.views[view].members, self.facts.needed[view]
            mask = holders.get(position, 0)
            held = sum(1 for member in members if mask >> member & 1 or self._may_hold(member, position))
            if held < needed:
                what = f"site {site} delivers {message_name(message)} at position {position} as safe"
                what = f"{what}, held by {held} members of view {view} where {needed} must"
                self.facts.violated(SAFE_DELIVERY, what, (site,), view, (position,), (MessageId(message),))

    def _holders(self) -> dict[int, int]:
        """By position of a safe message: who had just that in its log, a bit for each site."""
        final = {position: code for position, code, _ in self.facts.order()} if self._delivered else {}
        masks: dict[int, int] = {}
        for site, pairs in self._logged.items():
            for position, message in zip(pairs[::2], pairs[1::2], strict=True):
                if final.get(position, message) == message:
                    masks[position] = masks.get(position, 0) | 1 << site
        return masks

    def _may_hold(self, site: SiteId, position: int) -> bool:
        lives = [life for id, life in self.facts.lives.items() if id >> INCARNATION_BITS == site]
        return position < self._recovered.get(site, 0) or not all(life.is_whole for life in lives) or not lives
