"""The audit of one run: every record is shown to the checks that want it, and then to the life it belongs to."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct

from ordercast.core.ids import INCARNATION_BITS, INCARNATIONS_MAX, SiteId, ViewId
from ordercast.core.messages import Level
from ordercast.core.trace import CONTINUES, Kind, TraceRecord
from ordercast.core.views import View
from ordercast.verify.audit.answers import AnswerCheck
from ordercast.verify.audit.causal import CausalCheck
from ordercast.verify.audit.chain import ChainCheck
from ordercast.verify.audit.check import SHOWN_MAX, Check, Facts
from ordercast.verify.audit.creation import CreationCheck
from ordercast.verify.audit.fifo import FifoCheck
from ordercast.verify.audit.finality import FinalityCheck
from ordercast.verify.audit.gaps import GapCheck
from ordercast.verify.audit.life import Life, LifeId, code_of, life_of, seq_in
from ordercast.verify.audit.mixed import MixedCheck
from ordercast.verify.audit.safe import SafeCheck
from ordercast.verify.audit.same_view import SameViewCheck
from ordercast.verify.audit.total_order import TotalOrderCheck
from ordercast.verify.audit.validity import ValidityCheck
from ordercast.verify.audit.virtual_synchrony import VirtualSynchronyCheck
from ordercast.verify.properties import Violation

CHECKS: tuple[type[Check], ...] = (
    GapCheck,
    TotalOrderCheck,
    FinalityCheck,
    FifoCheck,
    CreationCheck,
    AnswerCheck,
    CausalCheck,
    MixedCheck,
    VirtualSynchronyCheck,
    SameViewCheck,
    SafeCheck,
    ChainCheck,
    ValidityCheck,
)
"""In this order, also at the end: later ones read what earlier ones have found out."""

_SENT = {level.name.lower(): int(level) + 1 for level in Level}


class Stretch(Struct, frozen=True):
    """Deliveries of one life that follow on each other, were judged elsewhere, and are in order."""

    life: LifeId
    index_max: int
    """Their last record."""
    next_delivery: int
    end: int
    """The position behind them."""
    newest: dict[LifeId, int]
    """Of each sender the sequence number of the newest message among them."""


class Verdict(Struct, kw_only=True):
    """What came of the audit of a run."""

    run: str
    records: int
    lives: int
    views: int
    deliveries: int
    positions: int
    """Final positions that some life has delivered."""
    violated: dict[str, int]
    """How many violations there are of each property that does not hold."""
    violations: list[Violation]
    """The first of each property."""
    remarks: list[str]
    """What could not be judged, and why."""


class Audit:
    """Takes the records of one run, those of each life in their order."""

    def __init__(self, run: str = "", shown_max: int = SHOWN_MAX) -> None:
        self._run = run
        self.facts = Facts(shown_max)
        self._checks = [check(self.facts) for check in CHECKS]
        self._records = 0
        self._deliveries = 0
        self._on_record = self._wanted_by("on_record")
        self._on_multicast = self._wanted_by("on_multicast")
        self._on_placed = self._wanted_by("on_placed")
        self._on_unordered = self._wanted_by("on_unordered")
        self._on_logged = self._wanted_by("on_logged")
        self._on_settled = self._wanted_by("on_settled")
        self._on_taken_back = self._wanted_by("on_taken_back")
        self._on_finalize = self._wanted_by("on_finalize")
        self._on_retract = self._wanted_by("on_retract")
        self._on_entered = self._wanted_by("on_entered")
        self._on_passed_over = self._wanted_by("on_passed_over")
        self._on_recover = self._wanted_by("on_recover")

    def _wanted_by(self, hook: str) -> list[Callable[..., None]]:
        wanting = [check for check in self._checks if getattr(type(check), hook) is not getattr(Check, hook)]
        return [getattr(check, hook) for check in wanting]

    def _life(self, id: LifeId) -> Life:
        life = self.facts.lives.get(id)
        if life is None:
            site, incarnation = SiteId(id >> INCARNATION_BITS), id & INCARNATIONS_MAX - 1
            life = self.facts.lives[id] = Life(id, site, incarnation)
        return life

    def take(self, record: TraceRecord) -> None:
        """The next record."""
        self._records += 1
        life = self._life(record.site << INCARNATION_BITS | record.incarnation)
        for handle in self._on_record:
            handle(life, record)
        life.next_index = record.index + 1
        if record.delivery_index is not None:
            self._take_placed(life, record, record.delivery_index)
        else:
            self._take_other(life, record)

    def expect(self, life: LifeId, index: int) -> None:
        """The records of a life before this one were judged elsewhere, or are missing."""
        self._life(life).next_index = index

    def look_at(self, record: TraceRecord) -> None:
        """A record that is missing its predecessor; all else about it was judged elsewhere."""
        life = self._life(record.site << INCARNATION_BITS | record.incarnation)
        for handle in self._on_record:
            handle(life, record)

    def pass_over(self, stretch: Stretch) -> None:
        """Go on behind a stretch of a life's deliveries that was judged elsewhere."""
        life = self._life(stretch.life)
        life.next_delivery = stretch.next_delivery
        life.expected, life.anywhere = stretch.end, False
        for handle in self._on_passed_over:
            handle(life, stretch.newest)

    def _take_placed(self, life: Life, record: TraceRecord, delivery_index: int) -> None:
        """Something comes up in the order. On the ideal stack, without positions, its number is its place."""
        ideal = record.position is None
        position = delivery_index if record.position is None else record.position
        code = code_of(record)
        self._deliveries += record.kind is Kind.DELIVER
        for handle in self._on_placed:
            handle(life, record, position, code)
        life.next_delivery = delivery_index + 1
        life.expected, life.anywhere = position + 1, False
        if record.kind is Kind.VIEW:
            life.order_view = record.view
        if ideal or position < life.final or (record.final and not life.final_is_known):
            for handle in self._on_settled:
                handle(life, position, code, record.view)
        else:
            life.pending.append((position, code, record.view))

    def _take_other(self, life: Life, record: TraceRecord) -> None:
        message, position = record.message, record.position
        match record.kind:
            case Kind.MULTICAST if message is not None:
                self._take_multicast(life, record, message)
            case Kind.DELIVER if message is not None:
                self._take_unordered(life, record, message)
            case Kind.ORDER if message is not None and position is not None:
                for handle in self._on_logged:
                    handle(life, record, position, message)
            case Kind.FINALIZE if position is not None:
                self._finalize(life, position)
            case Kind.RETRACT if position is not None:
                self._retract(life, position)
            case Kind.VIEW if record.view is not None and record.members is not None:
                self._enter(life, record, record.view, record.members)
            case Kind.RECOVER if position is not None:
                self._recover(life, position)
            case Kind.RECOVER:
                life.resumed = life.anywhere = True
                life.final_is_known = False
                life.installed = life.order_view = None
                life.context.clear()
            case Kind.LEAVE if life.installed is not None:
                self.facts.leavers.setdefault(life.installed, []).append(life.site)
            case Kind.CRASH:
                life.crashed = True
            case Kind.END:
                life.ended, life.settled, life.ended_us = True, bool(record.final), record.at_us
            case _:
                pass

    def _take_multicast(self, life: Life, record: TraceRecord, message: int) -> None:
        for handle in self._on_multicast:
            handle(life, record, message)
        sent, seq = self.facts.sent_by(life_of(message)), seq_in(message)
        sent.levels[seq] = _SENT.get(record.level or "", 1)
        sent.newest = max(sent.newest, seq)

    def _take_unordered(self, life: Life, record: TraceRecord, message: int) -> None:
        self._deliveries += 1
        for handle in self._on_unordered:
            handle(life, record, message)
        origin, seq = life_of(message), seq_in(message)
        life.newest[origin] = life.context[origin] = max(seq, life.newest.get(origin, -1))

    def _finalize(self, life: Life, below: int) -> None:
        for handle in self._on_finalize:
            handle(life, below)
        self._settle(life, below)

    def _settle(self, life: Life, below: int) -> None:
        """What has come up below a position, and has not been taken back, counts for ever."""
        life.final, life.final_is_known = below, True
        pending = life.pending
        while pending and pending[0][0] < below:
            position, code, view = pending.popleft()
            for handle in self._on_settled:
                handle(life, position, code, view)

    def _retract(self, life: Life, from_position: int) -> None:
        for handle in self._on_retract:
            handle(life, from_position)
        pending = life.pending
        while pending and pending[-1][0] >= from_position:
            position, code, _ = pending.pop()
            for handle in self._on_taken_back:
                handle(life, position, code)
        life.expected = min(life.expected, from_position)
        life.order_view = None

    def _enter(self, life: Life, record: TraceRecord, number: int, members: tuple[int, ...]) -> None:
        view = View(ViewId(number), tuple(map(SiteId, members)))
        needed = len(members) // 2 + 1 if record.size is None else record.size
        continues = record.detail == CONTINUES and life.installed is not None
        for handle in self._on_entered:
            handle(life, view, needed, continues)
        self.facts.views.setdefault(number, view)
        self.facts.needed.setdefault(number, needed)
        if not continues:
            life.since = number
            life.context.clear()
        if record.detail is None:
            life.order_view = number  # the ideal stack has no other
        life.installed = number

    def _recover(self, life: Life, position: int) -> None:
        for handle in self._on_recover:
            handle(life, position)
        self._settle(life, position)
        life.expected, life.anywhere = position, False
        life.order_view = None
        life.pending.clear()

    def finish(self) -> Verdict:
        """The verdict. Call it once, when all records have been taken."""
        for check in self._checks:
            check.finish()
        facts = self.facts
        return Verdict(
            run=self._run,
            records=self._records,
            lives=len(facts.lives),
            views=len(facts.views),
            deliveries=self._deliveries,
            positions=sum(1 for _ in facts.order()),
            violated=facts.counts,
            violations=facts.violations,
            remarks=facts.remarks,
        )


def audit(records: Iterable[TraceRecord], run: str = "", shown_max: int = SHOWN_MAX) -> Verdict:
    """Judge the records of one run: those of each life in their order, the lives in any mixture.

    Of each property so many violations are kept; the others are counted.
    """
    judge = Audit(run, shown_max)
    for record in records:
        judge.take(record)
    return judge.finish()
