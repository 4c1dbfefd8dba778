"""What is final stays so: only what is tentative is retracted, and a delivery says rightly whether it is final."""

from __future__ import annotations

from ordercast.core.trace import TraceRecord
from ordercast.verify.audit.check import Check
from ordercast.verify.audit.life import Code, Life, code_name, messages_in

FINALITY = "finality"
RETRACTION = "retraction"


class FinalityCheck(Check):
    """Within one life; `total_order` compares lives and sites."""

    def on_finalize(self, life: Life, below: int) -> None:
        if below < life.final:
            what = f"{life.name} finalizes below position {below}, which was {life.final} before"
            self.facts.violated(FINALITY, what, (life.site,), life.installed, (below, life.final))

    def on_retract(self, life: Life, position: int) -> None:
        if position < life.final:
            what = f"{life.name} retracts from position {position} on, everything below {life.final} being final"
            self.facts.violated(RETRACTION, what, (life.site,), life.installed, (position, life.final))

    def on_recover(self, life: Life, position: int) -> None:
        if position < life.final:
            what = f"{life.name} goes back to position {position}, everything below {life.final} being final"
            self.facts.violated(FINALITY, what, (life.site,), life.installed, (position, life.final))

    def on_placed(self, life: Life, record: TraceRecord, position: int, code: Code) -> None:
        if life.final_is_known and record.final is not None and record.final != (position < life.final):
            is_called = "final" if record.final else "tentative"
            what = f"{life.name} delivers {code_name(code)} at position {position} as {is_called}"
            what = f"{what}, everything below {life.final} being final"
            self.facts.violated(FINALITY, what, (life.site,), record.view, (position,), messages_in(code))
