"""Mistakes in what is final, and in safe delivery."""

from __future__ import annotations

import random

from msgspec.structs import replace

from ordercast.core.trace import Kind, TraceRecord
from ordercast.verify.audit.finality import FINALITY, RETRACTION
from ordercast.verify.audit.safe import SAFE_DELIVERY
from tests.verify.audit.planting import (
    Planted,
    Records,
    changed_at,
    deliveries,
    inserted,
    owner,
    pick,
    settled_below,
)
from tests.verify.audit.traces import counted


def retracted_below_final(records: Records, rng: random.Random) -> Planted | None:
    """A site takes back what was final."""
    place = pick(rng, (place for place, each in enumerate(records) if each.kind is Kind.FINALIZE and each.position))
    if place is None:
        return None
    one = records[place]
    position = rng.randrange(one.position or 1)
    retract = replace(one, kind=Kind.RETRACT, position=position)
    return Planted(inserted(records, place + 1, retract), RETRACTION, (one.site,), (position,))


def final_goes_back(records: Records, rng: random.Random) -> Planted | None:
    """A site says that less is final than it had said."""
    place = pick(rng, (place for place, each in enumerate(records) if each.kind is Kind.FINALIZE and each.position))
    if place is None:
        return None
    one = records[place]
    less = replace(one, position=rng.randrange(one.position or 1))
    return Planted(inserted(records, place + 1, less), FINALITY, (one.site,), (less.position or 0,))


def other_in_the_next_life(records: Records, rng: random.Random) -> Planted | None:
    """Of the trace of one site alone: what was final at a position in one life is something else in the next."""
    site = pick(rng, dict.fromkeys(each.site for each in records if each.kind is Kind.RECOVER and each.incarnation))
    own = [each for each in records if each.site == site]
    place = next((place for place, each in enumerate(own) if each.kind is Kind.RECOVER and each.incarnation), None)
    if place is None:
        return None
    begin = own[place]
    position = (begin.position or 0) - 1
    was = next((each for each in own[:place][::-1] if each.position == position and each.kind is Kind.DELIVER), None)
    others = [each for each in own[:place] if each.kind is Kind.DELIVER and each.position not in (None, position)]
    is_final = settled_below(own).get(owner(begin), 0) > begin.position if begin.position else False
    if was is None or was.message is None or not others or not is_final:
        return None
    other = rng.choice(others)
    again = replace(other, incarnation=begin.incarnation, position=position, final=False, view=None)
    planted = counted([*own[:place], replace(begin, position=position), again, *own[place + 1 :]])
    assert other.message is not None
    return Planted(planted, FINALITY, (begin.site,), (position,), (was.message, other.message))


def called_final_too_early(records: Records, rng: random.Random) -> Planted | None:
    """A site delivers as final what is not final yet."""
    place = pick(rng, (place for place in deliveries(records) if records[place].final is False))
    if place is None:
        return None
    one = records[place]
    assert one.position is not None
    return Planted(changed_at(records, {place: replace(one, final=True)}), FINALITY, (one.site,), (one.position,))


def safe_before_final(records: Records, rng: random.Random) -> Planted | None:
    """A safe message is delivered, and only then is its position final."""
    pairs = []
    last: dict[tuple[int, int], int] = {}
    for place, record in enumerate(records):
        before = last.get(owner(record))
        if (
            before is not None
            and record.kind is Kind.DELIVER
            and record.level == "safe"
            and records[before].kind is Kind.FINALIZE
            and (_final_before(records, before) <= (record.position or 0) < (records[before].position or 0))
        ):
            pairs.append((before, place))
        last[owner(record)] = place
    if not pairs:
        return None
    first, second = rng.choice(pairs)
    finalize, safe = records[first], records[second]
    assert safe.position is not None
    assert safe.message is not None
    changed = changed_at(records, {first: replace(safe, final=False), second: finalize})
    return Planted(changed, SAFE_DELIVERY, (safe.site,), (safe.position,), (safe.message,))


def _final_before(records: Records, place: int) -> int:
    """What was final at a site just before a record."""
    life = owner(records[place])
    for each in reversed(records[:place]):
        if owner(each) == life and each.kind in (Kind.FINALIZE, Kind.RECOVER):
            return each.position or 0
    return 0


def safe_held_by_too_few(records: Records, rng: random.Random) -> Planted | None:
    """Only one site ever had a safe message in its log."""
    if any(each.kind is Kind.RECOVER for each in records):
        return None
    place = pick(rng, (place for place in deliveries(records) if records[place].level == "safe"))
    if place is None:
        return None
    safe = records[place]
    gone: dict[int, TraceRecord | None] = {
        at: None
        for at, each in enumerate(records)
        if each.kind is Kind.ORDER and each.message == safe.message and each.site != safe.site
    }
    size = next(each.size for each in records if each.kind is Kind.VIEW and each.size)
    if not gone or size == 1:
        return None
    assert safe.position is not None
    assert safe.message is not None
    return Planted(changed_at(records, gone), SAFE_DELIVERY, (), (safe.position,), (safe.message,))
