"""The audit on small traces written by hand: what it says, and what it leaves open."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ordercast.core.ids import MessageId, SiteId, incarnation_of, origin_of, pack_message_id, seq_of
from ordercast.core.trace import CONTINUES, JOINS, Kind, TraceRecord
from ordercast.verify import properties
from ordercast.verify.audit.run import Verdict, audit
from ordercast.verify.audit.sparse import CHUNK_BITS, Sparse
from ordercast.verify.history import from_records
from tests.verify.audit.traces import counted

A, B, C = 0, 1, 2
M, N = pack_message_id(SiteId(A), 0, 0), pack_message_id(SiteId(B), 0, 0)


def record(site: int, kind: Kind, message: int | None = None, *, life: int = 0, **columns: Any) -> TraceRecord:
    parts: dict[str, Any] = {}
    if message is not None:
        id = MessageId(message)
        parts = {"origin": origin_of(id), "origin_incarnation": incarnation_of(id), "seq": seq_of(id), "message": id}
    return TraceRecord(run="r", site=site, incarnation=life, index=0, at_us=0, kind=kind, **parts, **columns)


def multicast(message: int, level: str = "agreed", **columns: Any) -> TraceRecord:
    return record(origin_of(MessageId(message)), Kind.MULTICAST, message, level=level, **columns)


def deliver(site: int, message: int, position: int, view: int | None = 1, **columns: Any) -> TraceRecord:
    known: dict[str, Any] = {"level": "agreed", "final": False, "delivery_index": 0, **columns}
    return record(site, Kind.DELIVER, message, position=position, view=view, **known)


def hand(site: int, message: int, level: str = "causal", view: int = 1) -> TraceRecord:
    """A message without a position is delivered."""
    return record(site, Kind.DELIVER, message, level=level, view=view, final=True)


def enter(view: int, *sites: int, how: str = JOINS, members: tuple[int, ...] = (A, B, C)) -> list[TraceRecord]:
    """Sites install a view."""
    return [record(site, Kind.VIEW, view=view, members=members, size=2, detail=how) for site in sites or members]


def finalize(site: int, below: int) -> TraceRecord:
    return record(site, Kind.FINALIZE, position=below)


def comes_up(view: int, position: int, *sites: int) -> list[TraceRecord]:
    """A view has a place in the order."""
    columns: dict[str, Any] = {"view": view, "members": (A, B, C), "position": position, "delivery_index": 0}
    return [record(site, Kind.VIEW, **columns) for site in sites or (A, B, C)]


def begun() -> list[TraceRecord]:
    return [*enter(1), *comes_up(1, 0)]


def judged(*records: TraceRecord | list[TraceRecord]) -> Verdict:
    flat = [each for one in records for each in (one if isinstance(one, list) else [one])]
    return audit(counted(flat))


def broken(*records: TraceRecord | list[TraceRecord]) -> list[str]:
    return list(judged(*records).violated)


# --- what counts ---


def test_two_orders_are_a_violation_once_they_are_final() -> None:
    sent = [multicast(M), multicast(N)]
    told = [deliver(A, M, 1), deliver(A, N, 2), deliver(B, N, 1), deliver(B, M, 2)]
    assert broken(begun(), sent, told, finalize(A, 3)) == []
    verdict = judged(begun(), sent, told, finalize(A, 3), finalize(B, 3))
    assert [(each.property, each.sites, each.view, each.positions) for each in verdict.violations] == [
        ("total order", (B, A), 1, (1,)),
        ("total order", (B, A), 1, (2,)),
    ]
    assert str(verdict.violations[0]) == (
        "total order: site 1 delivers message 0 of site 1 at position 1, site 0 message 0 of site 0"
    )


def test_what_is_taken_back_does_not_count() -> None:
    back = [record(B, Kind.RETRACT, position=1), deliver(B, M, 1, None), deliver(B, N, 2, None), finalize(B, 3)]
    sent = [multicast(M), multicast(N)]
    told = [deliver(A, M, 1), deliver(A, N, 2), finalize(A, 3), deliver(B, N, 1), deliver(B, M, 2)]
    assert broken(begun(), sent, told, back) == []


def test_an_answer_to_what_is_taken_back_comes_up_after_it() -> None:
    answer = pack_message_id(SiteId(C), 0, 0)
    asked = [multicast(M), deliver(C, M, 1), multicast(answer), record(C, Kind.RETRACT, position=1)]
    early = [deliver(A, answer, 1), deliver(A, M, 2), finalize(A, 3)]
    assert broken(begun(), asked, [deliver(A, M, 1), deliver(A, answer, 2), finalize(A, 3)]) == []
    (violation,) = judged(begun(), asked, early).violations
    assert (violation.property, violation.sites, violation.positions) == ("causal order", (C,), (1, 2))
    assert violation.messages == (answer, M)
    assert broken(begun(), multicast(M), multicast(answer), asked[1], asked[3], early) == []
    assert broken(begun(), asked[0], asked[1], asked[3], asked[2], early) == ["causal order"]


def test_an_answer_to_somebody_who_is_away_waits_for_nothing() -> None:
    answer = pack_message_id(SiteId(C), 0, 0)
    asked = [multicast(M), deliver(C, M, 1), multicast(answer), record(C, Kind.RETRACT, position=1)]
    for without in ((B, C), (A, B, C)):
        second = [*enter(2, B, C, how=CONTINUES, members=without), *comes_up(2, 1, B), deliver(B, answer, 2, 2)]
        third = [*enter(3, how=JOINS), *comes_up(3, 3, B), deliver(B, M, 4, 3), finalize(B, 5)]
        assert ("causal order" in broken(begun(), asked, second, third)) == (A in without)


def test_a_message_that_comes_up_again_and_is_void_keeps_its_position() -> None:
    void = record(A, Kind.ORDER, N, position=2, delivery_index=0, final=False, view=1)
    assert broken(begun(), multicast(M), multicast(N), deliver(A, M, 1), void, finalize(A, 3)) == []


def test_deliveries_go_on_where_a_snapshot_ends() -> None:
    assert broken(begun(), multicast(M), record(A, Kind.RECOVER, position=50), deliver(A, M, 50, None)) == []
    assert broken(begun(), multicast(M), record(A, Kind.RECOVER, position=50), deliver(A, M, 51, None)) == ["gaps"]


def test_what_is_not_taken_back_before_a_snapshot_counts() -> None:
    snapshot, back = record(B, Kind.RECOVER, position=50), record(B, Kind.RETRACT, position=1)
    told = [multicast(M), multicast(N), deliver(A, M, 1), finalize(A, 2), deliver(B, N, 1)]
    assert broken(begun(), told, snapshot) == ["total order"]
    assert broken(begun(), told, back, snapshot) == []


# --- what nobody can know ---


def test_a_sender_whose_trace_is_cut_off_may_have_multicast_more() -> None:
    later = M + 1
    told = [deliver(B, M, 1), deliver(B, later, 2), finalize(B, 3)]
    verdict = judged(begun(), multicast(M), told)
    assert verdict.violations == []
    assert verdict.remarks[0] == (
        "the trace of site 0 is cut off or missing, and 1 of its messages were delivered: "
        "that it has multicast them cannot be checked"
    )
    assert broken(begun(), multicast(M), record(A, Kind.CRASH), told) == ["creation"]


def test_a_member_without_a_trace_may_have_multicast_and_a_stranger_not() -> None:
    assert broken(enter(1, B), comes_up(1, 0, B), deliver(B, M, 1), finalize(B, 2)) == []
    stranger = pack_message_id(SiteId(9), 0, 0)
    assert broken(begun(), deliver(B, stranger, 1), finalize(B, 2)) == ["creation"]


def test_those_who_leave_a_view_together_speak_for_it() -> None:
    alone = enter(2, B, how=CONTINUES, members=(B,))
    assert broken(begun(), alone) == ["primary chain"]
    assert broken(begun(), record(A, Kind.LEAVE, view=1), alone) == []
    two, one = enter(2, B, C, members=(B, C)), enter(3, B, members=(B,))
    assert broken(begun(), two, record(C, Kind.LEAVE, view=2), one) == []
    assert broken(enter(1), record(C, Kind.LEAVE, view=1), enter(2, B, members=(B,)), enter(3, A, members=(A,))) == [
        "primary chain"
    ]


def test_validity_is_not_judged_before_the_run_has_come_to_rest() -> None:
    verdict = judged(begun(), multicast(M), record(A, Kind.END, final=False))
    assert verdict.violations == []
    assert verdict.remarks == ["validity is not judged: the run did not come to rest before its end"]
    assert broken(begun(), multicast(M), record(A, Kind.END, final=True)) == ["validity"]


@pytest.mark.parametrize("last", [[], [record(A, Kind.CRASH)], [record(A, Kind.END, final=False)]])
def test_what_came_up_in_another_bundle_has_its_position_too(last: list[TraceRecord]) -> None:
    """Whether the trace of its life is whole or not."""
    void = record(A, Kind.ORDER, M, position=1, delivery_index=0, final=False, view=1)
    sent = [multicast(M), multicast(M + 1)]
    assert broken(begun(), sent, void, deliver(A, M + 1, 2), finalize(A, 3), last) == []
    assert broken(begun(), sent, deliver(A, M + 1, 1), finalize(A, 2), last) == ["FIFO order"]
    assert broken(begun(), sent, last, deliver(B, M + 1, 1), finalize(B, 2)) == ["FIFO order"]


def test_where_recording_goes_on_in_the_midst_of_a_life_nothing_before_is_missed() -> None:
    resumed = record(A, Kind.RECOVER)
    end = record(A, Kind.END, final=True)
    told = [deliver(A, N, 7, None, final=True), deliver(A, M, 8, None), finalize(A, 9)]
    verdict = judged(begun(), resumed, told, end)
    assert verdict.violations == []
    assert verdict.remarks[-1] == "validity is not judged: some sites have not recorded all of their lives"
    assert broken(begun(), resumed, deliver(A, N, 7, None), deliver(A, M, 9, None)) == ["gaps"]
    assert "finality" in broken(begun(), resumed, told, deliver(A, M + 1, 9, None, final=True))


def test_live_sites_that_end_one_after_the_other_need_not_end_alike() -> None:
    ends = [replace(record(site, Kind.END, final=True), at_us=site) for site in (A, B)]
    both = [deliver(B, M, 1), finalize(B, 2)]
    assert broken(begun(), multicast(M), ends[0], both, ends[1]) == []


def test_members_of_the_last_view_have_delivered_as_much() -> None:
    ends = [record(site, Kind.END, final=True) for site in (A, B, C)]
    both = [deliver(A, M, 1), deliver(B, M, 1), finalize(A, 2), finalize(B, 2)]
    verdict = judged(begun(), multicast(M), both, ends)
    assert [(each.property, each.sites, each.positions) for each in verdict.violations] == [
        ("validity", (C, A), (1, 2))
    ]


# --- safe delivery ---


def safely(*holders: int) -> list[TraceRecord]:
    """A delivers M as safe; these have had it in their logs."""
    logged = [record(site, Kind.ORDER, M, level="safe", position=1) for site in holders]
    ends = [record(site, Kind.CRASH) for site in (A, B, C)]
    safe = deliver(A, M, 1, level="safe", final=True)
    return [*begun(), multicast(M, "safe"), *logged, finalize(A, 2), safe, *ends]


@pytest.mark.parametrize(("holders", "expected"), [((A, B), []), ((A, B, C), []), ((A,), ["safe delivery"])])
def test_a_safe_message_is_held_by_enough(holders: tuple[int, ...], expected: list[str]) -> None:
    assert broken(safely(*holders)) == expected


def test_a_member_whose_trace_is_cut_off_may_hold_it() -> None:
    records = [each for each in safely(A) if not (each.site == C and each.kind is Kind.CRASH)]
    assert broken(records) == []


def test_a_message_held_at_another_position_is_not_held() -> None:
    elsewhere = record(B, Kind.ORDER, M, level="safe", position=7)
    records = safely(A)
    assert broken([*records[:6], elsewhere, *records[6:]]) == ["safe delivery"]


# --- fifo and causal messages ---


def test_what_precedes_comes_first() -> None:
    sent = [multicast(M, "causal"), hand(B, M), multicast(N, "causal", depends=(M,))]
    assert broken(begun(), sent, hand(C, M), hand(C, N)) == []
    verdict = judged(begun(), sent, hand(C, N), hand(C, M))
    assert [(each.property, each.sites, each.messages) for each in verdict.violations] == [
        ("causal order", (C,), (N, M))
    ]


def test_what_precedes_an_ordered_message_comes_first() -> None:
    sent = [multicast(M, "causal"), hand(B, M), multicast(N, depends=(M,))]
    assert broken(begun(), sent, deliver(C, N, 1), hand(C, M)) == ["causal order"]


def test_in_one_view_what_precedes_comes_first_even_if_the_view_goes_on_without() -> None:
    """B and C are left behind; what they deliver in the view follows there, and is no past of a later view."""
    sent = [multicast(M, "causal", view=1), hand(B, M), multicast(N, "causal", view=1, depends=(M,))]
    gone = enter(2, A, how=CONTINUES, members=(A,))
    assert "causal order" in broken(enter(1), sent, gone, hand(C, N), hand(C, M))
    later = [*enter(2, A, C, how=CONTINUES, members=(A, B, C)), hand(C, N, view=2)]
    assert broken(enter(1), sent, later) == []


# --- mixed levels ---


def mixed(first: int, second: int, **later: Any) -> list[TraceRecord]:
    """A multicasts an agreed message and a causal one; B has the latter, multicasts another agreed one."""
    sent = [multicast(M, view=1), multicast(M + 1, "causal", view=1), hand(B, M + 1), hand(C, M + 1)]
    answer = multicast(N, **{"view": 1, "depends": (M + 1,), **later})
    return [*begun(), *sent, answer, *sorted((deliver(C, M, first), deliver(C, N, second)), key=position_of)]


def position_of(each: TraceRecord) -> int:
    return each.position or 0


def test_what_follows_by_way_of_a_causal_message_is_ordered_after_it() -> None:
    assert broken(mixed(1, 2), finalize(C, 3)) == []
    verdict = judged(mixed(2, 1), finalize(C, 3))
    assert [(each.property, each.sites, each.positions, each.messages) for each in verdict.violations] == [
        ("mixed levels", (B, A), (1, 2), (N, M))
    ]
    assert broken(mixed(2, 1, depends=None), finalize(C, 3)) == []


def test_what_was_multicast_in_another_view_need_not_follow() -> None:
    assert broken(mixed(2, 1, view=2), finalize(C, 3)) == []


def test_who_comes_later_need_not_have_what_was_before() -> None:
    sent = [multicast(M, "causal"), hand(A, M), hand(B, M)]
    late = [*enter(2, A, B, how=CONTINUES), *enter(2, C), multicast(N, "causal", depends=(M,)), hand(C, N, view=2)]
    assert broken(enter(1, A, B), sent, late) == []


def test_who_goes_together_has_the_same() -> None:
    sent = [*begun(), multicast(M, "fifo"), hand(A, M, "fifo")]
    verdict = judged(sent, enter(2, A, B, how=CONTINUES))
    assert [(each.property, each.sites, each.view, each.messages) for each in verdict.violations] == [
        ("virtual synchrony", (B, A), 1, (M,))
    ]
    assert broken(sent, enter(2, A, how=CONTINUES), enter(2, B, how=JOINS)) == []


# --- against the plain properties, on the ideal stack ---


@given(st.lists(st.lists(st.integers(0, 3), max_size=5), min_size=2, max_size=3))
def test_on_the_ideal_stack_it_finds_what_the_plain_properties_find(sequences: list[list[int]]) -> None:
    """Messages 0 and 1 of A, 0 and 1 of B; the sites deliver any sequences of them, all after the multicasts."""
    messages = [M, M + 1, N, N + 1]
    records = [*(record(site, Kind.VIEW, view=1, members=(A, B, C)) for site in range(len(sequences)))]
    records += [multicast(message) for message in messages]
    for site, sequence in enumerate(sequences):
        known: dict[str, Any] = {"level": "agreed", "delivery_index": 0, "view": 1}
        records += [record(site, Kind.DELIVER, messages[number], **known) for number in sequence]
    plain = {violation.property for violation in properties.check(from_records(records), drained=False)}
    found = set(audit(counted(records)).violated)
    assert (plain == set()) == (found == set())
    order = {properties.TOTAL_ORDER, properties.NO_DUPLICATION}
    assert found & order == plain & order


def test_on_the_ideal_stack_a_site_that_stays_behind_is_no_violation_before_the_end() -> None:
    view = [record(site, Kind.VIEW, view=1, members=(A, B)) for site in (A, B)]
    told = record(A, Kind.DELIVER, M, level="agreed", delivery_index=0, view=1)
    ends = [record(site, Kind.END, final=True) for site in (A, B)]
    assert broken(view, multicast(M), told) == []
    assert broken(view, multicast(M), told, ends) == ["validity"]


# --- a column with holes ---


@given(st.dictionaries(st.integers(0, 1 << 40), st.integers(1, 1 << 50), max_size=20))
def test_a_sparse_column_keeps_what_it_is_given(values: dict[int, int]) -> None:
    column = Sparse()
    for index, value in values.items():
        column[index] = value
    assert list(column.items()) == sorted(values.items())
    assert all(column[index] == value for index, value in values.items())
    assert column[(1 << 40) + (1 << CHUNK_BITS)] == 0
