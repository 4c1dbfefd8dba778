"""The same message at the same position, at every site and for ever.

What a site has delivered tentatively counts once it is final there: a site that is cut off may deliver, and take back,
what the majority orders otherwise. On the ideal stack everything counts at once.
"""

from __future__ import annotations

from ordercast.verify.audit.check import Check
from ordercast.verify.audit.finality import FINALITY
from ordercast.verify.audit.life import Code, Life, code_name, messages_in
from ordercast.verify.properties import TOTAL_ORDER


class TotalOrderCheck(Check):
    """One final order; and no site's own lives contradict each other."""

    def on_settled(self, life: Life, position: int, code: Code, view: int | None) -> None:
        other = self.facts.settle(life.site, position, code)
        if other is None:
            return
        known, site = other
        messages = messages_in(code, known)
        if site == life.site:
            what = f"{life.name} delivers {code_name(code)} at position {position}, where it had {code_name(known)}"
            self.facts.violated(FINALITY, what, (life.site,), view, (position,), messages)
        else:
            what = f"{life.name} delivers {code_name(code)} at position {position}, site {site} {code_name(known)}"
            self.facts.violated(TOTAL_ORDER, what, (life.site, site), view, (position,), messages)
