"""Which blocks of a run are quiet: every life goes through them as it should, coming from where it was before.

Blocks and the records that are no messages are few, so this is plain Python.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator

from msgspec import Struct

from ordercast.core.ids import SEQS_MAX
from ordercast.core.trace import Kind, TraceRecord
from ordercast.verify.audit.life import LifeId
from ordercast.verify.audit.run import Stretch

NO_VIEW = -1
"""What the digests have for the view of a delivery that names none."""


class Block(Struct, frozen=True):
    """What one life has in one block of positions."""

    life: LifeId
    block: int
    index_min: int
    index_max: int
    number_min: int
    number_max: int
    place_min: int
    place_max: int
    view_min: int
    view_max: int
    control: int
    positioned: int
    safe: int

    @property
    def one_view(self) -> int | None:
        """The view that all of its deliveries name; None if they name several."""
        return self.view_min if self.view_min == self.view_max else None


class Course(Struct, frozen=True):
    """How the views of a life went, and where its order was broken, by the records that are no messages."""

    breaks: list[int]
    """Indices of records behind which the order goes on elsewhere, or in another view."""
    starts: list[tuple[int, int]]
    """Index and position of those that say where it goes on."""
    order_views: list[tuple[int, int]]
    """Index and the newest view in the order from there on ..."""
    installed: list[tuple[int, int]]
    """... and the view that is installed."""
    retracted: list[tuple[int, int]]
    """Index of each retraction, and from which position on."""

    def order_view(self, index: int) -> int:
        """The newest view in the order, before a record."""
        return _at(self.order_views, index)

    def is_broken_within(self, first: int, last: int) -> bool:
        """Whether the order is broken between two records."""
        at = bisect_left(self.breaks, first)
        return at < len(self.breaks) and self.breaks[at] < last

    def is_in_one_view(self, first: int, last: int, view: int) -> bool:
        """Whether just that view is installed between two records."""
        changes = [index for index, _ in self.installed if first <= index <= last]
        return not changes and _at(self.installed, first) == view


def _at(steps: list[tuple[int, int]], index: int) -> int:
    place = bisect_left(steps, (index, NO_VIEW))
    return steps[place - 1][1] if place else NO_VIEW


def course_of(records: Iterable[TraceRecord]) -> Course:
    """Of one life, by its records that are no messages, in their order."""
    course = Course([], [(NO_VIEW, 0)], [], [], [])
    for record in records:
        in_order = record.delivery_index is not None
        match record.kind:
            case Kind.RETRACT | Kind.RECOVER:
                course.breaks.append(record.index)
                course.order_views.append((record.index, NO_VIEW))
                if record.position is not None:
                    course.starts.append((record.index, record.position))
                if record.kind is Kind.RETRACT:
                    course.retracted.append((record.index, record.position or 0))
                elif record.position is None:
                    course.installed.append((record.index, NO_VIEW))
            case Kind.VIEW if record.view is not None:
                if not in_order:
                    course.installed.append((record.index, record.view))
                if in_order or record.detail is None:
                    course.breaks.append(record.index)
                    course.order_views.append((record.index, record.view))
            case _:
                pass
    return course


class Layout:
    """The blocks of one run, life by life."""

    def __init__(
        self,
        blocks: Iterable[Block],
        courses: dict[LifeId, Course],
        finalized: dict[LifeId, int],
        suspects: Iterable[int],
    ) -> None:
        self._courses = courses
        self._finalized = finalized
        self.suspects = set(suspects)
        """Blocks that are no quiet ones."""
        self._lives: dict[LifeId, list[Block]] = {}
        for block in sorted(blocks, key=lambda block: (block.life, block.index_min)):
            self._lives.setdefault(block.life, []).append(block)
        for life, own in self._lives.items():
            self.suspects.update(self._troubled(courses.get(life) or course_of(()), own))
        self.suspects.update(self._not_final())

    def _troubled(self, course: Course, blocks: list[Block]) -> Iterator[int]:
        """Blocks that a life does not go through as it should."""
        before: Block | None = None
        for block in blocks:
            if block.control or not self._is_regular(course, block):
                yield block.block
            if not _follows(course, before, block):
                yield block.block
                if before is not None:
                    yield before.block
            before = block
        for index, position in course.retracted:
            yield from (each.block for each in blocks if each.index_min < index and each.place_max >= position)

    def _is_regular(self, course: Course, block: Block) -> bool:
        first, last = block.index_min, block.index_max
        in_view = block.one_view is not None and block.one_view == course.order_view(first)
        is_held = not block.safe or course.is_in_one_view(first, last, block.view_max)
        return in_view and is_held and not course.is_broken_within(first, last)

    def _not_final(self) -> Iterator[int]:
        """Blocks that nowhere become final as a whole: of these only a part counts as a part of the order."""
        final: dict[int, bool] = {}
        for life, blocks in self._lives.items():
            below = self._finalized.get(life, 0)
            for each in blocks:
                is_final = not each.positioned or each.place_max < below
                final[each.block] = final.get(each.block, False) or is_final
        return (block for block, is_final in final.items() if not is_final)

    def around(self, life: LifeId, index: int) -> Iterator[int]:
        """The blocks that a life is in at a record, or has just left."""
        blocks = self._lives.get(life, [])
        place = bisect_left([each.index_min for each in blocks], index)
        yield from (each.block for each in blocks[max(0, place - 1) : place])

    @property
    def telling(self) -> set[LifeId]:
        """The lives that tell of the quiet blocks: of each the first that has it."""
        first: dict[int, LifeId] = {}
        for life in sorted(self._lives):
            for each in self._lives[life]:
                first.setdefault(each.block, life)
        return {life for block, life in first.items() if block not in self.suspects}

    def quiet(self) -> list[tuple[int, int]]:
        """Begin and end of the quiet blocks, by position."""
        ends = {
            each.block: (each.place_min, each.place_max + 1)
            for blocks in self._lives.values()
            for each in blocks
            if each.block not in self.suspects
        }
        return sorted(ends.values())

    def stretches(self, newest: dict[int, dict[LifeId, int]]) -> dict[LifeId, list[Stretch]]:
        """What each life may pass over, in order; `newest` has the newest message of each sender, by block."""
        return {
            life: [_stretch(each, newest.get(each.block, {})) for each in blocks if each.block not in self.suspects]
            for life, blocks in self._lives.items()
        }


def _follows(course: Course, before: Block | None, block: Block) -> bool:
    """Whether a block goes on where the one before has ended, or where the life has begun or begun again."""
    since = -1 if before is None else before.index_max
    starts = [position for index, position in course.starts if since <= index < block.index_min]
    number, place = (0, 0) if before is None else (before.number_max + 1, before.place_max + 1)
    if starts:
        place = starts[-1]
    return block.index_min > since and (block.number_min, block.place_min) == (number, place)


def _stretch(block: Block, newest: dict[LifeId, int]) -> Stretch:
    return Stretch(
        life=block.life,
        index_max=block.index_max,
        next_delivery=block.number_max + 1,
        end=block.place_max + 1,
        newest={sender: message & SEQS_MAX - 1 for sender, message in newest.items()},
    )
