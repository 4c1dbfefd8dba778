"""Lets the faults of a trial happen to its daemons, and measures how long the group takes to recover from each."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from msgspec import Struct

from bench.trials.draw import Fault, Kind, cuts
from bench.trials.field import Field
from bench.trials.recovery import recovered_s
from ordercast import NotFit, WrongUse
from ordercast.client.site import Site

QUIET_S = 20.0
"""After so long without another fault it is known whether the group has recovered."""


class Moment(Struct):
    """A fault has begun, or has ended."""

    at_s: float
    fault: Fault
    begins: bool
    connected: tuple[str, ...]
    """The sites at which deliveries should flow from here on."""


class Recovery(Struct, frozen=True):
    """From one fault."""

    at_s: float
    kind: Kind
    sites: tuple[str, ...]
    begins: bool
    """From its beginning: how long until the others go on. Else from its end: how long until all do."""
    seconds: float | None
    """None if something else came first."""


class Chaos:
    """All faults of one trial."""

    def __init__(self, field: Field, faults: Sequence[Fault]) -> None:
        self.moments: list[Moment] = []
        self.failed_orders = 0
        """Changes of ordering without an answer, as when the site that is asked for it is killed or cut off."""
        self._field = field
        self._faults = faults
        self._lasting: list[Fault] = []
        self._asking: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """From the first to the last; afterwards nothing is wrong any more with any site."""
        steps = [(fault.begin_s, 0, fault, self._begin) for fault in self._faults]
        steps += [(fault.end_s, 1, fault, self._end) for fault in self._faults if fault.kind != "ordering"]
        for at_s, _, fault, act in sorted(steps, key=lambda step: step[:2]):
            await asyncio.sleep(max(0.0, at_s - self._field.now_s))
            self._field.participants.raise_problems()
            await act(fault)
        for name in self._field.names:
            await self._field.ask_surely(name, lambda site: site.heal())
        for task in self._asking:
            task.cancel()
        await asyncio.gather(*self._asking, return_exceptions=True)

    def recoveries(self, end_s: float) -> list[Recovery]:
        """From all that has happened, up to that time."""
        streams = self._field.ledger.streams
        found = []
        for moment, after in zip(self.moments, [*(each.at_s for each in self.moments[1:]), end_s], strict=True):
            connected = [streams[name] for name in moment.connected]
            if connected and not (moment.begins and moment.fault.kind == "pause"):  # which ends before anybody sees it
                until_s = min(after, moment.at_s + QUIET_S)
                seconds = recovered_s(connected, moment.at_s, until_s)
                fault = moment.fault
                found.append(Recovery(moment.at_s, fault.kind, fault.sites, moment.begins, seconds))
        return found

    # --- one fault ---

    async def _begin(self, fault: Fault) -> None:
        if fault.kind != "ordering":
            self._lasting.append(fault)
        self._note(fault, True)
        match fault.kind:
            case "kill" | "kill of all":
                await self._all(fault.sites, lambda name: self._field.end_site(name, signal.SIGKILL))
            case "restart":
                await self._all(fault.sites, lambda name: self._field.end_site(name, signal.SIGTERM))
            case "pause" | "long pause":
                for name in fault.sites:
                    self._field.daemons.send_signal(name, signal.SIGSTOP)
            case "ordering":
                task = asyncio.create_task(self._change_ordering(fault))
                self._asking.add(task)
                task.add_done_callback(self._asking.discard)
            case _:
                await self._all(self._field.names, self._put_right)

    async def _end(self, fault: Fault) -> None:
        self._lasting.remove(fault)
        match fault.kind:
            case "kill" | "kill of all" | "restart":
                self._field.daemons.up(*fault.sites)
                self._note(fault, False)
                if any(cuts(each.kind) for each in self._lasting):
                    await self._all(fault.sites, self._put_right)
            case "pause" | "long pause":
                for name in fault.sites:
                    self._field.daemons.send_signal(name, signal.SIGCONT)
                self._note(fault, False)
                await self._all(fault.sites, self._put_right)
            case _:
                self._note(fault, False)
                await self._all(self._field.names, self._put_right)

    def _note(self, fault: Fault, begins: bool) -> None:
        hit = {site for each in self._lasting for site in each.sites}
        connected = tuple(name for name in self._field.names if name not in hit)
        self.moments.append(Moment(self._field.now_s, fault, begins, connected))

    async def _all(self, names: Sequence[str], act: Callable[[str], Awaitable[None]]) -> None:
        await asyncio.gather(*(act(name) for name in names))

    async def _put_right(self, name: str) -> None:
        """Let the site cut the ways that are to be cut, and no others."""
        if any(name in each.sites and not cuts(each.kind) for each in self._lasting):
            return  # it is not there to be asked
        targets = tuple(other for other in self._field.names if other != name and self._is_cut(name, other))
        if targets:
            await self._ask(name, lambda site: site.cut(*targets))
        else:
            await self._ask(name, lambda site: site.heal())

    async def _ask(self, name: str, question: Callable[[Site], Awaitable[Any]]) -> None:
        await self._field.ask_surely(name, question)

    def _is_cut(self, one: str, other: str) -> bool:
        """Whether what one sends shall not get to the other."""
        for fault in self._lasting:
            inside = one in fault.sites, other in fault.sites
            if fault.kind in ("partition", "one-way out") and inside == (True, False):
                return True
            if fault.kind in ("partition", "one-way in") and inside == (False, True):
                return True
        return False

    async def _change_ordering(self, fault: Fault) -> None:
        assert fault.ordering is not None
        ordering = fault.ordering
        try:
            await self._field.ask(fault.sites[0], lambda site: site.change_ordering(ordering))
        except (NotFit, WrongUse, TimeoutError):
            self.failed_orders += 1
