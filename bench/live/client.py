"""The process of one client under load: `... SOCKET GROUP BUNDLE WINDOW SPREAD` and what every member is told.

Flat out it multicasts BUNDLE messages in one call and has at most WINDOW messages under way; paced it multicasts each
message by itself. It reads the group's stream by the batch, tentative deliveries included.
"""

from __future__ import annotations

import asyncio
import selectors
import sys
from collections.abc import Callable

import uvloop

import ordercast
from bench.peers.member import SECOND_NS, Member
from ordercast import Group, NotFit, NotSent, OutcomeUnknown, StreamEnded
from ordercast.core.stream import Batch, Retracted, ViewChange

BEGIN_S = 60.0

WINDOW_BYTES = 256 << 20
"""So far behind the stream the client may be: with more processes than cores, one can be for a while."""


class Client:
    """One participant of the group."""

    def __init__(self, member: Member, group: Group, bundle: int, window: int) -> None:
        self._member = member
        self._group = group
        self._bundle = bundle
        self._window = window
        self._all_in = asyncio.Event()
        self._came_back = asyncio.Event()
        self._tasks = asyncio.TaskGroup()

    async def run(self) -> None:
        """Until the last message of every member has come up."""
        async with self._tasks as tasks:
            tasks.create_task(self._read())
            await self._load()

    async def _load(self) -> None:
        async with asyncio.timeout(BEGIN_S):
            await self._all_in.wait()
        member = self._member
        await asyncio.get_running_loop().run_in_executor(None, member.await_start)
        await _sleep_until(member.start_ns)
        await (self._pace() if member.load.rate else self._flood())
        await self._tasks.create_task(self._group.multicast(member.last_message(), wait="ordered"))

    async def _read(self) -> None:
        member = self._member
        async for happening in self._group.batches():
            match happening:
                case Batch(payloads=payloads, position=int() as position):
                    member.on_delivered(payloads, position)
                    self._came_back.set()
                    if member.has_ended:
                        return
                case Retracted(from_position=start):
                    member.on_retracted(start)
                case ViewChange(members=members) if len(members) == member.load.members:
                    self._all_in.set()

    async def _flood(self) -> None:
        member, bundle = self._member, self._bundle
        while _now_ns() < member.until_ns:
            while member.under_way + bundle <= self._window:
                self._tasks.create_task(self._group.multicast_many(member.messages(bundle), wait="ordered"))
            self._came_back.clear()
            await self._came_back.wait()

    async def _pace(self) -> None:
        member = self._member
        for due_ns in member.dues_ns():
            await _sleep_until(due_ns)
            self._tasks.create_task(self._group.multicast(member.message(due_ns), wait="ordered"))


async def _sleep_until(at_ns: int) -> None:
    """At least one turn of the loop."""
    await asyncio.sleep(max(0, at_ns - _now_ns()) / SECOND_NS)


def _now_ns() -> int:
    return int(asyncio.get_running_loop().time() * SECOND_NS)


async def main(socket: str, group: str, bundle: int, window: int, member: Member) -> None:
    async with (
        ordercast.connect(socket, name=f"load-{member.me}") as site,
        site.join(group, window_bytes=WINDOW_BYTES) as joined,
    ):
        await Client(member, joined, bundle, window).run()
    member.report()


def _loop(rate: float) -> Callable[[], asyncio.AbstractEventLoop]:
    """Flat out the fastest; paced one whose timers are more exact than a millisecond."""
    return (lambda: asyncio.SelectorEventLoop(selectors.SelectSelector())) if rate else uvloop.new_event_loop


if __name__ == "__main__":
    socket, group, bundle, window, spread, *arguments = sys.argv[1:]
    member = Member(arguments, float(spread))
    with asyncio.Runner(loop_factory=_loop(member.load.rate)) as runner:
        try:
            runner.run(main(socket, group, int(bundle), int(window), member))
        except* (StreamEnded, OutcomeUnknown, NotSent, NotFit, TimeoutError) as errors:
            sys.exit(f"client {member.me}: {errors.exceptions[0]!r}")
