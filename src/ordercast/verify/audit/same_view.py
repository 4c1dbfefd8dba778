"""A message is delivered in the same view wherever it is delivered.

In the order, a view is a place: what follows it at one site follows it at all, so it is enough that the view which a
delivery names is the newest that came up. Of a fifo or causal message: once members have gone on from a view with it,
nobody delivers it in another one. (A minority that was cut off may have delivered it before, to itself.)
"""

from __future__ import annotations

from ordercast.core.ids import SEQ_BITS, MessageId
from ordercast.core.trace import Kind, TraceRecord
from ordercast.core.views import View
from ordercast.verify.audit.check import Check
from ordercast.verify.audit.life import Code, Life, code_name, life_name, message_name, messages_in

SAME_VIEW = "same view"


class SameViewCheck(Check):
    """Deliveries by view."""

    def on_placed(self, life: Life, record: TraceRecord, position: int, code: Code) -> None:
        if record.kind is Kind.DELIVER and record.view != life.order_view:
            what = f"{life.name} delivers {code_name(code)} at position {position} in view {record.view}"
            what = f"{what}, the newest in the order being {life.order_view}"
            self.facts.violated(SAME_VIEW, what, (life.site,), record.view, (position,), messages_in(code))

    def on_unordered(self, life: Life, record: TraceRecord, message: int) -> None:
        if record.view != life.installed:
            what = f"{life.name} delivers {message_name(message)} in view {record.view}"
            what = f"{what}, the one installed being {life.installed}"
            self.facts.violated(SAME_VIEW, what, (life.site,), record.view, (), (MessageId(message),))

    def on_entered(self, life: Life, view: View, needed: int, continues: bool) -> None:
        if life.installed is not None and view.id <= life.installed:
            what = f"{life.name} installs view {view.id} after view {life.installed}"
            self.facts.violated(SAME_VIEW, what, (life.site,), view.id)

    def finish(self) -> None:
        for life, sent in self.facts.sent.items():
            for seq, cut in sent.cut.items():
                if sent.last_view[seq] > cut:
                    message = MessageId(life << SEQ_BITS | seq)
                    view, other = cut - 1, sent.last_view[seq] - 1
                    what = f"{message_name(message)} is delivered in view {view} by those who went on from it"
                    what = f"{what}, and elsewhere in view {other} ({life_name(life)} multicast it)"
                    self.facts.violated(SAME_VIEW, what, (), other, (), (message,))
