"""Mistakes in the order, in what is delivered and in what precedes it."""

from __future__ import annotations

import random

from msgspec.structs import replace

from ordercast.core.ids import SiteId, pack_message_id
from ordercast.core.trace import Kind, TraceRecord
from ordercast.verify.properties import (
    CAUSAL_ORDER,
    FIFO_ORDER,
    NO_CREATION,
    NO_DUPLICATION,
    TOTAL_ORDER,
)
from tests.verify.audit.planting import (
    Planted,
    Records,
    changed_at,
    deliveries,
    inserted,
    known_elsewhere,
    neighbours,
    owner,
    pick,
    settled_below,
    swapped,
    unordered,
)
from tests.verify.audit.traces import counted


def swap_at_one_site(records: Records, rng: random.Random) -> Planted | None:
    """Two neighbours of different senders come up the other way round at one site."""
    pairs = [
        (first, second)
        for first, second in neighbours(records, deliveries(records))
        if records[first].origin != records[second].origin and known_elsewhere(records, first) > 1
    ]
    if not pairs:
        return None
    first, second = rng.choice(pairs)
    one, other = records[first], records[second]
    assert one.position is not None
    assert one.message is not None
    assert other.message is not None
    changed = swapped(records, first, second)
    return Planted(changed, TOTAL_ORDER, (one.site,), (one.position,), (one.message, other.message))


def swap_of_one_sender(records: Records, rng: random.Random) -> Planted | None:
    """Two messages of one sender come up the other way round."""
    pairs = [
        (first, second)
        for first, second in neighbours(records, deliveries(records))
        if (records[first].message or 0) + 1 == records[second].message and records[first].level == "agreed"
    ]
    if not pairs:
        return None
    first, second = rng.choice(pairs)
    one, other = records[first], records[second]
    assert one.message is not None
    assert other.message is not None
    assert other.position is not None
    changed = swapped(records, first, second)
    return Planted(changed, FIFO_ORDER, (one.site,), (other.position,), (one.message, other.message))


def left_out_in_the_order(records: Records, rng: random.Random) -> Planted | None:
    """Every site leaves out a message, as if its sender had never said it; what its sender says later stays."""
    place = pick(rng, (place for place in deliveries(records) if _has_follower(records, place)))
    if place is None:
        return None
    gone = records[place]
    assert gone.position is not None
    assert gone.message is not None
    changed = []
    for each in records:
        if each.position is not None and each.kind is not Kind.MULTICAST:
            is_gone = each.kind in (Kind.DELIVER, Kind.ORDER) and each.message == gone.message
            moved = each.position > gone.position
            each = replace(each, position=each.position - 1) if moved else each
            if is_gone:
                continue
        changed.append(each)
    return Planted(counted(changed), FIFO_ORDER, (), (), (gone.message,))


def _has_follower(records: Records, place: int) -> bool:
    """Whether a later ordered message of the same life is final somewhere."""
    wanted = records[place]
    below = max(settled_below(records).values())
    return any(
        each.kind is Kind.DELIVER
        and each.position is not None
        and (wanted.position or 0) < each.position < below
        and (each.origin, each.origin_incarnation) == (wanted.origin, wanted.origin_incarnation)
        for each in records
    )


def delivered_twice(records: Records, rng: random.Random) -> Planted | None:
    """A site delivers a message, and at the next position the same again in place of what the others have there."""
    pairs = neighbours(records, deliveries(records))
    if not pairs:
        return None
    first, second = rng.choice(pairs)
    one, other = records[first], records[second]
    assert one.message is not None
    assert other.position is not None
    again = replace(one, position=other.position, final=other.final)
    return Planted(changed_at(records, {second: again}), NO_DUPLICATION, (one.site,), (other.position,), (one.message,))


def delivered_twice_without_position(records: Records, rng: random.Random) -> Planted | None:
    """A site delivers a fifo or causal message twice."""
    place = pick(rng, unordered(records))
    if place is None:
        return None
    again = records[place]
    assert again.message is not None
    return Planted(inserted(records, place + 1, again), NO_DUPLICATION, (again.site,), (), (again.message,))


def swapped_without_position(records: Records, rng: random.Random) -> Planted | None:
    """A site delivers two fifo or causal messages of one sender the other way round."""
    pairs = [
        (first, second)
        for first, second in neighbours(records, unordered(records))
        if (records[first].message or 0) + 1 == records[second].message
    ]
    if not pairs:
        return None
    first, second = rng.choice(pairs)
    one, other = records[first], records[second]
    assert one.message is not None
    assert other.message is not None
    return Planted(swapped(records, first, second), FIFO_ORDER, (one.site,), (), (one.message, other.message))


def invented(records: Records, rng: random.Random) -> Planted | None:
    """A site delivers a message that nobody has multicast."""
    place = pick(rng, [*deliveries(records), *unordered(records)])
    if place is None:
        return None
    one = records[place]
    seq = 1 + max(each.seq or 0 for each in records if each.kind is Kind.MULTICAST and each.origin == one.origin)
    assert one.origin is not None
    assert one.origin_incarnation is not None
    message = pack_message_id(SiteId(one.origin), one.origin_incarnation, seq)
    changed = changed_at(records, {place: replace(one, message=message, seq=seq)})
    ends = {owner(each) for each in records if each.kind in (Kind.END, Kind.CRASH)}
    if (one.origin, one.origin_incarnation) not in ends:
        return None
    return Planted(changed, NO_CREATION, (), (), (message,))


def never_multicast(records: Records, rng: random.Random) -> Planted | None:
    """The record of a multicast is missing, with those of the same life whole on both sides."""
    delivered = {each.message for each in records if each.kind is Kind.DELIVER}
    place = pick(
        rng, (place for place, each in enumerate(records) if each.kind is Kind.MULTICAST and each.message in delivered)
    )
    if place is None:
        return None
    message = records[place].message
    assert message is not None
    return Planted(changed_at(records, {place: None}), NO_CREATION, (), (), (message,))


def before_its_cause(records: Records, rng: random.Random) -> Planted | None:
    """A site delivers a causal message, and only then one that its sender had delivered before."""
    depends = {each.message: each.depends for each in records if each.kind is Kind.MULTICAST and each.level == "causal"}
    pairs = []
    for first, second in neighbours(records, unordered(records)):
        one, other = records[first], records[second]
        if one.message in (depends.get(other.message) or ()) and one.origin != other.origin:
            pairs.append((first, second))
    if not pairs:
        return None
    first, second = rng.choice(pairs)
    one, other = records[first], records[second]
    assert one.message is not None
    assert other.message is not None
    return Planted(swapped(records, first, second), CAUSAL_ORDER, (one.site,), (), (other.message, one.message))


def answered_in_advance(records: Records, rng: random.Random) -> Planted | None:
    """A message has a position below what its sender had delivered already when it multicast."""
    below = settled_below(records)
    if any(each.kind is Kind.RETRACT for each in records):
        return None
    places = []
    for place, each in enumerate(records):
        if each.kind is Kind.MULTICAST and each.level in ("agreed", "safe"):
            own = next((other for other in records[place:] if _places(other, each.message, below)), None)
            if own is not None:
                places.append((place, own))
    if not places:
        return None
    place, own = rng.choice(places)
    multicast = records[place]
    after = next(at for at, each in enumerate(records) if each is own) + 1
    assert multicast.message is not None
    assert own.position is not None
    moved = [*records[:place], *records[place + 1 : after], multicast, *records[after:]]
    return Planted(counted(moved), CAUSAL_ORDER, (own.site,), (own.position,), (multicast.message,))


def _places(record: TraceRecord, message: int | None, below: dict[tuple[int, int], int]) -> bool:
    """Whether the origin delivers its message, to stay."""
    return (
        record.kind is Kind.DELIVER
        and record.message == message
        and owner(record) == (record.origin, record.origin_incarnation)
        and (record.position or 0) < below.get(owner(record), 0)
    )
