"""A site that comes back after long gets all that it has missed, from the logs of the others."""

from __future__ import annotations

from ordercast import EARLIEST
from ordercast.site.assembly import RETAINED_POSITIONS
from ordercast.testing import LocalGroup
from tests.client.running import deliveries, run, until

BUNDLES, BODIES = 16, 500


def test_what_is_in_no_memory_any_more_comes_from_a_log() -> None:
    async def test() -> None:
        async with LocalGroup(3, ordering="token-site", options={"site": "site0"}) as local:
            async with local.site(0) as site, site.join("orders") as group:
                await group.multicast(b"before")
                await local.crash(2)
                for index in range(BUNDLES):
                    await group.multicast_many([b"%d" % (BODIES * index + number) for number in range(BODIES)])
                assert BUNDLES * BODIES > 3 * RETAINED_POSITIONS
                await local.restart(2)
                await until(lambda: local.hosted(2).gateway.recent.final > BUNDLES * BODIES)
            async with local.site(2) as late, late.observe("orders", start=EARLIEST) as stream:
                seen = await deliveries(stream, 1 + BUNDLES * BODIES)
                assert [each.payload for each in seen] == [b"before", *(b"%d" % n for n in range(BUNDLES * BODIES))]

    run(test)
