"""Each property by itself, on the smallest histories that show it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordercast.core.ids import MessageId, SiteId, pack_message_id
from ordercast.core.trace import Kind, TraceRecord
from ordercast.verify import properties
from ordercast.verify.history import Happening, SiteHistory, from_records
from tests.verify.histories import histories, message


def said(violations: list[properties.Violation]) -> list[str]:
    return [str(violation) for violation in violations]


GOOD = histories(A="!a0 a0 b0 !a1 c0 a1", B="a0 !b0 b0 c0 a1", C="!c0 a0 b0 c0 a1")


def test_a_good_run_violates_nothing() -> None:
    assert properties.check(GOOD) == []


def test_creation_names_what_nobody_has_multicast() -> None:
    run = histories(A="!a0 a0", B="a0 b7")
    assert said(properties.no_creation(run)) == [
        "creation: B, as its entry 1, delivers message 7 of B, which nobody has multicast"
    ]


def test_duplication_names_both_places() -> None:
    run = histories(A="!a0 !a1 a0 a1", B="a0 a1 a0")
    assert said(properties.no_duplication(run)) == [
        "duplication: B, as its entry 2, delivers message 0 of A again, after entry 0"
    ]


def test_fifo_order_asks_for_all_that_the_sender_has_multicast_before() -> None:
    run = histories(A="!a0 !a1 a0 a1", B="a1 a0")
    assert said(properties.fifo_order(run)) == [
        "FIFO order: B, as its entry 0, delivers message 1 of A without message 0 of A"
    ]


def test_fifo_order_does_not_look_at_the_order_of_different_senders() -> None:
    assert properties.fifo_order(histories(A="!a0 a0 b0", B="!b0 b0 a0")) == []


def test_causal_order_goes_through_deliveries() -> None:
    run = histories(A="!a0 a0 b0", B="a0 !b0 b0", C="b0 a0")
    assert said(properties.causal_order(run)) == [
        "causal order: C, as its entry 0, delivers message 0 of B without message 0 of A, which happened before it"
    ]


def test_causal_order_is_transitive() -> None:
    """C never delivered A's message, and yet B's answer to it made C multicast."""
    run = histories(A="!a0 a0", B="a0 !b0 b0", C="b0 !c0")
    run[0].happenings.append(Happening(Kind.DELIVER, message("c0")))
    missing = [violation.what for violation in properties.causal_order(run)]
    assert missing == [
        "A, as its entry 1, delivers message 0 of C without message 0 of B, which happened before it",
        "C, as its entry 0, delivers message 0 of B without message 0 of A, which happened before it",
    ]


def test_causal_order_does_not_count_what_was_multicast_earlier_elsewhere() -> None:
    assert properties.causal_order(histories(A="!a0 a0 b0", B="!b0 a0 b0", C="b0 a0")) == []


def test_causal_order_through_receipts_where_these_are_known() -> None:
    run = histories(A="!a0", B="?a0 !b0", C="b0 a0")
    assert properties.causal_order(run) == []
    assert len(properties.causal_order(run, through=(Kind.DELIVER, Kind.RECEIVE))) == 1


def test_causal_order_survives_histories_that_cannot_be() -> None:
    """Each delivers the other's message before it multicasts its own."""
    assert properties.causal_order(histories(A="b0 !a0", B="a0 !b0")) == []


def test_total_order_names_the_first_difference() -> None:
    run = histories(A="!a0 a0 b0 b1", B="!b0 !b1 a0 b1 b0")
    assert said(properties.total_order(run)) == [
        "total order: B, as its entry 1, delivers message 1 of B, A message 0 of B"
    ]


def test_total_order_lets_a_site_be_behind() -> None:
    assert properties.total_order(histories(A="!a0 a0", B="", C="a0")) == []


def test_validity_asks_every_site_that_is_up_for_what_one_has_multicast() -> None:
    run = histories(A="!a0 !a1", B="a0 a1", C="a0")
    assert said(properties.validity(run)) == [
        "validity: A, after 0 entries, has not delivered message 0 of A, nor 1 more",
        "validity: C, after 1 entries, has not delivered message 1 of A",
    ]


def test_validity_asks_nothing_of_crashed_sites() -> None:
    assert properties.validity(histories(A="!a0 !a1 X", B="", C="")) == []
    assert properties.validity(histories(A="!a0 X", B="!b0 b0", C="b0")) == []


def test_what_a_crashed_site_has_delivered_is_delivered_by_all() -> None:
    assert said(properties.validity(histories(A="!a0 a0 X", B="", C="a0"))) == [
        "validity: B, after 0 entries, has not delivered message 0 of A"
    ]


def test_safety_is_asked_before_the_end_and_validity_only_then() -> None:
    run = histories(A="!a0 a0", B="")
    assert properties.check(run, drained=False) == []
    assert [violation.property for violation in properties.check(run)] == [properties.VALIDITY]


# --- from records ---


def record(site: int, index: int, kind: Kind, message: MessageId | None = None, incarnation: int = 0) -> TraceRecord:
    return TraceRecord(run="run", site=site, incarnation=incarnation, index=index, at_us=0, kind=kind, message=message)


def test_histories_from_records_in_any_order_of_rows() -> None:
    first, second = message("a0"), message("a1")
    rows = [
        record(1, 0, Kind.VIEW),
        record(0, 3, Kind.DELIVER, first),
        record(1, 1, Kind.DELIVER, first),
        record(0, 1, Kind.MULTICAST, first),
        record(0, 2, Kind.TICKET, first),
        record(0, 4, Kind.MULTICAST, second),
        record(1, 2, Kind.CRASH),
    ]
    a, b = from_records(rows, {0: "A"})
    assert (a.name, a.multicasts(), a.deliveries(), a.crashed) == ("A", [first, second], [first], False)
    assert (b.name, b.multicasts(), b.deliveries(), b.crashed) == ("site 1", [], [first], True)


def test_a_life_that_another_one_follows_has_ended() -> None:
    rows = [record(2, 0, Kind.VIEW, incarnation=1), record(2, 0, Kind.VIEW), record(3, 0, Kind.VIEW)]
    lives = from_records(rows)
    assert [(life.name, life.crashed) for life in lives] == [
        ("site 2", True),
        ("site 2 in its life 1", False),
        ("site 3", False),
    ]


# --- what follows from what ---

STEPS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 7)), max_size=40)


def possible_run(steps: list[tuple[int, int]]) -> list[SiteHistory]:
    """Sites multicast, and deliver what has been multicast by then, in whatever order."""
    run = [SiteHistory(SiteId(site), "ABC"[site]) for site in range(3)]
    under_way: list[MessageId] = []
    for site, choice in steps:
        left = [each for each in under_way if each not in run[site].deliveries()]
        if choice == 0 or not left:
            each = pack_message_id(SiteId(site), 0, len(run[site].multicasts()))
            under_way.append(each)
            run[site].happenings.append(Happening(Kind.MULTICAST, each))
        else:
            run[site].happenings.append(Happening(Kind.DELIVER, left[(choice - 1) % len(left)]))
    return run


@given(STEPS)
def test_causal_order_follows_from_total_and_fifo_order(steps: list[tuple[int, int]]) -> None:
    """This is why `CompactJudge` and `OrderChecker` keep no books on causes: a broken cause is a broken order."""
    run = possible_run(steps)
    if properties.causal_order(run):
        assert properties.total_order(run) or properties.fifo_order(run)


@pytest.mark.parametrize("run", [histories(A="!a0 a0 b0", B="a0 !b0 b0", C="b0 a0")])
def test_the_converse_does_happen(run: list[SiteHistory]) -> None:
    assert properties.causal_order(run)
    assert properties.total_order(run)
    assert not properties.fifo_order(run)
