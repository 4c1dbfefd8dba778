"""When a position is final, and when a safe bundle may be delivered."""

from __future__ import annotations

from functools import partial
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordercast.core.deliveries import Delivered, Finalized
from ordercast.core.ids import SiteId, ViewId
from ordercast.core.views import View
from ordercast.protocols.full import Life
from ordercast.protocols.groups.finality import Finality
from ordercast.protocols.groups.standing import TELL_US
from ordercast.simulator import group_site
from tests.layers import sites
from tests.protocols.groups.live import LiveGroup


def of(size: int, resilience: int = 0) -> Finality:
    return Finality.of(View(ViewId(1), sites(size)), resilience)


@pytest.mark.parametrize(
    ("size", "resilience", "majority", "safe"),
    [(1, 0, 1, 1), (2, 0, 2, 2), (3, 0, 2, 2), (3, 1, 2, 2), (3, 2, 2, 3), (4, 0, 3, 3), (5, 3, 3, 4), (3, 7, 2, 3)],
)
def test_how_many_members_it_takes(size: int, resilience: int, majority: int, safe: int) -> None:
    """`safe` is max(F + 1, a majority), and never more than there are."""
    assert (of(size, resilience).majority, of(size, resilience).safe) == (majority, safe)


@given(st.lists(st.integers(0, 20), min_size=1, max_size=7))
def test_below_a_position_so_many_have_ordered(lengths: list[int]) -> None:
    finality = of(len(lengths))
    for site, length in enumerate(lengths):
        finality.hear(SiteId(site), length)
    for count in range(1, len(lengths) + 1):
        below = finality.below(count)
        assert sum(length >= below for length in lengths) >= count
        assert sum(length >= below + 1 for length in lengths) < count


def test_only_what_is_longer_is_news() -> None:
    finality = of(3)
    assert [finality.hear(SiteId(1), length) for length in (5, 5, 3, 6)] == [True, False, False, True]
    assert finality.lengths[SiteId(1)] == 6


def test_who_is_no_member_does_not_count() -> None:
    finality = of(3)
    assert not finality.hear(SiteId(4), 9)
    assert finality.below(1) == 0


def lone_message_is_final_after_us(tell_us: int) -> int:
    """From its delivery at the site that has multicast it; nobody else multicasts anything."""
    with patch.object(group_site, "Life", partial(Life, tell_us=tell_us)):
        group = LiveGroup(rate=0.3, duration_s=4).run()
    told = [(at_s, event) for at_s, site, event in group.diary.told if site == 0]
    at_s, lone = next((at_s, event) for at_s, event in told if isinstance(event, Delivered))
    assert lone.position is not None
    final_s = next(at for at, event in told if isinstance(event, Finalized) and event.below > lone.position)
    return round((final_s - at_s) * 1e6)


def test_a_lone_message_is_final_as_soon_as_the_host_wants_it_told() -> None:
    usual_us = lone_message_is_final_after_us(TELL_US)
    assert usual_us - lone_message_is_final_after_us(1_000) == TELL_US - 1_000
