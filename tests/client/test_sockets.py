"""Participants over the Unix socket of a site: the same library, and what only a socket can do."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import ordercast
from ordercast import Batch, ConsumerTooSlow, Disconnected, NotFit, NotSent, OutcomeUnknown, Resumed, WrongUse
from ordercast.client.site import Site
from ordercast.core.service import REPLIES, REQUESTS, VERSION, Hello, Join, Refused, Submit, Wait, framed
from ordercast.testing import LocalGroup
from tests.client.running import deliveries, run, until
from tests.client.sockets import Sockets, sockets


@asynccontextmanager
async def one_site(**options: bool) -> AsyncIterator[tuple[LocalGroup, Sockets, Site]]:
    """A site with a socket, and a participant."""
    async with LocalGroup(1) as local, sockets(local) as opened:
        path = await opened.open(0)
        async with ordercast.connect(path, name="alice", **options) as site:
            yield local, opened, site


def test_what_is_multicast_comes_back_in_order_one_by_one_and_many_at_once() -> None:
    async def test() -> None:
        async with one_site() as (_, _, site), site.join("g") as group:
            receipts = await asyncio.gather(*[group.multicast(b"%d" % number) for number in range(1500)])
            assert [receipt.position for receipt in receipts] == list(
                range(receipts[0].position or 0, (receipts[0].position or 0) + 1500)
            )
            receipt = await group.multicast_many([bytes(50_000) for _ in range(60)])
            assert receipt.position is not None
            assert receipt.last_position == receipt.position + 59
            seen = await deliveries(group, 1560)
            assert [int(each.payload) for each in seen[:1500]] == list(range(1500))
            assert [each.position for each in seen[:1500]] == [receipt.position for receipt in receipts]

    run(test)


def test_an_address_may_say_that_it_is_a_socket() -> None:
    async def test() -> None:
        async with one_site() as (_, opened, _), ordercast.connect(f"unix://{opened.path(0)}", name="bob") as site:
            assert (site.site, site.cluster) == ("site0", "local")
        with pytest.raises(WrongUse, match="unix://"):
            ordercast.connect("tcp://somewhere:7400", name="bob")

    run(test)


def test_where_no_site_is_one_line_says_so(tmp_path: Path) -> None:
    async def test() -> None:
        with pytest.raises(NotFit, match=r"no site answers .*; start one"):
            async with ordercast.connect(tmp_path / "nothing.sock", name="x"):
                pass

    run(test)


def test_a_lost_connection_is_made_again_and_the_stream_goes_on() -> None:
    async def test() -> None:
        async with (
            one_site() as (local, _, site),
            site.join("g") as group,
            local.site(0, name="far") as far,
            far.join("g") as other,
        ):
            await other.multicast(b"1")
            assert [each.payload for each in await deliveries(group, 1)] == [b"1"]
            assert site._line is not None
            site._line.abort()
            await until(lambda: not site.is_connected)
            await other.multicast(b"2")
            seen: list[object] = []
            async for event in group:
                seen.append(event)
                if getattr(event, "payload", b"") == b"2":
                    break
            assert any(isinstance(event, Resumed) for event in seen)
            assert not any(isinstance(event, ordercast.Retracted) for event in seen)
            await group.multicast(b"3")
            assert [each.payload for each in await deliveries(group, 1)] == [b"3"]
            assert group.view is not None

    run(test)


def test_what_is_under_way_when_the_connection_is_lost_is_unknown_and_can_be_repeated() -> None:
    async def test() -> None:
        async with one_site() as (_, _, site), site.join("g") as group:
            pending = [asyncio.ensure_future(group.multicast(b"%d" % number)) for number in range(3)]
            many = asyncio.ensure_future(group.multicast_many([b"3", b"4"]))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert site._line is not None
            site._line.abort()
            results = await asyncio.gather(*pending, many, return_exceptions=True)
            assert all(isinstance(each, OutcomeUnknown) for each in results)
            keys = [each.message for each in results if isinstance(each, OutcomeUnknown)]
            assert all(key is not None for key in keys)
            for number in range(3):
                await group.multicast(b"%d" % number, again=keys[number])
            await group.multicast_many([b"3", b"4"], again=keys[3])
            await group.multicast(b"5")
            payloads = []
            async for event in group:
                if isinstance(event, ordercast.Delivery):
                    payloads.append(int(event.payload))
                    if event.payload == b"5":
                        break
            assert sorted(payloads) == list(range(6))

    run(test)


def test_without_reconnecting_a_lost_connection_ends_everything() -> None:
    async def test() -> None:
        async with one_site(reconnect=False) as (_, opened, site), site.join("g") as group:
            await group.multicast(b"x")
            await opened.close(0, "the site is being moved")
            with pytest.raises(Disconnected, match="being moved"):
                await deliveries(group, 2)
            with pytest.raises(NotSent, match="being moved"):
                await group.multicast(b"y")
            with pytest.raises(NotFit):
                await site.status()

    run(test)


def test_what_waits_for_a_connection_is_sent_once_there_is_one() -> None:
    async def test() -> None:
        async with one_site() as (_, opened, site), site.join("g") as group:
            await opened.close(0)
            await until(lambda: not site.is_connected)
            waiting = asyncio.ensure_future(group.multicast(b"patience"))
            await asyncio.sleep(0.02)
            assert not waiting.done()
            await opened.open(0)
            await waiting
            assert [each.payload for each in await deliveries(group, 1)] == [b"patience"]

    run(test)


def test_what_waits_when_the_application_hangs_up_has_not_been_sent() -> None:
    async def test() -> None:
        async with LocalGroup(1) as local, sockets(local) as opened:
            site = ordercast.connect(await opened.open(0), name="alice")
            await site.__aenter__()
            group = await site.join("g").__aenter__()
            await opened.close(0)
            await until(lambda: not site.is_connected)
            waiting = asyncio.ensure_future(group.multicast(b"x"))
            await asyncio.sleep(0)
            await site.close()
            with pytest.raises(NotSent):
                await waiting

    run(test)


def test_a_consumer_that_does_not_keep_up_goes_on_where_it_was_told() -> None:
    async def test() -> None:
        async with one_site() as (_, _, site):
            async with site.join("g", window_bytes=20_000) as group:
                for _ in range(20):
                    await group.multicast_many([bytes(1000)] * 10, wait="ordered")
                seen, slow = 0, None
                try:
                    async for event in group.batches():
                        seen += len(event.payloads) if isinstance(event, Batch) else 0
                except ConsumerTooSlow as error:
                    slow = error
            assert slow is not None
            assert 0 < seen < 200
            async with site.join("g", start=slow.position) as rest:
                await deliveries(rest, 200 - seen)

    run(test)


def test_a_consumer_that_keeps_up_reads_far_more_than_its_window() -> None:
    async def test() -> None:
        async with one_site() as (_, _, site), site.join("g", window_bytes=20_000) as group:
            for number in range(100):
                await group.multicast(b"%0999d" % number)
                (seen,) = await deliveries(group, 1)
                assert int(seen.payload) == number

    run(test)


def test_what_is_multicast_before_leaving_goes_first() -> None:
    async def test() -> None:
        async with one_site() as (_, _, site):
            async with site.join("g") as group:
                last = group._outbox.put("g", b"last", ordercast.Level.AGREED, Wait.FINAL, None)
            assert (await last).position is not None

    run(test)


def test_uvloop_carries_it_too() -> None:
    uvloop = pytest.importorskip("uvloop")

    async def test() -> None:
        async with one_site() as (_, _, site), site.join("g") as group:
            receipt = await group.multicast_many([bytes(1000)] * 5000)
            assert receipt.position is not None
            assert len(await deliveries(group, 5000)) == 5000

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(asyncio.wait_for(test(), 60))


# --- pressure ---


def test_multicasts_wait_while_the_site_has_too_much_under_way() -> None:
    async def test() -> None:
        async with LocalGroup(3, ordering="symmetric") as local, sockets(local) as opened:
            path = await opened.open(0)
            async with ordercast.connect(path, name="alice") as site, site.join("g") as group:
                gateway = local.hosted(0).gateway
                gateway.pressure._bound_bytes = 100_000
                local.cut(0)
                tasks = [asyncio.ensure_future(group.multicast(bytes(10_000))) for _ in range(20)]
                await until(lambda: gateway.pressure.is_high)
                await until(lambda: site.outbox.must_wait)
                late = asyncio.ensure_future(group.multicast(b"late"))
                status = await site.status()
                assert status.outstanding_bytes > 100_000
                assert not late.done()
                assert status.outstanding_bytes <= 200_000
                local.heal()
                await asyncio.gather(*tasks, late)
                assert not gateway.pressure.is_high

    run(test)


async def hostile(path: Path, data: bytes) -> bytes:
    """What the site answers before it hangs up."""
    reader, writer = await asyncio.open_unix_connection(str(path))
    writer.write(data)
    try:
        return await asyncio.wait_for(reader.read(), 30)
    except ConnectionError:
        return b""
    finally:
        writer.close()


HELLO = framed(REQUESTS.encode(Hello(VERSION, "x", 1)))
ENDLESS = struct.pack("!I", 1 << 31)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"GET / HTTP/1.1\r\n\r\n" + bytes(10), "a message of"),
        (ENDLESS, "a message of 2147483648 bytes"),
        (framed(b""), ""),
        (framed(b"\xc1"), ""),
        (framed(bytes(range(64, 128))), ""),
        (framed(REQUESTS.encode(Join("g"))), "no greeting"),
        (framed(REQUESTS.encode(Hello(VERSION, "", 1))), "a name of 0 characters"),
        (framed(REQUESTS.encode(Hello(VERSION, "a\nb", 1))), "cannot be printed"),
        (HELLO + HELLO, "a second greeting"),
        (HELLO + framed(REQUESTS.encode(Join("x" * 201))), "a name of 201 characters"),
        (HELLO + framed(REQUESTS.encode(Join("g", -3))), "a start at -3"),
        (HELLO + framed(REQUESTS.encode(Join("g"))) + framed(REQUESTS.encode(Submit(1, "g", (), 0))), "0 messages"),
        (HELLO + framed(REQUESTS.encode(Join("g"))) + framed(REQUESTS.encode(Submit(1, "g", (b"",), -1))), "number -1"),
        (HELLO + ENDLESS, "a message of"),
        (HELLO + framed(b"\x91\xa4"), ""),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_bytes_end_the_connection_and_are_counted(data: bytes, reason: str) -> None:
    async def test() -> None:
        async with LocalGroup(1) as local, sockets(local) as opened:
            path = await opened.open(0)
            await hostile(path, data)
            gateway = local.hosted(0).gateway
            await until(lambda: gateway.refused == 1)
            assert reason in opened.warnings[0]
            assert gateway.connections == {}
            async with ordercast.connect(path, name="alice") as site, site.join("g") as group:
                await group.multicast(b"still here")

    run(test)


def test_another_version_is_told_to_install_the_same() -> None:
    async def test() -> None:
        async with LocalGroup(1) as local, sockets(local) as opened:
            path = await opened.open(0)
            answer = await hostile(path, framed(REQUESTS.encode(Hello(VERSION + 1, "x", 1))))
            refused = REPLIES.decode(answer[4:])
            assert isinstance(refused, Refused)
            assert "install the same" in refused.reason

    run(test)


def test_who_does_not_keep_to_the_pace_is_not_read() -> None:
    async def test() -> None:
        async with LocalGroup(3, ordering="symmetric") as local, sockets(local) as opened:
            path = await opened.open(0)
            gateway = local.hosted(0).gateway
            async with local.site(0, name="first") as site, site.join("g"):
                pass
            local.cut(0)
            gateway.pressure._bound_bytes = 10_000
            reader, writer = await asyncio.open_unix_connection(str(path))
            writer.write(HELLO + framed(REQUESTS.encode(Join("g"))))
            submit = framed(REQUESTS.encode(Submit(1, "g", (bytes(500_000),), 0)))
            for _ in range(60):
                writer.write(submit)
            await until(lambda: gateway.pressure.is_high)
            for _ in range(50):
                await asyncio.sleep(0.002)
            assert gateway.pressure.outstanding_bytes < 8_000_000
            writer.close()
            del reader

    run(test)


def test_the_same_session_calling_again_takes_the_place_of_the_first() -> None:
    async def test() -> None:
        async with one_site(reconnect=False) as (local, opened, site):
            twin = ordercast.connect(opened.path(0), name="alice")
            twin.session = site.session
            async with twin:
                await until(lambda: not site.is_connected)
                assert len(local.hosted(0).gateway.connections) == 1

    run(test)


def test_a_socket_that_an_earlier_life_has_left_is_no_hindrance_but_a_living_site_is(tmp_path: Path) -> None:
    async def test() -> None:
        async with LocalGroup(1) as local, sockets(local) as opened:
            path = await opened.open(0)
            with pytest.raises(NotFit, match="another site answers"):
                await opened.open(0)
            await opened.close(0)
            with socket.socket(socket.AF_UNIX) as left:
                left.bind(str(path))
            await opened.open(0)
            async with ordercast.connect(path, name="alice") as site:
                assert site.site == "site0"
            await opened.close(0)
            path.write_text("mine")
            with pytest.raises(NotFit, match="is no socket"):
                await opened.open(0)

    run(test)


def test_a_site_that_ends_lets_nobody_in_any_more() -> None:
    async def test() -> None:
        async with LocalGroup(1) as local, sockets(local) as opened:
            path = await opened.open(0)
            reader, writer = await asyncio.open_unix_connection(str(path))
            gateway = local.hosted(0).gateway
            gateway.close("the site ends")
            writer.write(HELLO)
            refused = REPLIES.decode((await asyncio.wait_for(reader.read(), 30))[4:])
            assert refused == Refused("the site ends")
            writer.close()
            with pytest.raises(NotFit, match="the site ends"):
                async with ordercast.connect(path, name="late"):
                    pass

    run(test)
