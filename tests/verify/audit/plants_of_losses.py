"""What is missing: records, positions, messages; and what is there that should not be."""

from __future__ import annotations

import random

from msgspec.structs import replace

from ordercast.core.ids import SiteId, pack_message_id
from ordercast.core.trace import Kind
from ordercast.verify.audit.gaps import GAPS
from ordercast.verify.properties import (
    VALIDITY,
)
from tests.verify.audit.planting import (
    Planted,
    Records,
    changed_at,
    deliveries,
    inserted,
    neighbours,
    owner,
)


def record_lost(records: Records, rng: random.Random) -> Planted | None:
    """A record is missing in the midst of a life."""
    last = {owner(each): place for place, each in enumerate(records)}
    place = rng.choice([place for place, each in enumerate(records) if last[owner(each)] != place])
    return Planted([*records[:place], *records[place + 1 :]], GAPS, (records[place].site,))


def position_left_out(records: Records, rng: random.Random) -> Planted | None:
    """A site does not deliver what has a position, and goes on behind it."""
    places = neighbours(records, deliveries(records))
    if not places:
        return None
    first, second = rng.choice(places)
    left_out, position = records[first].position, records[second].position
    assert position is not None
    assert left_out is not None
    return Planted(changed_at(records, {first: None}), GAPS, (records[first].site,), (left_out, position))


def never_delivered(records: Records, rng: random.Random) -> Planted | None:
    """A message, multicast as the last of a life that ends in good order, is delivered nowhere."""
    ends = [each for each in records if each.kind is Kind.END and each.final]
    if not ends:
        return None
    end = rng.choice(ends)
    newest = [each.seq or 0 for each in records if each.kind is Kind.MULTICAST and owner(each) == owner(end)]
    seq = max(newest, default=-1) + 1
    message = pack_message_id(SiteId(end.site), end.incarnation, seq)
    level = rng.choice(["fifo", "causal", "agreed", "safe"])
    parts = {"origin": end.site, "origin_incarnation": end.incarnation, "seq": seq, "message": message}
    more = replace(end, kind=Kind.MULTICAST, final=None, level=level, **parts)
    place = next(place for place, each in enumerate(records) if each is end)
    return Planted(inserted(records, place, more), VALIDITY, (end.site,), (), (message,))
