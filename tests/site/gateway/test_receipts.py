"""Receipts: when whoever has multicast is told what."""

from __future__ import annotations

import asyncio

import pytest

from ordercast.core.deliveries import Delivered, Retracted, Snapshot
from ordercast.core.messages import Author, Bundle, Level
from ordercast.core.participants import Detach, LeaveGroup, Speak
from ordercast.core.service import (
    BUNDLE_BODIES_MAX,
    BUNDLE_BYTES_MAX,
    Consumed,
    Done,
    Join,
    Leave,
    NotDone,
    Submit,
    Wait,
)
from ordercast.protocols.groups.authors import GAPS_LEFT_MAX
from ordercast.site.gateway.connection import Connection
from tests.site.gateway.fakes import ME, FakePort, FakeSite, joined


def begun() -> tuple[FakeSite, Connection, FakePort]:
    """A member of a group."""
    site = FakeSite()
    connection, port = asyncio.run(joined(site, Join("g")))
    port.replies.clear()
    return site, connection, port


@pytest.mark.parametrize(
    ("wait", "told"),
    [(Wait.ACCEPTED, [1, 1, 1]), (Wait.ORDERED, [0, 1, 1]), (Wait.FINAL, [0, 0, 1])],
)
def test_each_wait_is_answered_at_its_time_and_once(wait: Wait, told: list[int]) -> None:
    site, connection, port = begun()
    connection.handle(Submit(1, "g", (b"a", b"b"), 5, wait=wait))
    counts = [len(port.of(Done))]
    site.order_spoken()
    counts.append(len(port.of(Done)))
    site.finalize()
    counts.append(len(port.of(Done)))
    assert counts == told
    (done,) = port.of(Done)
    assert done.request == 1
    assert (done.position, done.message is None) == ((None, True) if wait is Wait.ACCEPTED else (1, False))


@pytest.mark.parametrize("level", [Level.FIFO, Level.CAUSAL])
def test_what_has_no_position_is_final_when_it_is_delivered(level: Level) -> None:
    site, connection, port = begun()
    connection.handle(Submit(1, "g", (b"a",), 0, level=level))
    assert port.of(Done) == []
    site.order_spoken()
    (done,) = port.of(Done)
    assert (done.position, done.repeated) == (None, False)


def test_fifo_and_agreed_messages_of_the_same_number_are_not_mixed_up() -> None:
    site, connection, port = begun()
    connection.handle(Submit(1, "g", (b"a",), 0, wait=Wait.ORDERED))
    connection.handle(Submit(2, "g", (b"b",), 0, level=Level.FIFO, wait=Wait.ORDERED))
    agreed, fifo = [event for event in site.events if isinstance(event, Speak)]
    site.gateway.delivered(ME, Delivered(site.bundle(fifo.author, fifo.bodies, fifo.level), None, True))
    assert [done.request for done in port.of(Done)] == [2]
    site.order(site.bundle(agreed.author, agreed.bodies))
    assert [done.request for done in port.of(Done)] == [2, 1]


def test_what_is_retracted_is_awaited_again() -> None:
    site, connection, port = begun()
    connection.handle(Submit(1, "g", (b"a",), 0))
    (speak,) = [event for event in site.events if isinstance(event, Speak)]
    bundle = site.bundle(speak.author, speak.bodies)
    site.order(bundle)
    site.gateway.delivered(ME, Retracted(1))
    site.position = 1
    site.say("g", b"x")
    site.finalize()
    assert port.of(Done) == []
    site.order(bundle)
    site.finalize()
    assert [done.position for done in port.of(Done)] == [2]
    assert site.gateway.pressure.outstanding_bytes == 0


def test_what_had_come_up_before_is_answered_when_its_own_position_is_final() -> None:
    site, connection, port = begun()
    connection.handle(Submit(1, "g", (b"a",), 0, session=55))
    again = site.bundle(Author("g", "me", 55, 0), (b"a",))
    site.order(Bundle(again.id, again.bodies, author=again.author, void=(0,)))
    assert port.of(Done) == []
    site.finalize()
    assert [(done.message, done.position, done.repeated) for done in port.of(Done)] == [(again.id, None, True)]
    assert port.payloads == []


def test_what_had_come_up_before_and_is_taken_back_may_come_up_anew() -> None:
    """What it repeats may be lost with the site that multicast that."""
    site, connection, port = begun()
    connection.handle(Submit(1, "g", (b"a",), 0, session=55))
    again = site.bundle(Author("g", "me", 55, 0), (b"a",))
    site.order(Bundle(again.id, again.bodies, author=again.author, void=(0,)))
    site.gateway.delivered(ME, Retracted(1))
    site.position = 1
    site.order(again)
    site.finalize()
    assert [(done.position, done.repeated) for done in port.of(Done)] == [(1, False)]
    assert port.payloads == [b"a"]


def test_what_may_have_come_up_in_a_hole_is_unknown_and_not_awaited_any_more() -> None:
    site, connection, port = begun()
    connection.handle(Submit(1, "g", (b"a",), 0))
    connection.handle(Submit(2, "g", (b"b",), 0, level=Level.FIFO))
    site.gateway.delivered(ME, Snapshot(40, b""))
    assert [(not_done.request, not_done.sent) for not_done in port.of(NotDone)] == [(1, True)]
    assert site.gateway.pressure.outstanding_bytes == 1
    site.position = 40
    site.order_spoken()
    site.finalize()
    assert [done.request for done in port.of(Done)] == [2]
    assert site.gateway.pressure.outstanding_bytes == 0


def test_a_session_that_leaves_too_many_numbers_out_multicasts_nothing_new() -> None:
    site, connection, port = begun()
    for number in range(GAPS_LEFT_MAX):
        site.authors.take(Author("g", "me", 7, 2 * number + 1), 1, number)
    new = 2 * GAPS_LEFT_MAX
    connection.handle(Submit(1, "g", (b"a",), new))
    connection.handle(Submit(2, "g", (b"b",), new, level=Level.FIFO))
    connection.handle(Submit(3, "g", (b"c",), 4))
    (refused,) = port.of(NotDone)
    assert (refused.request, refused.sent) == (1, False)
    assert [event.bodies for event in site.events if isinstance(event, Speak)] == [(b"b",), (b"c",)]


def test_a_bundle_of_which_a_part_is_void_is_repeated() -> None:
    site, connection, port = begun()
    connection.handle(Submit(1, "g", (b"a", b"b"), 0))
    (speak,) = [event for event in site.events if isinstance(event, Speak)]
    bundle = site.bundle(speak.author, speak.bodies)
    site.order(Bundle(bundle.id, bundle.bodies, author=bundle.author, void=(0,)))
    site.finalize()
    assert [(done.position, done.repeated) for done in port.of(Done)] == [(None, True)]
    assert port.payloads == [b"b"]


def test_nothing_is_multicast_for_who_has_not_joined() -> None:
    site, connection, port = begun()
    connection.handle(Submit(9, "other", (b"a",), 0))
    assert [(reply.request, reply.sent) for reply in port.of(NotDone)] == [(9, False)]
    assert not any(isinstance(event, Speak) for event in site.events)


def test_nobody_is_told_of_a_participant_that_has_gone() -> None:
    site, connection, port = begun()
    connection.handle(Submit(1, "g", (b"a",), 0))
    connection.handle(Submit(2, "g", (b"b",), 1, wait=Wait.ORDERED))
    site.order_spoken()
    connection.handle(Submit(3, "g", (b"c",), 2, wait=Wait.ORDERED))
    connection.end()
    site.order_spoken()
    site.finalize()
    assert [done.request for done in port.of(Done)] == [2]
    assert site.gateway.pressure.outstanding_bytes == 0


# --- requests that come at once ---


def spoken(site: FakeSite) -> list[tuple[bytes, ...]]:
    return [event.bodies for event in site.events if isinstance(event, Speak)]


def come_at_once(connection: Connection, *submits: Submit) -> None:
    for submit in submits:
        connection.take(submit)
    connection.flush()


FIRST = Submit(1, "g", (b"a", b"b"), 5)
NEXT = Submit(2, "g", (b"c",), 7, wait=Wait.ORDERED)
LAST = Submit(3, "g", (b"d", b"e"), 8, wait=Wait.ACCEPTED)


def test_consecutive_requests_are_one_bundle_and_each_is_answered_for_its_part() -> None:
    site, connection, port = begun()
    come_at_once(connection, FIRST, NEXT, LAST)
    assert spoken(site) == [(b"a", b"b", b"c", b"d", b"e")]
    assert site.gateway.pressure.outstanding_bytes == 5
    assert [done.request for done in port.of(Done)] == [3]
    site.order_spoken()
    assert site.gateway.pressure.outstanding_bytes == 0
    site.finalize()
    told = {done.request: (done.message, done.position) for done in port.of(Done)}
    first = told[1][0]
    assert told == {1: (first, 1), 2: (first + 2, 3), 3: (None, None)}
    assert [done.request for done in port.of(Done)] == [3, 2, 1]


@pytest.mark.parametrize(
    "other",
    [
        Submit(2, "g", (b"c",), 8),
        Submit(2, "g", (b"c",), 7, level=Level.SAFE),
        Submit(2, "g", (b"c",), 7, session=55),
        Submit(2, "g", (b"c",) * BUNDLE_BODIES_MAX, 7),
        Submit(2, "g", (bytes(BUNDLE_BYTES_MAX),), 7),
    ],
    ids=["gap", "level", "session", "too many", "too long"],
)
def test_what_could_not_have_been_one_request_is_not_one_bundle(other: Submit) -> None:
    site, connection, port = begun()
    come_at_once(connection, FIRST, other)
    assert spoken(site) == [FIRST.bodies, other.bodies]
    site.order_spoken()
    site.finalize()
    assert [(done.request, done.position) for done in port.of(Done)] == [(1, 1), (2, 3)]


def test_requests_in_one_bundle_are_awaited_again_once_it_is_taken_back() -> None:
    site, connection, port = begun()
    come_at_once(connection, FIRST, Submit(2, "g", (b"c",), 7))
    (speak,) = [event for event in site.events if isinstance(event, Speak)]
    bundle = site.bundle(speak.author, speak.bodies)
    site.order(bundle)
    site.gateway.delivered(ME, Retracted(1))
    assert site.gateway.pressure.outstanding_bytes == 3
    site.position = 1
    site.say("g", b"x")
    site.order(Bundle(bundle.id, bundle.bodies, author=bundle.author, void=(1,)))
    site.finalize()
    told = [(done.request, done.position, done.repeated) for done in port.of(Done)]
    assert told == [(1, None, True), (2, 4, False)]


def test_what_a_participant_has_asked_for_before_it_is_gone_is_multicast() -> None:
    site, connection, port = begun()
    connection.take(FIRST)
    connection.take(Consumed("g", 1))
    assert spoken(site) == []
    connection.end()
    assert spoken(site) == [FIRST.bodies]
    assert isinstance(site.events[-1], Detach)
    site.order_spoken()
    site.finalize()
    assert port.of(Done) == []


def test_what_is_multicast_before_a_group_is_left_goes_before_that() -> None:
    site, connection, _ = begun()
    connection.take(FIRST)
    connection.take(Leave("g", 9))
    assert [type(event) for event in site.events[-2:]] == [Speak, LeaveGroup]
