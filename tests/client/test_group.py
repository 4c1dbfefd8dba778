"""A participant in a group, through sites in memory."""

from __future__ import annotations

import asyncio

import pytest

from ordercast import (
    EARLIEST,
    Batch,
    Blocked,
    Delivery,
    Event,
    Finalized,
    Level,
    MessageKey,
    OutcomeUnknown,
    Resumed,
    Retracted,
    Unblocked,
    ViewChange,
    WrongUse,
)
from ordercast.client.line import Line, Listener
from ordercast.testing import LocalGroup
from tests.client.running import deliveries, events, run, until


def test_a_message_gets_to_everybody_in_its_place() -> None:
    async def test() -> None:
        async with LocalGroup(3, ordering="symmetric") as local:
            alice, bob = local.site(0, name="alice"), local.site(1, name="bob")
            async with alice, bob, alice.join("orders") as mine, bob.join("orders") as his:
                receipt = await mine.multicast(b"hello")
                (seen,) = await deliveries(his, 1)
                assert (seen.payload, seen.position, seen.message) == (b"hello", receipt.position, receipt.message)
                assert str(seen.sender) == "alice@site0"
                assert receipt.last_position == receipt.position
                assert not receipt.repeated

    run(test)


def test_all_members_see_one_order() -> None:
    async def test() -> None:
        async with LocalGroup(3, ordering="token-site") as local:
            sites = [local.site(index, name=f"p{index}") for index in range(3)]
            async with (
                sites[0],
                sites[1],
                sites[2],
                sites[0].join("g") as a,
                sites[1].join("g") as b,
                sites[2].join("g") as c,
            ):
                groups = (a, b, c)
                await asyncio.gather(*[group.multicast(b"%d" % number) for number in range(50) for group in groups])
                seen = [await deliveries(group, 150) for group in groups]
                orders = [[(each.position, each.sender.name, each.payload) for each in one] for one in seen]
                assert orders[0] == orders[1] == orders[2]
                own = [payload for _, name, payload in orders[0] if name == "p1"]
                assert own == [b"%d" % number for number in range(50)]

    run(test)


def test_who_joins_and_leaves_is_told_at_its_place() -> None:
    async def test() -> None:
        async with LocalGroup(2) as local:
            alice, bob = local.site(0, name="alice"), local.site(1, name="bob")
            async with alice, bob, alice.join("g") as mine:
                async with bob.join("g") as his:
                    await his.multicast(b"x")
                seen = await events(mine, 4)
                first, joined, _, left = seen
                assert isinstance(first, ViewChange)
                assert isinstance(joined, ViewChange)
                assert isinstance(left, ViewChange)
                assert [str(member) for member in first.members] == ["alice@site0"]
                assert [str(member) for member in joined.joined] == ["bob@site1"]
                assert [str(member) for member in joined.members] == ["alice@site0", "bob@site1"]
                assert [str(member) for member in left.left] == ["bob@site1"]
                assert mine.view == left

    run(test)


def test_groups_do_not_hear_each_other() -> None:
    async def test() -> None:
        async with LocalGroup(1) as local, local.site(0) as site, site.join("a") as a, site.join("b") as b:
            await a.multicast(b"for a")
            await b.multicast(b"for b")
            assert [each.payload for each in await deliveries(a, 1)] == [b"for a"]
            assert [each.payload for each in await deliveries(b, 1)] == [b"for b"]

    run(test)


@pytest.mark.parametrize("level", list(Level))
def test_every_level_is_delivered_and_receipted(level: Level) -> None:
    async def test() -> None:
        async with LocalGroup(3, ordering="symmetric") as local:
            alice, bob = local.site(0), local.site(1)
            async with alice, bob, alice.join("g") as mine, bob.join("g") as his:
                for number in range(3):
                    receipt = await mine.multicast(b"%d" % number, level=level)
                    assert (receipt.position is None) == (level < Level.AGREED)
                seen = await deliveries(his, 3)
                assert [each.payload for each in seen] == [b"0", b"1", b"2"]
                assert {each.level for each in seen} == {level}
                assert level is not Level.SAFE or all(each.final for each in seen)

    run(test)


def test_many_at_once_keep_their_order_and_get_one_receipt() -> None:
    async def test() -> None:
        async with LocalGroup(1) as local, local.site(0) as site, site.join("g") as group:
            payloads = [b"%d" % number for number in range(2500)]
            receipt = await group.multicast_many(payloads)
            assert receipt.position is not None
            assert receipt.last_position == receipt.position + 2499
            assert [each.payload for each in await deliveries(group, 2500)] == payloads

    run(test)


def test_batches_hold_what_the_events_would() -> None:
    async def test() -> None:
        async with LocalGroup(1) as local, local.site(0) as site, site.join("g") as group:
            await group.multicast_many([b"a", b"b", b"c"])
            (first,) = await deliveries(group, 1)
            rest = []
            async for batch in group.batches():
                assert isinstance(batch, Batch)
                rest += batch.deliveries()
                if len(rest) == 2:
                    break
            assert [first.payload, *[each.payload for each in rest]] == [b"a", b"b", b"c"]
            assert first.position is not None
            assert [each.position for each in rest] == [first.position + 1, first.position + 2]

    run(test)


def test_a_late_reader_begins_with_the_earliest_position_without_gap_or_double() -> None:
    async def test() -> None:
        async with LocalGroup(3, ordering="symmetric") as local:
            alice, late = local.site(0), local.site(1, name="late")
            async with alice, late, alice.join("g") as mine:
                for number in range(20):
                    await mine.multicast(b"%d" % number)
                writing = asyncio.ensure_future(mine.multicast_many([b"%d" % number for number in range(20, 3000)]))
                async with late.join("g", start=EARLIEST) as group:
                    seen = await deliveries(group, 3000)
                await writing
                assert [int(each.payload) for each in seen] == list(range(3000))

    run(test)


def test_reading_begins_within_a_bundle() -> None:
    async def test() -> None:
        async with LocalGroup(1) as local, local.site(0) as site, site.join("g") as group:
            receipt = await group.multicast_many([b"a", b"b", b"c"])
            assert receipt.position is not None
            async with local.site(0, name="other") as other, other.observe("g", start=receipt.position + 1) as reader:
                assert [each.payload for each in await deliveries(reader, 2)] == [b"b", b"c"]

    run(test)


def test_a_reader_of_what_is_final_sees_nothing_else() -> None:
    async def test() -> None:
        async with LocalGroup(3, ordering="symmetric", delay_ms=5) as local:
            alice, bob = local.site(0), local.site(1)
            async with alice, bob, alice.join("g") as mine, bob.observe("g", final_only=True) as reader:
                for number in range(5):
                    await mine.multicast(b"%d" % number, wait="ordered")
                seen = await deliveries(reader, 5)
                assert [int(each.payload) for each in seen] == list(range(5))
                assert all(each.final for each in seen)

    run(test)


def test_who_wants_to_know_is_told_what_has_become_final() -> None:
    async def test() -> None:
        async with (
            LocalGroup(3, ordering="symmetric", delay_ms=5) as local,
            local.site(0) as site,
            site.join("g", finality=True) as group,
        ):
            receipt = await group.multicast(b"x")
            assert receipt.position is not None
            async for event in group:
                if isinstance(event, Finalized) and event.below > receipt.position:
                    return

    run(test)


def test_an_observer_is_no_member() -> None:
    async def test() -> None:
        async with LocalGroup(1) as local, local.site(0) as site, site.observe("g") as group:
            assert await site.members() == ()
            with pytest.raises(WrongUse, match="only a member"):
                await group.multicast(b"x")

    run(test)


def test_a_group_is_joined_once() -> None:
    async def test() -> None:
        async with LocalGroup(1) as local, local.site(0) as site:
            async with site.join("g"):
                with pytest.raises(WrongUse, match="joined it already"):
                    await site.join("g").__aenter__()
            async with site.join("g") as again:
                await again.multicast(b"x")

    run(test)


def test_leaving_ends_the_stream() -> None:
    async def test() -> None:
        async with LocalGroup(1) as local, local.site(0) as site:
            async with site.join("g") as group:
                await group.multicast(b"x")
            assert len([event async for event in group]) == 2

    run(test)


# --- faults ---


def test_a_minority_is_blocked_and_goes_on_once_it_is_back() -> None:
    async def test() -> None:
        async with (
            LocalGroup(3, ordering="symmetric") as local,
            local.site(2) as site,
            site.join("g") as group,
            local.site(0) as other,
            other.join("g") as far,
        ):
            await group.multicast(b"before")
            local.cut(2)
            async for event in group:
                if isinstance(event, Blocked):
                    break
            waiting = asyncio.ensure_future(group.multicast(b"meanwhile"))
            await far.multicast(b"elsewhere")
            assert not waiting.done()
            local.heal()
            assert (await waiting).position is not None
            seen = []
            async for event in group:
                seen.append(event)
                if getattr(event, "payload", b"") == b"meanwhile":
                    break
            assert any(isinstance(event, Unblocked) for event in seen)
            assert [event.payload for event in seen if hasattr(event, "payload")] == [b"elsewhere", b"meanwhile"]

    run(test)


def test_a_participant_whose_site_crashes_is_told_what_it_cannot_know_and_multicasts_again() -> None:
    async def test() -> None:
        async with LocalGroup(3, ordering="symmetric", delay_ms=20) as local:
            alice, bob = local.site(0, name="alice"), local.site(1, name="bob")
            async with alice, bob, bob.join("g") as his, alice.join("g") as mine:
                pending = asyncio.ensure_future(mine.multicast(b"once"))
                await asyncio.sleep(0)
                await asyncio.sleep(0.01)
                await local.crash(0)
                with pytest.raises(OutcomeUnknown) as unknown:
                    await pending
                key = unknown.value.message
                assert key is not None
                first = await his.multicast(b"once", again=key)
                second = await his.multicast(b"once", again=key)
                assert second.repeated
                await his.multicast(b"end")
                payloads = []
                async for event in his:
                    if hasattr(event, "payload"):
                        payloads.append(event.payload)
                        if event.payload == b"end":
                            break
                assert payloads == [b"once", b"end"]
                assert first.repeated or first.position is not None
                await local.restart(0)

    run(test)


def test_a_stream_goes_on_after_a_restart_of_the_site() -> None:
    async def test() -> None:
        async with LocalGroup(3, ordering="symmetric") as local:
            alice, bob = local.site(0, name="alice"), local.site(1, name="bob")
            async with alice, bob, alice.join("g", final_only=True) as mine, bob.join("g") as his:
                await his.multicast(b"0")
                await deliveries(mine, 1)
                await local.crash(0)
                for number in (1, 2, 3):
                    await his.multicast(b"%d" % number)
                await local.restart(0)
                seen = await deliveries(mine, 3)
                assert [each.payload for each in seen] == [b"1", b"2", b"3"]
                await mine.multicast(b"4")
                assert [each.payload for each in await deliveries(his, 5)][-1] == b"4"

    run(test)


@pytest.mark.parametrize("late", [False, True])
def test_what_was_tentative_at_a_site_that_restarts_is_taken_back(late: bool) -> None:
    """Whether the participant is back before its site knows better, or after."""

    async def test() -> None:
        gate = asyncio.Event()
        async with (
            LocalGroup(3, ordering="token-site", options={"site": "site2"}) as local,
            local.site(2) as site,
            site.join("g") as group,
            local.site(0) as far,
            far.join("g") as other,
        ):
            await other.multicast(b"kept")
            await deliveries(group, 1)
            local.cut(2)
            mine = await group.multicast(b"only here", wait="ordered")
            (tentative,) = await deliveries(group, 1)
            assert (tentative.payload, tentative.final, tentative.position) == (b"only here", False, mine.position)
            dial = site._dial

            async def dial_late(listener: Listener) -> Line:
                await gate.wait()
                return await dial(listener)

            site._dial = dial_late
            await local.crash(2)
            position = (await other.multicast(b"elsewhere")).position
            assert position is not None
            local.heal()
            await local.restart(2)
            if late:
                await until(lambda: local.hosted(2).gateway.recent.final > position)
            gate.set()
            seen: list[Event] = []
            async for event in group:
                seen.append(event)
                if isinstance(event, Delivery) and event.payload == b"elsewhere":
                    break
            taken_back = next(event for event in seen if isinstance(event, Retracted))
            assert mine.position is not None
            assert taken_back.from_position <= mine.position
            after = seen[seen.index(taken_back) :]
            assert [event.payload for event in after if isinstance(event, Delivery)][-1] == b"elsewhere"
            assert any(isinstance(event, Resumed) for event in seen)

    run(test)


def test_a_participant_that_goes_without_a_word_is_a_member_no_longer() -> None:
    async def test() -> None:
        async with LocalGroup(2) as local, local.site(0, name="stays") as site, site.join("g") as group:
            gone = local.site(1, name="goes", reconnect=False)
            await gone.__aenter__()
            await gone.join("g").__aenter__()
            await until(lambda: group.view is not None and len(group.view.members) == 2)
            assert gone._line is not None
            gone._line.abort()
            await until(lambda: group.view is not None and len(group.view.members) == 1)

    run(test)


def test_only_ordered_messages_are_recognised() -> None:
    async def test() -> None:
        async with LocalGroup(1) as local, local.site(0) as site, site.join("g") as group:
            with pytest.raises(WrongUse, match="not recognised"):
                await group.multicast(b"x", level=Level.FIFO, again=MessageKey(1, 2))

    run(test)
