"""Five daemons that go over from one ordering protocol to the next under load."""

from __future__ import annotations

import random
from pathlib import Path

from msgspec import Struct

from bench.trials.field import FIVE, Field, Result, tables
from bench.trials.recovery import longest_gap_s
from ordercast.client.site import Site

ORDERINGS = ("token-site", "rs-symmetric", "adaptive", "symmetric", "migrating-token")

STEADY_S = 3.0
"""After a change; the same time before the next one is what its pause is compared with."""


class Change(Struct, frozen=True):
    """One change of ordering."""

    ordering: str
    steady_gap_s: float
    """The longest time without a delivery at some site in the seconds before, ..."""
    pause_s: float
    """... and in those after the change was asked for."""


class OrderingResult(Struct):
    """What `trial ordering` tells."""

    trial: Result
    changes: list[Change]


class Changer:
    """Asks one site after the other for one change after the other."""

    def __init__(self, count: int) -> None:
        self.asked: list[tuple[float, str]] = []
        self._count = count

    async def run(self, field: Field) -> None:
        """All changes."""
        chance = random.Random(field.seed)
        await field.speak_until(field.now_s + 2 * STEADY_S)
        for number in range(self._count):
            ordering = ORDERINGS[number % len(ORDERINGS)]
            self.asked.append((field.now_s, ordering))

            async def change(site: Site, ordering: str = ordering) -> None:
                await site.change_ordering(ordering)

            await field.ask_surely(chance.choice(field.names), change)
            await field.speak_until(field.now_s + 2 * STEADY_S)

    def changes(self, field: Field) -> list[Change]:
        """What each of them has cost."""
        streams = field.ledger.streams.values()
        return [
            Change(
                ordering,
                max(longest_gap_s(stream, at_s - STEADY_S, at_s) for stream in streams),
                max(longest_gap_s(stream, at_s, at_s + STEADY_S) for stream in streams),
            )
            for at_s, ordering in self.asked
        ]


async def run_ordering(directory: Path, count: int, seed: int, fsync: str, rate: float) -> OrderingResult:
    """The whole trial."""
    field = Field(directory, FIVE, tables(fsync=fsync, two_lans=True), rate, seed)
    changer = Changer(count)
    result = await field.run(changer.run)
    return OrderingResult(result, changer.changes(field))
