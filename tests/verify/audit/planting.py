"""Mistakes planted into a clean trace, one for each kind of violation, with the witness that an audit must give.

A plant changes records as if the group had done wrong, and keeps `index` and `delivery_index` whole; else every plant
would be found by its gaps alone.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable

from msgspec import Struct
from msgspec.structs import replace

from ordercast.core.trace import Kind, TraceRecord
from ordercast.verify.properties import Violation
from tests.verify.audit.traces import counted

Records = list[TraceRecord]


class Planted(Struct, frozen=True):
    """A trace with a mistake in it, and what must be said of that."""

    records: Records
    property: str
    sites: tuple[int, ...] = ()
    positions: tuple[int, ...] = ()
    messages: tuple[int, ...] = ()

    def is_named_by(self, violation: Violation) -> bool:
        """Whether the violation is the planted one, and its witness names all of it."""
        return (
            violation.property == self.property
            and set(self.sites) <= set(violation.sites)
            and set(self.positions) <= set(violation.positions)
            and set(self.messages) <= set(violation.messages)
        )


Plant = Callable[[Records, random.Random], Planted | None]
"""None: the trace has no place for this mistake."""


def changed_at(records: Records, changes: dict[int, TraceRecord | None]) -> Records:
    """Records replaced or, with None, left out; the rest counted anew."""
    result = [changes.get(place, record) for place, record in enumerate(records)]
    return counted([record for record in result if record is not None])


def inserted(records: Records, place: int, *more: TraceRecord) -> Records:
    return counted([*records[:place], *more, *records[place:]])


def pick(rng: random.Random, places: Iterable[int]) -> int | None:
    """One of several places; None if there is none."""
    found = list(places)
    return rng.choice(found) if found else None


def owner(record: TraceRecord) -> tuple[int, int]:
    return record.site, record.incarnation


def settled_below(records: Records) -> dict[tuple[int, int], int]:
    """For each life the position below which all is final to it in the end."""
    below: dict[tuple[int, int], int] = {}
    for record in records:
        if record.kind in (Kind.FINALIZE, Kind.RECOVER) and record.position is not None:
            below[owner(record)] = record.position
    return below


def deliveries(records: Records) -> list[int]:
    """Where agreed and safe messages are delivered that become final, at sites that take nothing back."""
    below = settled_below(records)
    retracted = {owner(each) for each in records if each.kind is Kind.RETRACT}
    return [
        place
        for place, each in enumerate(records)
        if each.kind is Kind.DELIVER
        and each.position is not None
        and each.position < below.get(owner(each), 0)
        and owner(each) not in retracted
    ]


def unordered(records: Records) -> list[int]:
    return [
        place for place, each in enumerate(records) if each.kind is Kind.DELIVER and each.level in ("fifo", "causal")
    ]


def known_elsewhere(records: Records, place: int) -> int:
    """How many sites deliver at the position of a record, and have it final in the end."""
    below = settled_below(records)
    position = records[place].position or 0
    return len(
        {
            each.site
            for each in records
            if each.position == position and each.delivery_index is not None and below.get(owner(each), 0) > position
        }
    )


def neighbours(records: Records, places: list[int]) -> list[tuple[int, int]]:
    """Pairs of deliveries that follow each other at one site, none of its other records between them."""
    last: dict[tuple[int, int], int] = {}
    wanted = set(places)
    pairs = []
    for place, record in enumerate(records):
        before = last.get(owner(record))
        if place in wanted and before in wanted and before is not None:
            first = records[before]
            if (record.position or 0) - (first.position or 0) in (0, 1) and first.view == record.view:
                pairs.append((before, place))
        last[owner(record)] = place
    return pairs


def swapped(records: Records, first: int, second: int) -> Records:
    """Two deliveries change places, their positions stay."""
    one, other = records[first], records[second]
    names = ("message", "origin", "origin_incarnation", "seq", "level", "size")
    of_one = {name: getattr(one, name) for name in names}
    of_other = {name: getattr(other, name) for name in names}
    return changed_at(records, {first: replace(one, **of_other), second: replace(other, **of_one)})
