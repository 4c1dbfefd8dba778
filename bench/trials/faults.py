"""Five daemons under faults drawn at random."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec import Struct

from bench.trials.chaos import Chaos, Recovery
from bench.trials.draw import KINDS, Fault, draw_faults
from bench.trials.field import FIVE, Field, Result, tables
from bench.trials.recovery import Times, times_of


class KindRow(Struct, frozen=True):
    """One kind of fault."""

    kind: str
    count: int
    others: Times | None
    """From its beginning until the sites that are not hit go on."""
    all: Times | None
    """From its end until all go on."""


class FaultsResult(Struct):
    """What `trial faults` tells."""

    trial: Result
    faults: int
    kinds: list[KindRow]
    unanswered_changes: int
    """Changes of ordering that the asked site has not answered."""


async def run_faults(directory: Path, duration_s: float, seed: int, fsync: str, rate: float) -> FaultsResult:
    """The whole trial; what happened is in `faults.json` in the directory."""
    faults = draw_faults(seed, tuple(FIVE), duration_s)
    field = Field(directory, FIVE, tables(fsync=fsync, two_lans=True), rate, seed)
    chaos = Chaos(field, faults)
    ended_s = 0.0

    async def play(field: Field) -> None:
        nonlocal ended_s
        await chaos.run()
        await field.speak_until(duration_s)
        ended_s = field.now_s

    result = await field.run(play)
    recoveries = chaos.recoveries(ended_s)
    (directory / "faults.json").write_bytes(msgspec.json.format(msgspec.json.encode(recoveries)))
    return FaultsResult(result, len(faults), _rows(faults, recoveries), chaos.failed_orders)


def _rows(faults: tuple[Fault, ...], recoveries: list[Recovery]) -> list[KindRow]:
    rows = []
    for kind in KINDS:
        count = sum(fault.kind == kind for fault in faults)
        mine = [each for each in recoveries if each.kind == kind]
        begins, ends = ([each.seconds for each in mine if each.begins is begins] for begins in (True, False))
        rows.append(KindRow(kind, count, times_of(begins) if begins else None, times_of(ends) if ends else None))
    return rows
