"""Mistakes in views."""

from __future__ import annotations

import random
from collections import Counter

from msgspec.structs import replace

from ordercast.core.trace import CONTINUES, Kind
from ordercast.verify.audit.chain import PRIMARY_CHAIN
from ordercast.verify.audit.life import life_of
from ordercast.verify.audit.same_view import SAME_VIEW
from ordercast.verify.audit.virtual_synchrony import VIRTUAL_SYNCHRONY
from tests.verify.audit.planting import (
    Planted,
    Records,
    changed_at,
    deliveries,
    inserted,
    owner,
    pick,
    unordered,
)


def left_out_by_one_member(records: Records, rng: random.Random) -> Planted | None:
    """A member goes on to the next view with the others without a fifo or causal message that they have."""
    places = []
    for place in unordered(records):
        one = records[place]
        goes_on = {
            each.site
            for each in records
            if each.kind is Kind.VIEW and each.detail == CONTINUES and each.view == (one.view or 0) + 1
        }
        sender = life_of(one.message or 0)
        later = [each for each in records[place + 1 :] if each.kind is Kind.DELIVER and owner(each) == owner(one)]
        follows = any(each.position is None and life_of(each.message or 0) == sender for each in later)
        have = {each.site for each in records if each.kind is Kind.DELIVER and each.message == one.message}
        if one.site in goes_on and len(goes_on & have) > 1 and not follows:
            places.append(place)
    if not places:
        return None
    place = rng.choice(places)
    one = records[place]
    assert one.message is not None
    return Planted(changed_at(records, {place: None}), VIRTUAL_SYNCHRONY, (one.site,), (), (one.message,))


def delivered_in_the_next_view(records: Records, rng: random.Random) -> Planted | None:
    """A member delivers in the next view what the others delivered before they went there."""
    planted = left_out_by_one_member(records, rng)
    if planted is None:
        return None
    (site,), (message,) = planted.sites, planted.messages
    gone = next(each for each in records if each.kind is Kind.DELIVER and (each.site, each.message) == (site, message))
    view = (gone.view or 0) + 1
    entered = next(
        place
        for place, each in enumerate(planted.records)
        if each.kind is Kind.VIEW and each.detail == CONTINUES and (each.site, each.view) == (site, view)
    )
    late = inserted(planted.records, entered + 1, replace(gone, view=view))
    return Planted(late, SAME_VIEW, (), (), (message,))


def named_another_view(records: Records, rng: random.Random) -> Planted | None:
    """A delivery names a view that is not the one it follows in the order."""
    place = pick(rng, deliveries(records))
    if place is None:
        return None
    one = records[place]
    assert one.position is not None
    assert one.message is not None
    changed = changed_at(records, {place: replace(one, view=(one.view or 0) + 1)})
    return Planted(changed, SAME_VIEW, (one.site,), (one.position,), (one.message,))


def two_views_of_one_number(records: Records, rng: random.Random) -> Planted | None:
    """A site installs a view without one of the members that others see in it."""
    times = Counter(each.view for each in records if each.kind is Kind.VIEW and each.position is None)
    place = pick(
        rng,
        (
            place
            for place, each in enumerate(records)
            if each.kind is Kind.VIEW and each.position is None and len(each.members or ()) > 2 and times[each.view] > 1
        ),
    )
    if place is None:
        return None
    one = records[place]
    members = tuple(each for each in one.members or () if each == one.site or each != max(one.members or ()))
    if members == one.members:
        members = tuple(each for each in one.members or () if each != min(one.members or ()))
    return Planted(changed_at(records, {place: replace(one, members=members)}), PRIMARY_CHAIN, ())


def view_without_quorum(records: Records, rng: random.Random) -> Planted | None:
    """The sites of a minority go on with a view of their own, with the next number."""
    views = {each.view: each.members for each in records if each.kind is Kind.VIEW and each.position is None}
    leaves = [each for each in records if each.kind is Kind.LEAVE]
    numbers = [
        number
        for number, members in views.items()
        if number and number + 1 in views and members and 2 * (1 + _count(leaves, number)) < len(members)
    ]
    if not numbers:
        return None
    number = rng.choice(numbers) + 1
    alone = (max(views[number - 1] or ()),)
    changed = [
        replace(each, members=alone) if each.kind is Kind.VIEW and each.view == number else each for each in records
    ]
    return Planted(changed, PRIMARY_CHAIN, alone)


def _count(leaves: Records, view: int) -> int:
    """How many leave a view, and so speak for the next one with those who go on."""
    return len({each.site for each in leaves if each.view == view})
