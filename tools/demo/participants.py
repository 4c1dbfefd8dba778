"""One participant at each site: it multicasts at the rate of the phase, and reads what all of them say."""

from __future__ import annotations

import asyncio
import random

import ordercast
from ordercast import Delivery, Retracted
from ordercast.client.group import Group
from tools.daemons import Daemons
from tools.demo.measures import Measures
from tools.demo.plan import LOAD_S, PHASES, SITES, phase_at

GROUP = "demo"
SEED = 1


class Participants:
    """All of them, in one loop and on one clock."""

    def __init__(self, daemons: Daemons, measures: Measures) -> None:
        self.measures = measures
        self.ready = {name: asyncio.Event() for name in SITES}
        self.members = dict.fromkeys(SITES, 0)
        """How many participants each one sees in the group."""
        self._daemons = daemons
        self._random = random.Random(SEED)
        self._began_s = 0.0
        self._receipts: set[asyncio.Task[None]] = set()

    @property
    def now_s(self) -> float:
        """Since the load began."""
        return asyncio.get_running_loop().time() - self._began_s

    def begin(self) -> None:
        """The load begins now."""
        self._began_s = asyncio.get_running_loop().time()

    async def take_part(self, name: str) -> None:
        """Join by way of a site, and stay until cancelled."""
        async with (
            ordercast.connect(self._daemons.socket(name), name=f"client-{name}") as site,
            site.join(GROUP) as group,
        ):
            self.ready[name].set()
            reader = asyncio.create_task(self._read(name, group))
            try:
                await asyncio.gather(reader, self._speak(name, group))
            finally:
                reader.cancel()

    async def _read(self, name: str, group: Group) -> None:
        measures = self.measures
        async for event in group:
            match event:
                case Delivery(payload=key, position=position) if position is not None:
                    measures.on_delivery(name, key, position, self.now_s)
                case Retracted(from_position=position):
                    measures.on_retracted(name, position)
                case ordercast.ViewChange(members=members):
                    self.members[name] = len(members)

    async def _speak(self, name: str, group: Group) -> None:
        number = 0
        while not self._began_s:
            await asyncio.sleep(0.01)
        due_s = self.now_s
        while due_s < LOAD_S:
            rate = PHASES[phase_at(max(due_s, 0.0))].rates[name]
            due_s += self._random.expovariate(rate)
            await asyncio.sleep(max(0.0, due_s - self.now_s))
            number += 1
            key = f"{name} {number}".encode()
            self.measures.on_multicast(name, key, self.now_s)
            task = asyncio.create_task(self._await_receipt(group, key))
            self._receipts.add(task)
            task.add_done_callback(self._receipts.discard)

    async def _await_receipt(self, group: Group, key: bytes) -> None:
        """A message whose outcome is unknown is multicast once more: it comes up once either way."""
        again = None
        while True:
            try:
                await group.multicast(key, again=again)
            except ordercast.OutcomeUnknown as error:
                again = error.message
                self.measures.unknown += 1
            except ordercast.NotSent:
                await asyncio.sleep(0.2)
            else:
                self.measures.receipts += 1
                return

    async def settle(self, patience_s: float) -> int:
        """Wait for all receipts; returns how many are missing after that time."""
        if not self._receipts:
            return 0
        _, missing = await asyncio.wait(tuple(self._receipts), timeout=patience_s)
        return len(missing)
