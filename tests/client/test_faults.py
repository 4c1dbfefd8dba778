"""Participants while sites are cut off, crash and come back: every message once, every stream without gap or double.

Writers multicast each message until they know that it is final. Readers join anywhere, keep what they are given as the
page on the client says (what is retracted they drop), and stop anywhere. In the end all is healed, and what each
reader has kept must be what the whole order holds at those positions.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

import pytest

from ordercast import (
    EARLIEST,
    ConsumerTooSlow,
    Delivery,
    Group,
    NotFit,
    OutcomeUnknown,
    PositionGone,
    Retracted,
)
from ordercast.testing import LocalGroup
from tests.client.running import run

SITES = 3
WRITERS = 3
MESSAGES = 40
"""Of each writer."""

Seen = dict[int, bytes]
"""By position."""


class Reader:
    """What one stream has given, and from where to where."""

    def __init__(self, start: int) -> None:
        self.start = start
        self.seen: Seen = {}
        self.final_below = 0
        """What it has kept from there on may have been taken back after it stopped."""

    def take(self, event: object) -> None:
        match event:
            case Delivery(position=int() as position, payload=payload):
                assert position >= self.start
                assert not self.seen or position > max(self.seen), "a double, or out of order"
                self.seen[position] = payload
            case Retracted(from_position=start):
                self.seen = {position: payload for position, payload in self.seen.items() if position < start}

    def check(self, order: Seen) -> None:
        """Nothing else, and nothing missing up to the last."""
        stop = min(max(self.seen, default=-1) + 1, self.final_below)
        expected = {position: payload for position, payload in order.items() if self.start <= position < stop}
        assert {position: payload for position, payload in self.seen.items() if position < stop} == expected


class Trial:
    """One run, with faults drawn from a seed."""

    def __init__(self, local: LocalGroup, seed: int) -> None:
        self.local = local
        self.random = random.Random(seed)
        self.readers: list[Reader] = []
        self.down: list[int] = []
        self.writing = WRITERS
        self.reading = True

    async def write(self, index: int) -> None:
        """Each message until it is known to be final."""
        async with self.local.site(index % SITES, name=f"writer{index}") as site, site.join("g") as group:
            for number in range(MESSAGES):
                await self.multicast_surely(group, b"%d/%d" % (index, number))
                await asyncio.sleep(self.random.random() * 0.02)
        self.writing -= 1

    async def multicast_surely(self, group: Group, payload: bytes) -> None:
        again = None
        while True:
            try:
                await group.multicast(payload, again=again)
                return
            except OutcomeUnknown as error:
                again = error.message or again

    async def read(self) -> None:
        """One stream after the other, each from wherever the last ended or from the beginning."""
        position = 0
        while self.reading:
            index = self.random.randrange(SITES)
            start = self.random.choice([EARLIEST, position])
            reader = Reader(max(start, 0))
            try:
                async with self.local.site(index, name="reader") as site:
                    options = {"final_only": self.random.random() < 0.5}
                    window_bytes = self.random.choice([300, 8 << 20])
                    wanted = site.observe("g", start=start, window_bytes=window_bytes, **options)
                    async with wanted as group:
                        try:
                            await self.follow(group, reader)
                        finally:
                            reader.final_below = group.final_below
            except (NotFit, PositionGone, ConsumerTooSlow):
                await asyncio.sleep(0.01)
            self.readers.append(reader)
            position = max((each for each in reader.seen if each < reader.final_below), default=position)

    async def follow(self, group: Group, reader: Reader) -> None:
        """For a while."""
        until_s = asyncio.get_running_loop().time() + self.random.random() * 0.5
        while self.reading and asyncio.get_running_loop().time() < until_s:
            try:
                async with asyncio.timeout(0.05):
                    happening = await group.next()
            except TimeoutError:
                continue
            if happening is None:
                return
            for event in getattr(happening, "deliveries", lambda happening=happening: [happening])():
                reader.take(event)

    async def disturb(self) -> None:
        """Something goes wrong, or is mended, again and again while there are writers."""
        actions: list[Callable[[], object]] = [self.cut, self.heal, self.crash, self.mend]
        while self.writing:
            await asyncio.sleep(self.random.random() * 0.4)
            result = self.random.choice(actions)()
            if asyncio.iscoroutine(result):
                await result
            if self.random.random() < 0.7:
                await asyncio.sleep(self.random.random() * 0.5)
                self.heal()
                await self.mend()

    def cut(self) -> None:
        self.local.cut(self.random.randrange(SITES))

    def heal(self) -> None:
        self.local.heal()

    async def crash(self) -> None:
        if not self.down:
            site = self.random.randrange(SITES)
            self.down.append(site)
            await self.local.crash(site)

    async def mend(self) -> None:
        while self.down:
            await self.local.restart(self.down.pop())

    async def order(self) -> Seen:
        """What the whole order holds, as a late reader of what is final sees it."""
        whole = Reader(0)
        async with self.local.site(0, name="late") as site, site.observe("g", start=EARLIEST, final_only=True) as group:
            async for event in group:
                whole.take(event)
                if len(whole.seen) == WRITERS * MESSAGES:
                    return whole.seen
        raise AssertionError("the stream has ended")


@pytest.mark.parametrize("seed", range(4))
def test_every_message_comes_once_and_no_stream_has_a_gap_or_a_double(seed: int) -> None:
    async def test() -> None:
        async with LocalGroup(SITES, ordering="symmetric", delay_ms=2) as local:
            trial = Trial(local, seed)
            reading = [asyncio.ensure_future(trial.read()) for _ in range(3)]
            disturbing = asyncio.ensure_future(trial.disturb())
            await asyncio.gather(*[trial.write(index) for index in range(WRITERS)])
            await disturbing
            trial.heal()
            await trial.mend()
            order = await trial.order()
            trial.reading = False
            await asyncio.gather(*reading)
            payloads = sorted(order.values())
            assert payloads == sorted(b"%d/%d" % (i, n) for i in range(WRITERS) for n in range(MESSAGES))
            assert any(reader.seen for reader in trial.readers)
            for reader in trial.readers:
                reader.check(order)

    run(test)
