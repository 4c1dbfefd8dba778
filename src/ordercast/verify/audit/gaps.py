"""Nothing is missing: neither records of a life, nor positions in what it delivers."""

from __future__ import annotations

from ordercast.core.trace import TraceRecord
from ordercast.verify.audit.check import Check
from ordercast.verify.audit.life import Code, Life, code_name, messages_in

GAPS = "gaps"


class GapCheck(Check):
    """`index`, `delivery_index` and positions go on one by one."""

    def on_record(self, life: Life, record: TraceRecord) -> None:
        if record.index != life.next_index:
            what = f"{life.name}: record {record.index} follows record {life.next_index - 1}"
            self.facts.violated(GAPS, what, (life.site,), life.installed)

    def on_placed(self, life: Life, record: TraceRecord, position: int, code: Code) -> None:
        if record.delivery_index != life.next_delivery:
            what = f"{life.name} counts {code_name(code)} as its delivery {record.delivery_index}"
            what = f"{what}, expected is {life.next_delivery}"
            self.facts.violated(GAPS, what, (life.site,), record.view, (position,), messages_in(code))
        elif position != life.expected and not life.anywhere:
            what = f"{life.name} delivers {code_name(code)} at position {position}, expected is {life.expected}"
            positions = (life.expected, position)
            self.facts.violated(GAPS, what, (life.site,), record.view, positions, messages_in(code))
