"""Three daemons of which one after the other is killed at a random moment and comes back at once."""

from __future__ import annotations

import asyncio
import random
import signal
from pathlib import Path

from msgspec import Struct

from bench.trials.field import START_S, THREE, Field, Result, tables

WAIT_S = (0.0, 0.4)
"""Until the next kill, once a majority goes on."""

ALL_AT_ONCE = 0.05
"""So many of the kills hit all sites at once, ..."""

IN_A_ROW = 0.2
"""... and so many come without waiting for anything."""


class KillsResult(Struct):
    """What `trial kills` tells."""

    trial: Result
    kills: int
    all_at_once: int
    """Kills of three, which count as three."""
    seconds_per_kill: float


class Killer:
    """Kills sites, and starts them again."""

    def __init__(self, field: Field, count: int) -> None:
        self.all_at_once = 0
        self.seconds = 0.0
        self.kills = 0
        self._field = field
        self._count = count
        self._chance = random.Random(field.seed)

    async def run(self, field: Field) -> None:
        """All kills."""
        while self.kills < self._count:
            names = field.names
            if self._chance.random() < ALL_AT_ONCE:
                self.all_at_once += 1
            else:
                names = (self._chance.choice(names),)
            await asyncio.gather(*(field.end_site(name, signal.SIGKILL) for name in names))
            killed_s = field.now_s
            field.daemons.up(*names)
            self.kills += len(names)
            if self._chance.random() >= IN_A_ROW:
                await self._await_majority(killed_s)
            await asyncio.sleep(self._chance.uniform(*WAIT_S))
            field.participants.raise_problems()
        self.seconds = field.now_s

    async def _await_majority(self, killed_s: float) -> None:
        """Until most participants get what was multicast after a kill."""
        streams = self._field.ledger.streams.values()
        async with asyncio.timeout(START_S):
            while 2 * sum(bool(each.asked_s) and each.asked_s[-1] > killed_s for each in streams) <= len(streams):
                await asyncio.sleep(0.02)


async def run_kills(directory: Path, count: int, seed: int, fsync: str, rate: float) -> KillsResult:
    """The whole trial."""
    field = Field(directory, THREE, tables(fsync=fsync, two_lans=False), rate, seed)
    killer = Killer(field, count)
    result = await field.run(killer.run)
    return KillsResult(result, killer.kills, killer.all_at_once, killer.seconds / max(1, killer.kills))
