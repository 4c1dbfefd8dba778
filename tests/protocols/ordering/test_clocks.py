"""The ticket clocks."""

from __future__ import annotations

from ordercast.core.ids import SiteId, Ticket, pack_message_id
from ordercast.planning.estimators import KnownEstimates
from ordercast.protocols.ordering.issuer import Issuer
from ordercast.protocols.ordering.lamport import LamportClock
from ordercast.protocols.ordering.rate_synchronised import (
    ESTIMATE_INTERVAL_US,
    PROBE_INTERVAL_US,
    STEPS_PER_GAP,
    RateSynchronisedClock,
)
from tests.layers import sites

A, B, C = sites(3)
DELAY_US = 30_000.0
B_MESSAGE = pack_message_id(B, 0, 0)


def clock(me: SiteId, *gaps_us: float, online: bool = False) -> RateSynchronisedClock:
    """At a site that is 30 ms from everybody; the sites' mean gaps are known."""
    issuers = sites(len(gaps_us))
    gaps: dict[SiteId, list[tuple[int, float | None]]] = {
        site: [(0, gap)] for site, gap in zip(issuers, gaps_us, strict=True)
    }
    delays = {site: 0.0 if site == me else DELAY_US for site in issuers}
    return RateSynchronisedClock(me, issuers, KnownEstimates(gaps, delays), online)


def test_lamports_rules() -> None:
    lamport = LamportClock()
    assert [lamport.next_for_own(), lamport.next_for_other()] == [1, 2]
    lamport.heard(B, Ticket(7), 0, 0)
    lamport.observe(Ticket(5))
    assert lamport.next_for_own() == 8


def test_a_ticket_of_the_fastest_is_taken_for_older_than_it_looks() -> None:
    """It has been under way for three of the fastest site's gaps."""
    ours = clock(B, 10_000, 20_000)
    ours.heard(A, Ticket(100), 0, 0)
    assert ours.value == 100 + 3 * STEPS_PER_GAP


def test_a_ticket_of_another_is_taken_as_it_is() -> None:
    ours = clock(B, 10_000, 20_000, 30_000)
    ours.heard(C, Ticket(100), 0, 0)
    assert ours.value == 100


def test_the_fastest_makes_the_pace() -> None:
    fastest, other = clock(A, 10_000, 20_000), clock(B, 10_000, 20_000)
    for each in (fastest, other):
        each.heard(B, Ticket(0), 0, 0)
    assert fastest.next_for_own() == STEPS_PER_GAP
    assert other.next_for_own() == 1
    assert fastest.next_for_other() == STEPS_PER_GAP + 1


def test_equally_fast_sites_agree_on_one() -> None:
    clocks = [clock(site, 10_000, 10_000, 10_000) for site in sites(3)]
    for each in clocks:
        each.heard(C, Ticket(1), 0, 0)
    assert [each.fastest for each in clocks] == [A, A, A]


def test_the_pace_changes_hands_only_for_a_clearly_faster_site() -> None:
    ours = clock(B, 10_000, 20_000)
    ours.heard(A, Ticket(1), 0, 0)
    ours.estimates = KnownEstimates({A: [(0, 10_000.0)], B: [(0, 9_500.0)]}, {A: DELAY_US, B: 0.0})
    ours.heard(A, Ticket(1), 0, ESTIMATE_INTERVAL_US)
    assert ours.fastest == A
    ours.estimates = KnownEstimates({A: [(0, 10_000.0)], B: [(0, 8_000.0)]}, {A: DELAY_US, B: 0.0})
    ours.heard(A, Ticket(1), 0, 2 * ESTIMATE_INTERVAL_US)
    assert ours.fastest == B


def test_sites_that_began_with_different_fastest_ones_agree_in_the_end() -> None:
    """B seemed clearly faster once, at one site and not at the other; then both see all rates as they are."""
    clocks = [clock(A, 10_000, 8_000, 10_000), clock(C, 10_000, 10_000, 10_000)]
    for each in clocks:
        each.heard(B, Ticket(1), 0, 0)
    assert [each.fastest for each in clocks] == [B, A]
    for each in clocks:
        each.estimates = KnownEstimates({A: [(0, 10_100.0)], B: [(0, 9_800.0)], C: [(0, 10_000.0)]}, {A: 0, B: 0})
        each.heard(B, Ticket(1), 0, ESTIMATE_INTERVAL_US)
    assert [each.fastest for each in clocks] == [A, A]


def test_tickets_always_increase_whatever_is_heard() -> None:
    ours = clock(A, 10_000, 20_000, 5_000)
    issued = []
    for step, ticket in enumerate([50, 3, 400, 0, 90]):
        ours.heard(SiteId(step % 3), Ticket(ticket), 0, step * ESTIMATE_INTERVAL_US)
        issued += [ours.next_for_own(), ours.next_for_other()]
        assert issued[-2] > ticket
    assert issued == sorted(issued)
    assert len(set(issued)) == len(issued)


def test_probes_leave_at_an_interval_and_only_where_something_is_to_be_measured() -> None:
    assert not clock(A, 10_000).wants_probe(0)
    ours = clock(A, 10_000, online=True)
    asked = [ours.wants_probe(now_us) for now_us in (0, PROBE_INTERVAL_US - 1, PROBE_INTERVAL_US)]
    assert asked == [True, False, True]


def test_an_issuer_counts_nothing_as_released_that_has_not_come_back() -> None:
    issuer = Issuer(A, LamportClock())
    assert issuer.barrier() is None
    ticket = issuer.issue_for(B_MESSAGE)
    assert issuer.barrier() == ticket
    assert issuer.take_unsent() == ((ticket, B_MESSAGE),)
    assert issuer.barrier() == ticket
    assert issuer.announced == ticket
    issuer.came_back()
    assert issuer.barrier() is None
