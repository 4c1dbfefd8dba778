"""What operators ask a site through the library."""

from __future__ import annotations

import asyncio

import pytest

from ordercast import WrongUse
from ordercast.core.administration import SiteView
from ordercast.testing import LocalGroup
from tests.client.running import deliveries, run, until


def test_the_ordering_is_changed_while_messages_are_under_way() -> None:
    async def test() -> None:
        async with LocalGroup(3, ordering="symmetric", delay_ms=2) as local:
            alice, bob = local.site(0, name="alice"), local.site(1, name="bob")
            async with alice, bob, alice.join("g") as mine, bob.join("g") as his:
                before = asyncio.gather(*[mine.multicast(b"%d" % number) for number in range(50)])
                await alice.change_ordering("token-site", site="site1")
                after = asyncio.gather(*[mine.multicast(b"%d" % number) for number in range(50, 100)])
                await asyncio.gather(before, after)
                assert [int(each.payload) for each in await deliveries(his, 100)] == list(range(100))
                assert (await alice.status()).ordering == "token-site"
                await until(lambda: local.hosted(2).gateway.recent.end == local.hosted(0).gateway.recent.end)
                assert (await bob.status()).ordering == "token-site"

    run(test)


def test_a_site_alone_changes_its_ordering_too() -> None:
    async def test() -> None:
        async with LocalGroup(1, ordering="symmetric") as local, local.site(0) as site, site.join("g") as group:
            await site.change_ordering("adaptive")
            await group.multicast(b"x")
            assert (await site.status()).ordering == "adaptive"

    run(test)


@pytest.mark.parametrize(
    ("protocol", "options", "reason"),
    [
        ("tokn-site", {}, "did you mean token-site"),
        ("token-site", {"site": "nowhere"}, "options.site: unknown site"),
        ("symmetric", {"sites": "a"}, "has none"),
    ],
)
def test_an_ordering_that_does_not_exist_is_refused(protocol: str, options: dict[str, str], reason: str) -> None:
    async def test() -> None:
        async with LocalGroup(1) as local, local.site(0) as site:
            with pytest.raises(WrongUse, match=reason):
                await site.change_ordering(protocol, **options)

    run(test)


def test_views_are_told_as_they_come() -> None:
    async def test() -> None:
        async with LocalGroup(3, ordering="symmetric") as local, local.site(0) as site, site.join("g"):
            views = site.views()
            seen: list[SiteView] = []
            async for view in views:
                seen.append(view)
                if len(view.members) == 3 and len(seen) == 1:
                    await local.crash(2)
                if len(view.members) == 2:
                    break
            assert seen[-1].members == ("site0", "site1")
            assert seen[-1].view > seen[0].view
            assert seen[-1].position is not None
            await views.aclose()  # type: ignore[attr-defined]
            await until(lambda: not local.hosted(0).gateway.questions._following)

    run(test)


def test_who_is_in_which_group() -> None:
    async def test() -> None:
        async with (
            LocalGroup(2) as local,
            local.site(0, name="a") as a,
            local.site(1, name="b") as b,
            a.join("one"),
            b.join("two"),
            b.join("one"),
        ):
            await until(lambda: local.hosted(0).gateway.recent.end >= 4)
            groups = {group.group: list(map(str, group.members)) for group in await a.members()}
            assert groups == {"one": ["a@site0", "b@site1"], "two": ["b@site1"]}

    run(test)


def test_a_blocked_site_says_so_and_for_whom_it_waits() -> None:
    async def test() -> None:
        async with LocalGroup(3, ordering="symmetric") as local, local.site(2) as site, site.join("g") as group:
            assert (await site.status()).state == "in"
            local.cut(2)
            waiting = asyncio.ensure_future(group.multicast(b"x"))
            await until(lambda: local.hosted(2).blocked)
            status = await site.status()
            assert status.state == "blocked"
            assert status.waiting_for is not None
            assert status.outstanding_bytes == 1
            local.heal()
            await waiting

    run(test)


def test_links_are_measured() -> None:
    async def test() -> None:
        async with LocalGroup(2, delay_ms=5) as local, local.site(0) as site, site.join("g"):
            while (await site.links())[0].round_trip_ms is None:
                await asyncio.sleep(0.05)
            (link,) = await site.links()
            assert link.site == "site1"
            assert link.round_trip_ms is not None
            assert link.round_trip_ms >= 10

    run(test)
