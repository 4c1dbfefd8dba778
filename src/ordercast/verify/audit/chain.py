"""There is one chain of primary views: all who install a view see the same members, and each view has a quorum of the
one before, with those who left it."""

from __future__ import annotations

from ordercast.core.trace import Kind, TraceRecord
from ordercast.core.views import View
from ordercast.verify.audit.check import Check
from ordercast.verify.audit.life import Code, Life, view_of

PRIMARY_CHAIN = "primary chain"


class ChainCheck(Check):
    """Views, as they are installed and as they come up in the order."""

    def on_entered(self, life: Life, view: View, needed: int, continues: bool) -> None:
        known = self.facts.views.get(view.id)
        if known is not None and known.members != view.members:
            what = f"{life.name} installs view {view.id} of {_listed(view)}, another site of {_listed(known)}"
            self.facts.violated(PRIMARY_CHAIN, what, (life.site,), view.id)
        if life.site not in view.members:
            what = f"{life.name} installs view {view.id} of {_listed(view)}, to which it does not belong"
            self.facts.violated(PRIMARY_CHAIN, what, (life.site,), view.id)

    def on_placed(self, life: Life, record: TraceRecord, position: int, code: Code) -> None:
        if record.kind is Kind.VIEW and life.order_view is not None and (record.view or 0) <= life.order_view:
            what = f"{life.name} has view {record.view} at position {position}, after view {life.order_view}"
            self.facts.violated(PRIMARY_CHAIN, what, (life.site,), record.view, (position,))

    def finish(self) -> None:
        views, leavers = self.facts.views, self.facts.leavers
        for number in sorted(views):
            before = views.get(number - 1)
            agreed = (*views[number].members, *leavers.get(number - 1, ()))
            if before is not None and not before.is_quorum(agreed):
                what = f"view {number} of {_listed(views[number])} has no quorum of view {number - 1}"
                what = f"{what}, which is of {_listed(before)}"
                self.facts.violated(PRIMARY_CHAIN, what, views[number].members, number)
        self._check_places()

    def _check_places(self) -> None:
        """A view has one position."""
        places: dict[int, int] = {}
        for position, code, site in self.facts.order():
            view = view_of(code)
            if view is None:
                continue
            first = places.setdefault(view, position)
            if first != position:
                what = f"view {view} is final at positions {first} and {position}"
                self.facts.violated(PRIMARY_CHAIN, what, (site,), view, (first, position))


def _listed(view: View) -> str:
    return "sites " + ", ".join(map(str, view.members))
