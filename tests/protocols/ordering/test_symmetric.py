"""Symmetric ordering, plain and rate-synchronised."""

from __future__ import annotations

import pytest

from ordercast.core.effects import Note
from ordercast.core.events import TimerFired
from ordercast.core.ids import SiteId, Ticket
from ordercast.core.layer import Waiting
from ordercast.planning.topology import Delays
from ordercast.protocols.ordering.messages import Echo
from ordercast.simulator.scenario import ProtocolChoice, Scenario, Traffic
from ordercast.verify.run import run
from tests.protocols.group import Group, tickets


def test_messages_are_delivered_in_the_order_of_their_tickets() -> None:
    group = Group("symmetric", 2)
    a0, a1, b0 = group.multicast(0), group.multicast(0), group.multicast(1)
    assert group.delivered() == [[a0], []], "at equal tickets the lower site comes first, so A's first is certain"
    group.arrive(1, 0)
    assert group.delivered()[0] == [a0, b0, a1]
    group.arrive(0, 1)
    assert group.delivered()[1] == [a0, b0], "A may still issue ticket 2, and it comes before B's"
    group.arrive(0, 1)
    assert group.delivered()[1] == [a0, b0, a1]


def test_a_silent_site_holds_up_the_others() -> None:
    group = Group("symmetric")
    message = group.multicast(2)
    group.settle()
    assert group.delivered() == [[], [], []]
    assert group.layer(0).waiting_for() == Waiting("a ticket above 0 from", SiteId(1))
    group.flush()
    group.settle()
    assert group.delivered() == [[message]] * 3


def test_with_flush_a_silent_site_promises_at_once() -> None:
    group = Group("symmetric", flush=True)
    message = group.multicast(1)
    group.arrive(1, 0)
    assert group.under_way(0, 2) == [tickets(1)]
    group.settle()
    assert group.delivered() == [[message]] * 3


def test_a_promise_is_not_answered() -> None:
    group = Group("symmetric", flush=True)
    group.multicast(0)
    group.settle()
    assert all(not channel for channel in group.channels.values())


def test_the_drain_reaches_those_who_wait_for_a_site_that_waits_for_nothing() -> None:
    """A has heard from both others and has delivered everything. They still wait for its promise."""
    group = Group("symmetric")
    for site in (0, 1, 2, 0):
        group.multicast(site)
    group.settle()
    last = [group.multicast(1), group.multicast(2)]
    group.settle()
    assert group.delivered()[0][-2:] == last
    assert group.layer(0).waiting_for() is None
    assert group.layer(1).waiting_for() is not None
    group.flush()
    group.settle()
    assert group.delivered() == [group.delivered()[0]] * 3


def last_recipient_ms(protocol: str) -> float:
    """One fast site and two slow ones, 400 ms apart."""
    scenario = Scenario(
        protocol=ProtocolChoice(name=protocol),
        duration_s=12.0,
        warmup_s=6.0,
        delays=Delays(sites=list("ABC"), one_way_ms=[[0, 400, 400], [400, 0, 400], [400, 400, 0]], variance=25.0),
        traffic=[Traffic(sites=["A"], rate=100), Traffic(sites=["B", "C"], rate=5)],
    )
    last = run(scenario, with_limit=False).latency_ms.last
    assert last is not None
    return last.mean


def test_rate_synchronised_clocks_save_the_second_delay() -> None:
    """What remains of it is at most a gap of the slow sites, 200 ms."""
    assert last_recipient_ms("symmetric") > 790
    assert last_recipient_ms("rs-symmetric") < 600


def test_the_ticket_is_put_on_record() -> None:
    group = Group("symmetric")
    message = group.multicast(0)
    assert group.members[0].notes == [Note("ticket", message, Ticket(1))]


@pytest.mark.parametrize("online", [True, False])
def test_probes_are_answered_where_delays_are_measured(online: bool) -> None:
    group = Group("rs-symmetric", 2, online=online)
    group.at(1000)
    group.multicast(0)
    group.at(21_000)
    group.arrive(0, 1)
    assert group.under_way(1, 0) == ([Echo(1000)] if online else [])


def test_the_round_trip_gives_the_delay() -> None:
    group = Group("rs-symmetric", 2, online=True)
    group.multicast(0)
    group.arrive(0, 1)
    group.at(50_000)
    group.arrive(1, 0)
    assert group.layer(0).issuer.clock.estimates.delay_from_us(1) == 25_000


def test_what_cannot_happen_is_our_own_bug() -> None:
    with pytest.raises(AssertionError):
        Group("symmetric").members[0].handle(TimerFired("alarm"))
