"""What leaves the client: which multicasts travel together, in which order, and what becomes of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from ordercast import Level, MessageKey, NotSent, OutcomeUnknown, WrongUse
from ordercast.client.outbox import Outbox, Receipt
from ordercast.core.ids import MessageId
from ordercast.core.service import (
    BUNDLE_BODIES_MAX,
    BUNDLE_BYTES_MAX,
    MESSAGE_BYTES_MAX,
    Done,
    NotDone,
    Request,
    Submit,
    Wait,
)

AGREED, FIFO = Level.AGREED, Level.FIFO


class TakingLine:
    """Keeps what is sent."""

    def __init__(self) -> None:
        self.submits: list[Submit] = []

    def send(self, request: Request) -> None:
        assert isinstance(request, Submit)
        self.submits.append(request)

    def abort(self) -> None:
        pass

    @property
    def shown(self) -> list[tuple[str, int, int, list[bytes]]]:
        """Group, level, first number and bodies of each request."""
        return [(each.group, int(each.level), each.number, list(each.bodies)) for each in self.submits]


def in_a_loop(test: Callable[[Outbox, TakingLine], object]) -> TakingLine:
    """Let a test multicast in one turn of a loop."""
    line = TakingLine()

    async def run() -> None:
        outbox = Outbox(42)
        outbox.connected(line)
        result = test(outbox, line)
        if asyncio.iscoroutine(result):
            await result
        await asyncio.sleep(0)

    asyncio.run(run())
    return line


async def started(outbox: Outbox, payloads: list[bytes], again: MessageKey | None = None) -> asyncio.Future[Receipt]:
    """Many, as far as there is room for them."""
    future = asyncio.ensure_future(outbox.put_many("g", payloads, AGREED, Wait.FINAL, again))
    await asyncio.sleep(0)
    return future


def test_one_turn_is_one_bundle() -> None:
    line = in_a_loop(lambda outbox, _: [outbox.put("g", b"%d" % n, AGREED, Wait.FINAL, None) for n in range(5)])
    assert line.shown == [("g", 2, 0, [b"0", b"1", b"2", b"3", b"4"])]


def test_the_order_is_kept_over_groups_levels_and_waits() -> None:
    def test(outbox: Outbox, _: TakingLine) -> None:
        outbox.put("g", b"0", AGREED, Wait.FINAL, None)
        outbox.put("h", b"1", AGREED, Wait.FINAL, None)
        outbox.put("h", b"2", FIFO, Wait.FINAL, None)
        outbox.put("h", b"3", AGREED, Wait.FINAL, None)
        outbox.put("h", b"4", AGREED, Wait.ORDERED, None)

    assert in_a_loop(test).shown == [
        ("g", 2, 0, [b"0"]),
        ("h", 2, 1, [b"1"]),
        ("h", 0, 0, [b"2"]),
        ("h", 2, 2, [b"3"]),
        ("h", 2, 3, [b"4"]),
    ]


def test_a_bundle_is_bounded() -> None:
    def test(outbox: Outbox, _: TakingLine) -> None:
        for _number in range(BUNDLE_BODIES_MAX + 1):
            outbox.put("g", b"", AGREED, Wait.FINAL, None)
        for _number in range(3):
            outbox.put("g", bytes(BUNDLE_BYTES_MAX // 2), AGREED, Wait.FINAL, None)
        outbox.put("g", bytes(MESSAGE_BYTES_MAX), AGREED, Wait.FINAL, None)

    assert [len(each.bodies) for each in in_a_loop(test).submits] == [BUNDLE_BODIES_MAX, 3, 1, 1]


def test_many_are_divided_by_number_and_by_size() -> None:
    async def test(outbox: Outbox, _: TakingLine) -> None:
        outbox.put("g", b"first", AGREED, Wait.FINAL, None)
        await started(outbox, [b""] * (BUNDLE_BODIES_MAX + 5))
        await started(outbox, [bytes(100_000)] * 5 + [bytes(MESSAGE_BYTES_MAX), b""])
        outbox.put("g", b"last", AGREED, Wait.FINAL, None)

    submits = in_a_loop(test).submits
    assert [len(each.bodies) for each in submits] == [1, BUNDLE_BODIES_MAX, 5, 2, 2, 1, 1, 1, 1]
    numbers = [each.number for each in submits]
    assert numbers == [sum(len(each.bodies) for each in submits[:index]) for index in range(len(submits))]


def test_what_is_multicast_again_has_its_old_number_and_a_bundle_to_itself() -> None:
    async def test(outbox: Outbox, _: TakingLine) -> None:
        outbox.put("g", b"new", AGREED, Wait.FINAL, None)
        outbox.put("g", b"old", AGREED, Wait.FINAL, MessageKey(7, 70))
        outbox.put("g", b"newer", AGREED, Wait.FINAL, None)
        await started(outbox, [b"a", b"b"], MessageKey(7, 80))

    submits = in_a_loop(test).submits
    assert [(each.session, each.number, list(each.bodies)) for each in submits] == [
        (None, 0, [b"new"]),
        (7, 70, [b"old"]),
        (None, 1, [b"newer"]),
        (7, 80, [b"a", b"b"]),
    ]


@pytest.mark.parametrize("many", [False, True])
def test_too_long_a_message_is_refused_and_takes_no_number(many: bool) -> None:
    async def test(outbox: Outbox, _: TakingLine) -> None:
        payload = bytes(MESSAGE_BYTES_MAX + 1)

        async def put() -> None:
            if many:
                await outbox.put_many("g", [b"x", payload], AGREED, Wait.FINAL, None)
            else:
                await outbox.put("g", payload, AGREED, Wait.FINAL, None)

        with pytest.raises(WrongUse, match="expected at most"):
            await put()
        outbox.put("g", b"x", AGREED, Wait.FINAL, None)

    assert in_a_loop(test).shown == [("g", 2, 0, [b"x"])]


def test_each_message_of_a_bundle_gets_its_own_receipt() -> None:
    async def test(outbox: Outbox, line: TakingLine) -> None:
        futures = [outbox.put("g", b"x", AGREED, Wait.FINAL, None) for _ in range(3)]
        futures[1].cancel()
        outbox.flush()
        outbox.on_done(Done(line.submits[0].request, MessageId(100), 10))
        assert [(await futures[index]).position for index in (0, 2)] == [10, 12]
        assert (await futures[2]).message == 102

    in_a_loop(test)


def test_the_receipt_of_many_waits_for_the_last() -> None:
    async def test(outbox: Outbox, line: TakingLine) -> None:
        future = await started(outbox, [b"x"] * (BUNDLE_BODIES_MAX + 2))
        first, second = (each.request for each in line.submits)
        outbox.on_done(Done(first, MessageId(100), 10))
        assert not future.done()
        outbox.on_done(Done(second, MessageId(5000), 4000))
        receipt = await future
        assert (receipt.message, receipt.position, receipt.last_position) == (100, 10, 4001)

    in_a_loop(test)


def test_what_the_site_has_not_sent_and_what_it_cannot_tell_are_different() -> None:
    async def test(outbox: Outbox, line: TakingLine) -> None:
        refused = outbox.put("g", b"x", AGREED, Wait.FINAL, None)
        outbox.flush()
        unknown = outbox.put("g", b"x", AGREED, Wait.FINAL, MessageKey(7, 70))
        outbox.on_not_done(NotDone(line.submits[0].request, "join first"))
        outbox.on_not_done(NotDone(line.submits[1].request, "taken back", sent=True))
        with pytest.raises(NotSent, match="join first"):
            await refused
        with pytest.raises(OutcomeUnknown) as error:
            await unknown
        assert error.value.message == MessageKey(7, 70)

    in_a_loop(test)


def test_a_lost_connection_leaves_what_was_sent_unknown_and_keeps_what_was_not() -> None:
    async def test(outbox: Outbox, line: TakingLine) -> None:
        sent = outbox.put("g", b"sent", AGREED, Wait.FINAL, None)
        fifo = outbox.put("g", b"fifo", FIFO, Wait.FINAL, None)
        outbox.flush()
        kept = outbox.put("g", b"kept", AGREED, Wait.FINAL, None)
        outbox.disconnected("gone")
        await asyncio.sleep(0)
        with pytest.raises(OutcomeUnknown) as error:
            await sent
        assert error.value.message == MessageKey(42, 0)
        with pytest.raises(OutcomeUnknown) as error:
            await fifo
        assert error.value.message is None
        assert not kept.done()
        outbox.connected(line)
        assert line.shown[-1] == ("g", 2, 1, [b"kept"])

    in_a_loop(test)


def test_nobody_waits_for_ever_once_it_is_closed() -> None:
    async def test(outbox: Outbox, line: TakingLine) -> None:
        outbox.hold("site", True)
        waiting = asyncio.ensure_future(outbox.room())
        await asyncio.sleep(0)
        assert not waiting.done()
        outbox.close("the end")
        with pytest.raises(NotSent, match="the end"):
            await waiting

    in_a_loop(test)


def test_there_is_room_once_nobody_holds_it_back() -> None:
    async def test(outbox: Outbox, line: TakingLine) -> None:
        outbox.hold("site", True)
        outbox.hold("line", True)
        waiting = asyncio.ensure_future(outbox.room())
        outbox.hold("site", False)
        await asyncio.sleep(0)
        assert not waiting.done()
        outbox.hold("line", False)
        await waiting

    in_a_loop(test)


def test_many_leave_piece_by_piece_as_there_is_room() -> None:
    async def test(outbox: Outbox, line: TakingLine) -> None:
        outbox.hold("line", True)
        future = await started(outbox, [b"x"] * (2 * BUNDLE_BODIES_MAX + 1))
        assert len(line.submits) == 1
        outbox.put("g", b"between", AGREED, Wait.FINAL, None)
        outbox.hold("line", False)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert sorted(each.number for each in line.submits) == [0, 1000, 2000, 2001]
        assert not future.done()
        future.cancel()

    in_a_loop(test)


def test_of_many_that_will_never_all_leave_nobody_can_tell() -> None:
    async def test(outbox: Outbox, line: TakingLine) -> None:
        outbox.hold("line", True)
        future = await started(outbox, [b"x"] * (BUNDLE_BODIES_MAX + 1))
        outbox.on_done(Done(line.submits[0].request, MessageId(0), 0))
        outbox.close("the end")
        with pytest.raises(OutcomeUnknown, match="the end") as error:
            await future
        assert error.value.message == MessageKey(42, 0)

    in_a_loop(test)


def test_of_many_no_more_leave_once_some_are_lost() -> None:
    async def test(outbox: Outbox, line: TakingLine) -> None:
        outbox.hold("line", True)
        future = await started(outbox, [b"x"] * (BUNDLE_BODIES_MAX + 1))
        outbox.disconnected("gone")
        outbox.connected(line)
        with pytest.raises(OutcomeUnknown):
            await future
        assert len(line.submits) == 1

    in_a_loop(test)
