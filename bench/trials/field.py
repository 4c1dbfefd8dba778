"""Where a trial takes place: the daemons, the participants, and the judgement when all is over."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from msgspec import Struct
from tools.daemons import Daemons

import ordercast
from bench.trials.disk import log_problems, order_on_disk
from bench.trials.ledger import Ledger, few, order_problems
from bench.trials.participants import Participants
from ordercast.cli.audit import examine
from ordercast.client.site import Site

OUT = Path("out") / "trials"

START_S = 120.0
SETTLE_S = 180.0
"""On a machine that has other things to do."""

ASK_S = 15.0

FIVE = {"lis1": "lisbon", "lis2": "lisbon", "lis3": "lisbon", "bos1": "boston", "bos2": "boston"}
LAN_MS, WAN_MS = 2.0, 20.0
"""One way."""

THREE = dict.fromkeys(("lis1", "lis2", "lis3"), "lisbon")


class Result(Struct):
    """What every trial tells."""

    seed: int
    seconds: float
    multicasts: int
    receipts: int
    repeated: int
    """Multicasts that were repeated since their outcome was not known."""
    deliveries: int
    retracted: int
    positions: int
    """Of the order, views and the like included."""
    records: int
    """Of the traces."""
    problems: list[str]


def tables(*, fsync: str, two_lans: bool) -> str:
    """What is in the cluster file beside the sites."""
    text = f'[group]\nordering = "adaptive"\n[log]\nfsync = "{fsync}"\n[trace]\nenabled = true\n'
    ways = (("lisbon", "lisbon", LAN_MS), ("boston", "boston", LAN_MS), ("lisbon", "boston", WAN_MS))
    if two_lans:
        for one, other, delay_ms in ways:
            text += f'[[emulate]]\nbetween = ["{one}", "{other}"]\ndelay_ms = {delay_ms}\n'
    return text


class Field:
    """The daemons and participants of one trial."""

    def __init__(self, directory: Path, sites: dict[str, str], tables: str, rate: float, seed: int) -> None:
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        self.directory = directory
        self.seed = seed
        self.daemons = Daemons(directory, sites, tables)
        self.participants = Participants(self.daemons, rate, seed)
        self.problems: list[str] = []
        """What has gone wrong on the way."""

    @property
    def names(self) -> tuple[str, ...]:
        """Of all sites."""
        return self.daemons.names

    @property
    def ledger(self) -> Ledger:
        """What has been asked for and seen."""
        return self.participants.ledger

    @property
    def now_s(self) -> float:
        """Since the participants began to speak."""
        return self.participants.now_s

    async def ask(self, name: str, question: Callable[[Site], Awaitable[Any]]) -> Any:
        """Something of a site, as its operator; `NotFit` or `TimeoutError` if it does not answer."""
        async with asyncio.timeout(ASK_S):
            site = ordercast.connect(self.daemons.socket(name), name="operator", reconnect=False)
            async with site:
                return await question(site)

    async def ask_surely(self, name: str, question: Callable[[Site], Awaitable[Any]]) -> Any:
        """The same until it answers, but not for ever."""
        async with asyncio.timeout(SETTLE_S):
            while True:
                try:
                    return await self.ask(name, question)
                except (ordercast.NotFit, TimeoutError):
                    await asyncio.sleep(0.1)

    async def end_site(self, name: str, number: int) -> None:
        """Send a signal that ends the site, and wait for that; who was asked to end has to do it in good order."""
        process = self.daemons.processes[name]
        if process.poll() is not None:
            self.problems.append(f"{name}: the site had ended by itself with exit code {process.returncode}")
        process.send_signal(number)
        code = await asyncio.to_thread(process.wait, SETTLE_S)
        if code not in (0, -number):
            self.problems.append(f"{name}: exit code {code} after signal {number}")

    async def speak_until(self, at_s: float) -> None:
        """Let the participants speak until that time."""
        while self.now_s < at_s:
            await asyncio.sleep(min(1.0, at_s - self.now_s))
            self.participants.raise_problems()

    async def run(self, play: Callable[[Field], Awaitable[None]]) -> Result:
        """The whole trial."""
        try:
            self.daemons.up()
            await self.participants.begin(START_S)
            await play(self)
            seconds = self.now_s
            await self._come_to_rest()
            await self.participants.close()
            ends = await asyncio.to_thread(self.daemons.end_all)
        finally:
            await self.participants.close()
            self.daemons.close()
        self.problems += [f"{name}: did not end in good order" for name in ends]
        return self._judge(seconds)

    async def _come_to_rest(self) -> None:
        missing = await self.participants.end_speaking(SETTLE_S)
        if missing:
            self.problems.append(f"{missing} receipts had not come {SETTLE_S:g} s after the end")
        for name in self.names:
            try:
                await self.ask_surely(name, self._await_all)
            except TimeoutError:
                self.problems.append(f"{name}: is not in a view with all others {SETTLE_S:g} s after the end")
        await self.participants.await_everything(SETTLE_S)

    async def _await_all(self, site: Site) -> None:
        while True:
            status = await site.status()
            if status.state == "in" and status.members == self.names:
                return
            await asyncio.sleep(0.1)

    # --- judgement ---

    def _judge(self, seconds: float) -> Result:
        ledger, names = self.ledger, self.names
        findings = examine(self.directory / "traces")
        orders = {f"{name}'s disk": order_on_disk(self.directory / "data" / name) for name in names}
        keys = {where: order.messages for where, order in orders.items()}
        problems = [*self.problems, *ledger.problems(), *few(order_problems(ledger.asked, keys))]
        problems += [f"{where}: {problem}" for where, order in orders.items() for problem in order.problems]
        problems += [f"audit: {violation}" for verdict in findings.runs for violation in verdict.violations]
        problems += [f"audit: skipped {what}" for what in findings.skipped]
        problems += [problem for name in names for problem in log_problems(self.directory / f"{name}.log")]
        streams = ledger.streams.values()
        return Result(
            seed=self.seed,
            seconds=seconds,
            multicasts=len(ledger.asked),
            receipts=ledger.receipts,
            repeated=ledger.repeats,
            deliveries=sum(len(stream.delivered_s) for stream in streams),
            retracted=sum(stream.retracted for stream in streams),
            positions=max(order.end for order in orders.values()),
            records=sum(verdict.records for verdict in findings.runs),
            problems=problems,
        )
