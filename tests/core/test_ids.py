"""Message ids: three numbers in one positive 64-bit integer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordercast.core.ids import (
    INCARNATIONS_MAX,
    ORIGIN_SHIFT,
    SEQS_MAX,
    SITES_MAX,
    SiteId,
    incarnation_of,
    origin_of,
    pack_message_id,
    seq_of,
)

sites = st.integers(0, SITES_MAX - 1).map(SiteId)
incarnations = st.integers(0, INCARNATIONS_MAX - 1)
seqs = st.integers(0, SEQS_MAX - 1)


@given(sites, incarnations, seqs)
def test_what_is_packed_can_be_unpacked(origin: SiteId, incarnation: int, seq: int) -> None:
    message = pack_message_id(origin, incarnation, seq)
    assert (origin_of(message), incarnation_of(message), seq_of(message)) == (origin, incarnation, seq)
    assert message >> ORIGIN_SHIFT == origin
    assert 0 <= message < 1 << 63


@given(st.tuples(sites, incarnations, seqs), st.tuples(sites, incarnations, seqs))
def test_ids_compare_like_their_parts(one: tuple[SiteId, int, int], other: tuple[SiteId, int, int]) -> None:
    assert (pack_message_id(*one) < pack_message_id(*other)) == (one < other)


@given(sites, incarnations, st.integers(0, SEQS_MAX - 2))
def test_the_next_message_of_a_bundle_has_the_next_id(origin: SiteId, incarnation: int, seq: int) -> None:
    assert pack_message_id(origin, incarnation, seq) + 1 == pack_message_id(origin, incarnation, seq + 1)


@pytest.mark.parametrize(
    ("origin", "incarnation", "seq"),
    [(SITES_MAX, 0, 0), (0, INCARNATIONS_MAX, 0), (0, 0, SEQS_MAX), (-1, 0, 0), (0, -1, 0), (0, 0, -1)],
)
def test_a_part_that_does_not_fit_is_refused(origin: int, incarnation: int, seq: int) -> None:
    with pytest.raises(AssertionError, match="does not fit"):
        pack_message_id(SiteId(origin), incarnation, seq)
