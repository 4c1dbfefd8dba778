"""When participants are told to hold, and when to go on."""

from __future__ import annotations

import asyncio

from ordercast.core.deliveries import Entered
from ordercast.core.ids import ViewId
from ordercast.core.participants import Speak
from ordercast.core.service import Join, Pace, Submit
from ordercast.core.views import View
from ordercast.protocols.links.frames import Congestion
from tests.site.gateway.fakes import ME, OTHER, FakePort, FakeSite, joined, participant


def begun(outstanding_bytes: int = 100) -> tuple[FakeSite, FakePort]:
    """A participant that has joined a group."""
    site = FakeSite(outstanding_bytes=outstanding_bytes)
    return site, asyncio.run(joined(site, Join("g")))[1]


def paces(port: FakePort) -> list[bool]:
    return [pace.hold for pace in port.of(Pace)]


def test_too_much_under_way_holds_until_half_of_it_is_back() -> None:
    site = FakeSite(outstanding_bytes=100)
    connection, port = asyncio.run(joined(site, Join("g")))
    for number in range(3):
        connection.handle(Submit(number, "g", (bytes(40),), number))
    assert paces(port) == [True]
    first, second, third = [event for event in site.events if isinstance(event, Speak)]
    site.order(site.bundle(first.author, first.bodies))
    assert paces(port) == [True]
    site.order(site.bundle(second.author, second.bodies))
    assert paces(port) == [True, False]
    site.order(site.bundle(third.author, third.bodies))
    assert paces(port) == [True, False]
    assert site.gateway.pressure.outstanding_bytes == 0


def test_a_full_link_holds_until_it_is_open_again() -> None:
    site, port = begun()
    site.gateway.delivered(OTHER, Congestion(True))
    site.gateway.delivered(OTHER, Congestion(True))
    site.gateway.delivered(OTHER, Congestion(False))
    assert paces(port) == [True, False]


def test_nobody_waits_for_a_site_that_is_out() -> None:
    site, port = begun()
    site.gateway.delivered(OTHER, Congestion(True))
    site.gateway.delivered(ME, Entered(View(ViewId(2), (ME,)), True))
    assert paces(port) == [True, False]


def test_a_log_that_takes_no_more_holds() -> None:
    site, port = begun()
    site.gateway.on_log(False)
    site.gateway.delivered(OTHER, Congestion(True))
    site.gateway.on_log(True)
    assert paces(port) == [True]
    site.gateway.delivered(OTHER, Congestion(False))
    assert paces(port) == [True, False]


def test_who_comes_meanwhile_is_told_too() -> None:
    site, _ = begun()
    site.gateway.on_log(False)
    _, late = participant(site, session=8)
    assert paces(late) == [True]
