"""The verdict on one run: what was kept of its records is shown to the checks, and the quiet stretches passed over."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from ordercast.core.ids import INCARNATION_BITS, SEQS_MAX
from ordercast.core.trace import TraceRecord
from ordercast.verify.audit.check import SHOWN_MAX
from ordercast.verify.audit.life import LifeId
from ordercast.verify.audit.run import Audit, Stretch, Verdict


class Kept(Struct, frozen=True):
    """A record that was read again."""

    record: TraceRecord
    follows: int | None = None
    """If its index does not follow on that of the record before it: that index."""
    is_whole: bool = True
    """Otherwise it is here for its index alone."""


class Tally(Struct, frozen=True):
    """What is known of a run without reading it again."""

    records: int
    deliveries: int
    quiet: list[tuple[int, int]]
    """Stretches of the order that need not be read again ..."""
    stretches: dict[LifeId, list[Stretch]]
    """... and how each life goes through them."""
    newest_sent: dict[LifeId, int]
    """The newest message that each life has multicast."""
    unknown: dict[LifeId, int]
    """How many of a life's delivered messages nobody is known to have multicast, where its trace is to blame."""


def judge(run: str, tally: Tally, kept: Iterable[Kept], shown_max: int = SHOWN_MAX) -> Verdict:
    """The kept records come in the order in which they lie in the files."""
    audit = Audit(run, shown_max)
    facts = audit.facts
    facts.quiet = tally.quiet
    facts.unknown = tally.unknown
    waiting = {life: list(reversed(stretches)) for life, stretches in tally.stretches.items()}
    for each in kept:
        record = each.record
        life = record.site << INCARNATION_BITS | record.incarnation
        _pass_over(audit, waiting.get(life, []), record.index)
        audit.expect(life, record.index if each.follows is None else each.follows + 1)
        if each.is_whole:
            audit.take(record)
        else:
            audit.look_at(record)
    for stretches in waiting.values():
        _pass_over(audit, stretches, None)
    for life, message in tally.newest_sent.items():
        sent = facts.sent_by(life)
        sent.newest = max(sent.newest, message & SEQS_MAX - 1)
    for life in tally.unknown:
        facts.sent_by(life)
    verdict = audit.finish()
    positions = verdict.positions + sum(end - begin for begin, end in tally.quiet)
    return replace(verdict, records=tally.records, deliveries=tally.deliveries, positions=positions)


def _pass_over(audit: Audit, waiting: list[Stretch], before: int | None) -> None:
    """All stretches that end before a record, or at all."""
    while waiting and (before is None or waiting[-1].index_max < before):
        audit.pass_over(waiting.pop())
