"""Mistakes in how messages with a position and those without follow each other."""

from __future__ import annotations

import random
from collections.abc import Iterator

from msgspec.structs import replace

from ordercast.core.trace import Kind, TraceRecord
from ordercast.verify.audit.mixed import MIXED_LEVELS
from ordercast.verify.properties import CAUSAL_ORDER
from tests.verify.audit.planting import (
    Planted,
    Records,
    changed_at,
    deliveries,
    owner,
    settled_below,
)

ORDERED = ("agreed", "safe")


def ordered_before_its_cause(records: Records, rng: random.Random) -> Planted | None:
    """A site delivers an agreed message, and only then a causal one that its sender had delivered before."""
    depends = {each.message: each.depends or () for each in records if each.kind is Kind.MULTICAST}
    wanted = set(deliveries(records))
    last: dict[tuple[int, int], int] = {}
    pairs: list[tuple[int, int]] = []
    for place, record in enumerate(records):
        before = last.get(owner(record))
        if before is not None and place in wanted and records[before].kind is Kind.DELIVER:
            cause = records[before]
            precedes = cause.message in depends.get(record.message, ()) and cause.origin != record.origin
            if precedes and cause.position is None and cause.view == record.view:
                pairs.append((before, place))
        last[owner(record)] = place
    if not pairs:
        return None
    first, second = rng.choice(pairs)
    one, other = records[first], records[second]
    assert one.message is not None
    assert other.message is not None
    changed = changed_at(records, {first: other, second: one})
    return Planted(changed, CAUSAL_ORDER, (one.site,), (), (other.message, one.message))


def ordered_before_what_it_follows(records: Records, rng: random.Random) -> Planted | None:
    """Two agreed messages change places everywhere; the later one followed the other by way of one without position."""
    places = _final_places(records)
    pairs = [(one, other) for one, other in _following(records) if one in places and other in places]
    pairs = [(one, other) for one, other in pairs if places[one][1:] == places[other][1:]]
    if not pairs:
        return None
    one, other = rng.choice(pairs)
    parts = ("message", "origin", "origin_incarnation", "seq", "level", "size")
    held = {each.message: each for each in records if each.kind is Kind.MULTICAST}
    other_way = {one: held[other], other: held[one]}
    changed = [
        replace(each, **{name: getattr(other_way[each.message], name) for name in parts})
        if each.position is not None and each.message in other_way
        else each
        for each in records
    ]
    return Planted(changed, MIXED_LEVELS, (), (places[one][0], places[other][0]), (one, other))


def _final_places(records: Records) -> dict[int, tuple[int, int | None]]:
    """Of each message that comes up in the view in which it was multicast: its position, and that view."""
    below = settled_below(records)
    sent_in = {each.message: each.view for each in records if each.kind is Kind.MULTICAST}
    return {
        each.message: (each.position, each.view)
        for each in records
        if each.kind is Kind.DELIVER
        and each.message is not None
        and each.position is not None
        and each.position < below.get(owner(each), 0)
        and each.view is not None
        and sent_in.get(each.message) == each.view
    }


def _following(records: Records) -> Iterator[tuple[int, int]]:
    """Agreed messages, and such as follow them: the newest that the sender of a message had multicast before it, with
    those for which that message is the past."""
    newest: dict[tuple[int, int], TraceRecord] = {}
    before: dict[int, TraceRecord] = {}
    for each in records:
        if each.kind is not Kind.MULTICAST or each.message is None:
            continue
        if each.level in ORDERED:
            for cause in each.depends or ():
                first = before.get(cause)
                if first is not None and first.origin != each.origin and first.view == each.view:
                    yield first.message or 0, each.message
            newest[owner(each)] = each
        elif owner(each) in newest:
            before[each.message] = newest[owner(each)]
