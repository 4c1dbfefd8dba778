"""When a position is final, and when a safe bundle may be delivered."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordercast.core.ids import SiteId, ViewId
from ordercast.core.views import View
from ordercast.protocols.groups.finality import Finality
from tests.layers import sites


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
