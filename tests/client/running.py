"""Running a test in a loop of its own, with an end even if nothing happens."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from ordercast.client.group import Group
from ordercast.core.stream import Delivery, Event

LIMIT_S = 60.0
"""No test takes nearly so long: who gets here waits for something that does not come."""


def run(test: Callable[[], Awaitable[None]]) -> None:
    """Run it to its end."""

    async def limited() -> None:
        async with asyncio.timeout(LIMIT_S):
            await test()

    asyncio.run(limited())


async def events(group: Group, count: int) -> list[Event]:
    """The next so many events."""
    seen: list[Event] = []
    async for event in group:
        seen.append(event)
        if len(seen) == count:
            break
    return seen


async def deliveries(group: Group, count: int) -> list[Delivery]:
    """The next so many messages, whatever else comes between."""
    seen: list[Delivery] = []
    async for event in group:
        if isinstance(event, Delivery):
            seen.append(event)
            if len(seen) == count:
                break
    return seen


async def until(condition: Callable[[], bool]) -> None:
    """Wait for something that happens elsewhere in the loop."""
    while not condition():
        await asyncio.sleep(0.005)
