"""The messages of one view: numbering, stability, the cut."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ordercast.core.ids import SiteId, ViewId
from ordercast.core.views import View
from ordercast.protocols.membership.messages import Cut
from ordercast.protocols.membership.traffic import Sender, Traffic
from tests.layers import sites

A, B, C = sites(3)
VIEW = View(ViewId(1), (A, B, C))


def traffic(**counts: int) -> Traffic[str]:
    """A has so many messages of each member, and has handed all of them up."""
    own: Traffic[str] = Traffic.of(VIEW)
    for name, site in zip("abc", VIEW.members, strict=True):
        for number in range(1, counts.get(name, 0) + 1):
            own.senders[site].take(number, f"{name}{number}")
        own.senders[site].handed = own.senders[site].held
    return own


@given(st.lists(st.integers(1, 6)))
def test_messages_count_without_gaps_and_once(numbers: list[int]) -> None:
    sender: Sender[int] = Sender()
    for number in numbers:
        sender.take(number, number)
    assert sender.kept == {number: number for number in range(1, sender.held + 1)}
    expected = 0
    for number in numbers:
        expected += number == expected + 1
    assert sender.held == expected


def test_what_every_member_has_handed_up_is_not_kept_any_longer() -> None:
    own = traffic(a=4, b=3)
    own.report(B, (2, 3, 0))
    assert own.kept_count() == 7
    own.report(C, (3, 1, 0))
    assert {site: list(sender.kept) for site, sender in own.senders.items()} == {A: [3, 4], B: [2, 3], C: []}
    own.report(B, (4, 3, 0))
    own.report(C, (4, 3, 0))
    assert own.kept_count() == 0


def test_what_is_held_here_but_not_handed_up_is_kept() -> None:
    """Finding 9: it may lie outside the cut."""
    own = traffic(b=5)
    own.senders[B].handed = 4
    own.report(B, (0, 5, 0))
    own.report(C, (0, 5, 0))
    assert list(own.senders[B].kept) == [5]
    assert (own.handed(), own.held()) == ((0, 4, 0), (0, 5, 0))


@given(st.lists(st.tuples(st.sampled_from([B, C]), st.tuples(*[st.integers(0, 5)] * 3))))
def test_stable_is_what_all_the_newest_reports_have_in_common(reports: list[tuple[int, tuple[int, ...]]]) -> None:
    """Reports of one member only grow."""
    own = traffic(a=5, b=5, c=5)
    known: dict[SiteId, tuple[int, ...]] = {B: (0, 0, 0), C: (0, 0, 0)}
    for member, handed in reports:
        site = B if member == B else C
        known[site] = tuple(map(max, known[site], handed))
        own.report(site, known[site])
    if own.all_report():
        stable = tuple(map(min, *known.values()))
        assert tuple(sender.stable for sender in own.senders.values()) == stable
        assert own.kept_count() == 15 - sum(stable)
    else:
        assert own.kept_count() == 15


def test_an_older_report_takes_nothing_back() -> None:
    own = traffic(a=3)
    for handed in ((3, 0, 0), (1, 0, 0)):
        own.report(B, handed)
        own.report(C, handed)
    assert own.senders[A].stable == 3


def test_what_a_cut_has_and_we_have_not() -> None:
    own = traffic(a=1, b=4)
    cuts = (Cut(A, 3, C), Cut(B, 4, B), Cut(C, 0, A))
    assert own.missing(cuts) == [Cut(A, 3, C)]


def test_a_view_of_one_has_heard_everybody() -> None:
    alone: Traffic[str] = Traffic.of(View(ViewId(1), (A,)))
    assert alone.all_report()
