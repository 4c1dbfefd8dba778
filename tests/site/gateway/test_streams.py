"""What readers of a group see: from the log, from memory, live; at the bound of what they take; over holes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from ordercast.core.deliveries import GroupBlocked, Retracted, Snapshot
from ordercast.core.errors import NotFit
from ordercast.core.service import EARLIEST, Broken, Consumed, Gone, Join, Joined, NotJoined, TooSlow
from ordercast.core.stream import MESSAGE_OVERHEAD_BYTES, Batch, Blocked, ViewChange
from ordercast.core.stream import Retracted as TakenBack
from ordercast.records.log_errors import Hole, Retained
from ordercast.site.gateway.recent import Recent
from tests.site.gateway.fakes import ME, FakeSite, joined

LIMIT_S = 60.0


def run(test: Callable[[], Awaitable[None]]) -> None:
    async def limited() -> None:
        async with asyncio.timeout(LIMIT_S):
            await test()

    asyncio.run(limited())


async def until(condition: Callable[[], bool]) -> None:
    while not condition():
        await asyncio.sleep(0.001)


def shorten(site: FakeSite) -> Recent:
    """Next to nothing is kept in memory of what is final."""
    recent = site.gateway.recent
    recent._bound_bytes = 1
    return recent


def test_from_the_log_over_memory_to_what_is_live_there_is_no_gap_and_no_double() -> None:
    async def test() -> None:
        site = FakeSite()
        recent = shorten(site)
        for number in range(30):
            site.say("g" if number % 3 else "other", b"%d" % number)
            site.finalize()
        for number in range(30, 35):
            site.say("g", b"%d" % number)
        assert 20 < recent.start <= 30
        _, port = await joined(site, Join("g", 0, member=False))
        for number in range(35, 60):
            site.say("g", b"%d" % number)
            await asyncio.sleep(0)
            if number % 4 == 0:
                site.finalize()
        expected = [number for number in range(60) if number >= 30 or number % 3]
        await until(lambda: len(port.payloads) >= len(expected))
        assert [int(payload) for payload in port.payloads] == expected
        assert site.log.reads > 5
        positions = [event.position for event in port.happenings if isinstance(event, Batch)]
        assert positions == expected

    run(test)


def test_entries_that_are_not_on_disk_yet_are_waited_for() -> None:
    async def test() -> None:
        site = FakeSite()
        recent = shorten(site)
        for number in range(5):
            site.say("g", b"%d" % number)
            site.finalize()
        late, site.log.entries = site.log.entries, []
        assert recent.start > 0
        _, port = await joined(site, Join("g", 0, member=False))
        await asyncio.sleep(0.03)
        assert port.payloads == []
        site.log.entries = late
        await until(lambda: len(port.payloads) == 5)

    run(test)


def test_a_reader_from_the_log_is_given_no_more_than_it_takes() -> None:
    async def test() -> None:
        site = FakeSite()
        shorten(site)
        for _ in range(40):
            site.say("g", bytes(100))
            site.finalize()
        connection, port = await joined(site, Join("g", 0, member=False, window_bytes=1000))
        for _ in range(20):
            await asyncio.sleep(0.002)
        given = len(port.payloads)
        assert 1 <= given < 10
        while len(port.payloads) < 40:
            connection.handle(Consumed("g", 100 + 2 * MESSAGE_OVERHEAD_BYTES))
            await asyncio.sleep(0.001)
        assert port.of(TooSlow) == []
        assert len(port.payloads) == 40

    run(test)


def test_a_reader_that_does_not_keep_up_is_told_where_it_stopped() -> None:
    async def test() -> None:
        site = FakeSite()
        connection, port = await joined(site, Join("g", member=False, window_bytes=1000))
        for _ in range(20):
            site.say("g", bytes(100))
        (end,) = port.of(TooSlow)
        last = port.happenings[-1]
        assert isinstance(last, Batch)
        assert end.position == last.end
        assert 1 <= len(port.payloads) < 20
        connection.handle(Consumed("g", 10**6))
        site.say("g", b"no more")
        assert b"no more" not in port.payloads

    run(test)


def test_one_slow_reader_does_not_disturb_another() -> None:
    async def test() -> None:
        site = FakeSite()
        _, slow = await joined(site, Join("g", member=False, window_bytes=500), session=1)
        connection, fast = await joined(site, Join("g", member=False, window_bytes=500), session=2)
        for _ in range(20):
            site.say("g", bytes(100))
            connection.handle(Consumed("g", 10**6))
        assert len(slow.of(TooSlow)) == 1
        assert len(fast.payloads) == 20

    run(test)


@pytest.mark.parametrize("error", [Hole(0, 12), Retained(0, 12)])
def test_what_cannot_be_read_any_more_is_refused_with_the_first_position_that_can(error: Exception) -> None:
    async def test() -> None:
        site = FakeSite(final=20)
        site.log.error = error
        connection, port = await joined(site, Join("g", 0))
        await until(lambda: bool(port.of(NotJoined)))
        (refusal,) = port.of(NotJoined)
        assert refusal.first == 12
        assert site.gateway.connections[7] is connection

    run(test)


def test_the_earliest_position_is_wherever_the_log_begins() -> None:
    async def test() -> None:
        site = FakeSite(final=20)
        site.log.error = Retained(0, 12)
        _, port = await joined(site, Join("g", EARLIEST, member=False))
        await until(lambda: bool(port.of(Joined)))
        assert port.of(Joined)[0].position == 12

    run(test)


def test_what_is_dropped_while_it_is_being_read_ends_the_stream() -> None:
    async def test() -> None:
        site = FakeSite()
        shorten(site)
        for _ in range(9):
            site.say("g", b"x")
            site.finalize()
        _, port = await joined(site, Join("g", 0, member=False, window_bytes=1))
        await until(lambda: len(port.payloads) == 1)
        site.log.error = Retained(1, 6)
        connection = site.gateway.connections[7]
        while not port.of(Gone):
            connection.handle(Consumed("g", 10**6))  # type: ignore[attr-defined]
            await asyncio.sleep(0.001)
        (gone,) = port.of(Gone)
        assert gone.first == 6
        assert gone.position == len(port.payloads)

    run(test)


def test_a_log_that_cannot_be_read_ends_the_stream_with_its_reason() -> None:
    async def test() -> None:
        site = FakeSite(final=20)
        _, port = await joined(site, Join("g", 20, member=False))
        site.log.error = NotFit("position 3 is damaged")
        _, other = await joined(site, Join("g", 3, member=False), session=8)
        await until(lambda: bool(other.of(NotJoined)))
        assert "damaged" in other.of(NotJoined)[0].reason
        assert other.of(Broken) == []
        site.say("g", b"x")
        assert port.payloads == [b"x"]

    run(test)


def test_a_snapshot_ends_the_streams_of_those_who_are_behind_it() -> None:
    async def test() -> None:
        site = FakeSite()
        _, port = await joined(site, Join("g", member=False))
        site.say("g", b"x")
        site.gateway.delivered(ME, Snapshot(50, b""))
        assert [(gone.position, gone.first) for gone in port.of(Gone)] == [(1, 50)]
        _, late = await joined(site, Join("g", member=False), session=8)
        assert late.of(Joined)[0].position == 50

    run(test)


def test_tentative_deliveries_are_taken_back_from_those_who_got_them() -> None:
    async def test() -> None:
        site = FakeSite()
        _, live = await joined(site, Join("g", member=False), session=1)
        _, careful = await joined(site, Join("g", member=False, final_only=True), session=2)
        _, elsewhere = await joined(site, Join("other", member=False), session=3)
        site.say("g", b"a")
        site.finalize()
        site.say("g", b"b", b"c")
        site.gateway.delivered(ME, Retracted(1))
        site.position = 1
        site.log.entries.pop()
        site.say("g", b"d")
        site.finalize()
        assert live.payloads == [b"a", b"b", b"c", b"d"]
        assert live.happenings[2] == TakenBack(1)
        assert careful.payloads == [b"a", b"d"]
        assert not any(isinstance(event, TakenBack) for event in [*careful.happenings, *elsewhere.happenings])
        _, late = await joined(site, Join("g", 0, member=False), session=4)
        await until(lambda: len(late.payloads) == 2)
        assert late.payloads == [b"a", b"d"]

    run(test)


def test_a_reader_who_goes_on_where_nothing_was_taken_back_sees_nothing_twice() -> None:
    async def test() -> None:
        site = FakeSite()
        connection, port = await joined(site, Join("g", member=False))
        site.say("g", b"a")
        seen = port.of(Joined)[0].history
        connection.end()
        site.say("g", b"b")
        _, again = await joined(site, Join("g", 1, member=False, seen=seen, final_below=0))
        assert (again.of(Joined)[0].position, again.of(Joined)[0].resumed) == (1, True)
        assert again.payloads == [b"b"]

    run(test)


def test_a_reader_who_goes_on_after_something_was_taken_back_begins_with_what_was_final() -> None:
    async def test() -> None:
        site = FakeSite()
        connection, port = await joined(site, Join("g", member=False))
        site.say("g", b"a")
        site.finalize()
        site.say("g", b"b")
        seen = port.of(Joined)[0].history
        connection.end()
        site.gateway.delivered(ME, Retracted(1))
        site.position = 1
        site.log.entries.pop()
        site.say("g", b"c")
        _, again = await joined(site, Join("g", 2, member=False, seen=seen, final_below=1))
        assert (again.of(Joined)[0].position, again.of(Joined)[0].resumed) == (1, False)
        assert again.payloads == [b"c"]

    run(test)


def test_a_reader_who_is_ahead_of_the_site_is_given_what_it_has_not_had() -> None:
    async def test() -> None:
        site = FakeSite()
        _, port = await joined(site, Join("g", 3, member=False))
        site.say("g", b"0", b"1")
        site.say("g", b"2", b"3", b"4")
        site.say("g", b"5")
        assert port.payloads == [b"3", b"4", b"5"]

    run(test)


def test_who_begins_to_read_is_told_who_is_in_and_that_the_site_is_blocked() -> None:
    async def test() -> None:
        site = FakeSite()
        await joined(site, Join("g"), session=1)
        site.gateway.delivered(ME, GroupBlocked())
        _, port = await joined(site, Join("g", member=False), session=2)
        view, blocked = port.happenings
        assert isinstance(view, ViewChange)
        assert [member.session for member in view.members] == [1]
        assert isinstance(blocked, Blocked)

    run(test)


def test_an_event_is_encoded_once_for_all_who_read_it(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test() -> None:
        site = FakeSite()
        ports = [(await joined(site, Join("g", member=False), session=session))[1] for session in range(5)]
        site.say("g", b"x")
        events = [port.happenings[-1] for port in ports]
        assert all(event is events[0] for event in events)

    run(test)


def test_a_port_is_told_nothing_of_groups_that_it_has_left() -> None:
    async def test() -> None:
        from ordercast.core.service import Leave, Left

        site = FakeSite()
        connection, port = await joined(site, Join("g", member=False))
        connection.handle(Leave("g"))
        site.say("g", b"x")
        assert port.of(Left) != []
        assert port.payloads == []
        assert site.gateway._feeds == {}

    run(test)
