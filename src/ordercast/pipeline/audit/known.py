"""What is known of each run before any of its messages are looked at: its lives, their courses, its blocks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct, field

from ordercast.core.ids import INCARNATION_BITS, SEQS_MAX
from ordercast.core.trace import CONTINUES, Kind, TraceRecord
from ordercast.pipeline.audit.judge import Tally
from ordercast.pipeline.audit.stretches import Block, Layout, course_of
from ordercast.verify.audit.life import LifeId

FOREVER = 1 << 62

Row = tuple[Any, ...]


class Life(Struct):
    """What the digests and the course of a life say of it."""

    records: int = 0
    delivered: int = 0
    unordered: int = 0
    """Of these, fifo and causal messages."""
    finalized: int = 0
    newest_sent: int | None = None
    course: list[TraceRecord] = field(default_factory=list)
    """Its records that are no messages, in their order."""

    @property
    def unknown_above(self) -> int:
        """Above which sequence number nobody knows what it has multicast (`Facts.may_have_sent`)."""
        if any(each.kind is Kind.RECOVER and each.position is None for each in self.course):
            return -1
        if any(each.kind in (Kind.END, Kind.CRASH) for each in self.course):
            return SEQS_MAX
        return -1 if self.newest_sent is None else self.newest_sent & SEQS_MAX - 1

    def in_views(self) -> Iterator[tuple[int, int, int, bool]]:
        """Each view that it was in: begin and end by index, and whether it has gone on from there to the next."""
        view, begin = None, 0
        for each in self.course:
            enters = each.kind is Kind.VIEW and each.delivery_index is None
            forgets = each.kind is Kind.RECOVER and each.position is None
            if enters or forgets:
                if view is not None:
                    yield view, begin, each.index, enters and each.detail == CONTINUES
                view, begin = (each.view if enters else None), each.index
        if view is not None:
            yield view, begin, FOREVER, False


class Run(Struct):
    """What is known of a run."""

    lives: dict[LifeId, Life] = field(default_factory=dict)
    blocks: list[Block] = field(default_factory=list)
    suspects: set[int] = field(default_factory=set)
    """Blocks of positions; once laid out, `layout` has them."""
    messages: set[int] = field(default_factory=set)
    """Suspects without a place."""
    newest: dict[int, dict[LifeId, int]] = field(default_factory=dict)
    """By block, of each sender the newest message there."""
    unknown: dict[LifeId, int] = field(default_factory=dict)
    """How many of a life's delivered messages nobody is known to have multicast, where its trace is to blame."""
    _layout: Layout | None = None

    @property
    def layout(self) -> Layout:
        """Which blocks are quiet. Ask for it once lives and blocks are known."""
        if self._layout is None:
            courses = {id: course_of(life.course) for id, life in self.lives.items()}
            final = {id: life.finalized for id, life in self.lives.items()}
            self._layout = Layout(self.blocks, courses, final, self.suspects)
        return self._layout

    def life(self, id: LifeId) -> Life:
        """One of its lives."""
        return self.lives.setdefault(id, Life())

    def views(self) -> dict[int, list[TraceRecord]]:
        """Of each view what those say who have installed it: with its members."""
        told: dict[int, list[TraceRecord]] = {}
        for life in self.lives.values():
            for each in life.course:
                if each.view is not None and each.members is not None:
                    told.setdefault(each.view, []).append(each)
        return told

    def tally(self) -> Tally:
        """All that the verdict needs beside what is read again."""
        return Tally(
            records=sum(life.records for life in self.lives.values()),
            deliveries=sum(life.delivered for life in self.lives.values()),
            quiet=self.layout.quiet(),
            stretches=self.layout.stretches(self.newest),
            newest_sent={id: life.newest_sent for id, life in self.lives.items() if life.newest_sent is not None},
            unknown=self.unknown,
        )


class Runs(dict[str, Run]):
    """All runs by name; and what is known of them as rows of small tables."""

    def __missing__(self, name: str) -> Run:
        run = self[name] = Run()
        return run

    @property
    def have_unordered(self) -> bool:
        """Whether fifo or causal messages are delivered anywhere: without one, nothing follows by their way."""
        return any(life.unordered for run in self.values() for life in run.lives.values())

    @property
    def have_retracted(self) -> bool:
        """Whether any life has taken something back."""
        lives = (life for run in self.values() for life in run.lives.values())
        return any(each.kind is Kind.RETRACT for life in lives for each in life.course)

    @property
    def have_safe(self) -> bool:
        """Whether safe messages are delivered anywhere."""
        return any(block.safe for run in self.values() for block in run.blocks)

    def suspects(self) -> list[Row]:
        """`run, block, message`."""
        blocks = [(name, block, None) for name, run in self.items() for block in sorted(run.layout.suspects)]
        return [*blocks, *((name, None, message) for name, run in self.items() for message in sorted(run.messages))]

    def telling(self) -> list[int]:
        """The sites whose lives tell of quiet blocks."""
        lives = {life for run in self.values() for life in run.layout.telling}
        return sorted({life >> INCARNATION_BITS for life in lives})

    def ranges(self, bits: int) -> list[tuple[int, int]] | None:
        """First and last positions such that all suspect blocks lie between; None if records have no positions."""
        if any(not each.positioned for run in self.values() for each in run.blocks):
            return None
        ranges: list[tuple[int, int]] = []
        for block in sorted({block for run in self.values() for block in run.layout.suspects}):
            first, last = block << bits, ((block + 1) << bits) - 1
            if ranges and ranges[-1][1] + 1 == first:
                first = ranges.pop()[0]
            ranges.append((first, last))
        return ranges

    def members(self) -> list[Row]:
        """`run, view, site, size`: all members of views of which all say the same, and that have enough of them."""
        rows: list[Row] = []
        for name, run in self.items():
            for view, told in sorted(run.views().items()):
                members = told[0].members or ()
                is_sure = all(each.members == members and (each.size or 0) <= len(members) for each in told)
                rows += [(name, view, site, len(members)) for site in members if is_sure]
        return rows

    def sites(self) -> list[Row]:
        """`run, site` of all who are members of a view, whoever tells of it."""
        rows: list[Row] = []
        for name, run in self.items():
            sure = [set.intersection(*(set(each.members or ()) for each in told)) for told in run.views().values()]
            rows += [(name, site) for site in sorted(set().union(*sure))]
        return rows

    def senders(self) -> list[Row]:
        """`run, sender, above`: of which sequence number on nobody knows what a life has multicast."""
        return [(name, id, life.unknown_above) for name, run in self.items() for id, life in run.lives.items()]

    def installed(self) -> list[Row]:
        """`run, life, view, begin, end, continues`."""
        return [
            (name, id, *each)
            for name, run in self.items()
            for id, life in run.lives.items()
            for each in life.in_views()
        ]
