"""One participant at each site: it multicasts without a pause, reads what all of them say, and writes down both."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import IO, Any

import msgspec
from tools.daemons import Daemons

import ordercast
from bench.trials.ledger import Ledger
from ordercast import Delivery, Finalized, Resumed, Retracted
from ordercast.client.errors import MessageKey
from ordercast.client.group import Group

GROUP = "trial"
UNDER_WAY_MAX = 500
"""So many multicasts of one participant wait for their receipts at most."""

NOT_SENT_PAUSE_S = 0.2


class Participants:
    """All of them, in one loop and on one clock: seconds since they began."""

    def __init__(self, daemons: Daemons, rate: float, seed: int) -> None:
        """So many messages a second at each site."""
        self.daemons = daemons
        self.names = daemons.names
        self.ledger = Ledger(daemons.names)
        self.groups: dict[str, Group] = {}
        self.members = dict.fromkeys(daemons.names, 0)
        """How many participants each one sees in the group."""
        self._rate = rate
        self._random = random.Random(seed)
        self._began_s = asyncio.get_running_loop().time()
        self._speaking = True
        self._receipts: set[asyncio.Task[None]] = set()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._speakers: list[asyncio.Task[None]] = []
        self._files: dict[str, IO[bytes]] = {}

    @property
    def now_s(self) -> float:
        """On the trial's clock."""
        return asyncio.get_running_loop().time() - self._began_s

    async def begin(self, patience_s: float) -> None:
        """All of them join; once each sees all others, they speak."""
        directory = self.daemons.directory / "participants"
        directory.mkdir()
        for name in self.names:
            self._files[name] = (directory / f"{name}.jsonl").open("wb")
            self._tasks[name] = asyncio.create_task(self._take_part(name))
        async with asyncio.timeout(patience_s):
            while min(self.members.values()) < len(self.names):
                self.raise_problems()
                await asyncio.sleep(0.05)
        self._began_s = asyncio.get_running_loop().time()
        self._speakers = [asyncio.create_task(self._speak(name)) for name in self.names]

    def raise_problems(self) -> None:
        """A task that has failed is a fault of the trial."""
        for task in (*self._tasks.values(), *self._speakers):
            if task.done() and not task.cancelled():
                task.result()

    async def end_speaking(self, patience_s: float) -> int:
        """Say nothing more, and wait for all receipts; returns how many are missing after that time."""
        self._speaking = False
        until_s = self.now_s + patience_s
        pending = [*self._speakers, *self._receipts]
        if pending:
            await asyncio.wait(pending, timeout=patience_s)
        while self._receipts and self.now_s < until_s:
            await asyncio.wait(tuple(self._receipts), timeout=max(0.0, until_s - self.now_s))
        self.raise_problems()
        return len(self._receipts)

    async def await_everything(self, patience_s: float) -> None:
        """Until everybody has got everything for good, or that time is over."""
        until_s = self.now_s + patience_s
        while self.ledger.missing() and self.now_s < until_s:
            await asyncio.sleep(0.2)

    async def close(self) -> None:
        """Hang up."""
        tasks = [*self._tasks.values(), *self._speakers, *self._receipts]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for file in self._files.values():
            file.close()

    # --- one participant ---

    async def _take_part(self, name: str) -> None:
        site = ordercast.connect(await self._socket(name), name=f"client-{name}")
        async with site, site.join(GROUP, finality=True) as group:
            self.groups[name] = group
            try:
                async for event in group:
                    self._on_event(name, event)
            except ordercast.StreamEnded as error:
                self.ledger.streams[name].on_end(str(error))

    async def _socket(self, name: str) -> Path:
        path = self.daemons.socket(name)
        while not path.exists():
            await asyncio.sleep(0.02)
        return path

    def _on_event(self, name: str, event: ordercast.Event) -> None:
        stream = self.ledger.streams[name]
        match event:
            case Delivery(position=position, payload=key, final=final) if position is not None:
                self._write(name, "delivery", position, key.decode(), final)
                self.ledger.on_delivery(name, position, key, final, self.now_s)
            case Finalized(below=below):
                self._write(name, "final", below)
                stream.on_final(below)
            case Retracted(from_position=start):
                self._write(name, "retracted", start)
                stream.on_retracted(start)
            case Resumed(position=position):
                self._write(name, "resumed", position)
                stream.resumed += 1
            case ordercast.ViewChange(members=members):
                self._write(name, "view", [str(member) for member in members])
                self.members[name] = len(members)
            case _:
                self._write(name, type(event).__name__.lower())

    async def _speak(self, name: str) -> None:
        number, due_s = 0, self.now_s
        while self._speaking:
            due_s = max(due_s + self._random.expovariate(self._rate), self.now_s - 1.0)
            await asyncio.sleep(max(0.0, due_s - self.now_s))
            if self._under_way(name) >= UNDER_WAY_MAX:
                continue
            number += 1
            key = f"{name} {number}".encode()
            self.ledger.on_asked(name, key, self.now_s)
            self._write(name, "asked", key.decode())
            task = asyncio.create_task(self._surely(name, key), name=name)
            self._receipts.add(task)
            task.add_done_callback(self._receipts.discard)

    def _under_way(self, name: str) -> int:
        return sum(task.get_name() == name for task in self._receipts)

    async def _surely(self, name: str, key: bytes) -> None:
        """Multicast until there is a receipt: a message whose outcome is unknown comes up once either way."""
        again: MessageKey | None = None
        group = self.groups[name]
        while True:
            try:
                receipt = await group.multicast(key, again=again)
            except ordercast.OutcomeUnknown as error:
                self.ledger.asked[key].unknown += 1
                again = error.message or again
                self._write(name, "unknown", key.decode(), str(error))
                group = self.groups[self._random.choice(self.names)]
            except ordercast.NotSent:
                await asyncio.sleep(NOT_SENT_PAUSE_S)
            else:
                self._write(name, "receipt", key.decode(), receipt.position, receipt.repeated)
                self.ledger.on_receipt(key, receipt.position)
                return

    def _write(self, name: str, what: str, *rest: Any) -> None:
        self._files[name].write(msgspec.json.encode((round(self.now_s, 4), what, *rest)) + b"\n")
