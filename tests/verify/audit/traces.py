"""Traces of runs, in memory."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from msgspec.structs import replace

from ordercast.core.ids import SiteId
from ordercast.core.trace import TraceRecord
from ordercast.records.traces import COUNTING
from ordercast.simulator.chooser import Chooser
from ordercast.simulator.scenario import from_table
from ordercast.simulator.simulation import Simulation
from ordercast.simulator.trace import SimulationRecorder
from ordercast.verify.fuzz import aim, people
from ordercast.verify.fuzz.campaign import chooser_of
from ordercast.verify.fuzz.draw import Draw


class Kept:
    """A sink that keeps all records."""

    def __init__(self) -> None:
        self.records: list[TraceRecord] = []

    def write(self, record: TraceRecord) -> None:
        self.records.append(record)

    def write_bundle(self, first: TraceRecord, sizes: Sequence[int]) -> None:
        for number, size in enumerate(sizes):
            known = {name: value for name in COUNTING if (value := getattr(first, name)) is not None}
            counts = {name: value + number for name, value in known.items()}
            self.records.append(replace(first, size=size, **counts))


def trace_of(table: dict[str, Any]) -> list[TraceRecord]:
    """The trace of a scenario."""
    kept = Kept()
    Simulation(from_table(table), [SimulationRecorder("r", kept)]).run()
    return kept.records


def fuzz_trace(seed: int, chooser: Chooser | None = None) -> list[TraceRecord]:
    """The trace of what the fuzzer draws for a seed."""
    case = Draw(chooser or chooser_of(seed)).case()
    kept = Kept()
    simulation = Simulation(
        from_table(case.table),
        [SimulationRecorder("r", kept)],
        chooser=case.chooser(),
        retained_positions=case.retained_positions,
    )
    simulation.core = tuple(SiteId(site) for site in case.core)
    for each in case.waiting:
        aim.schedule(each, simulation)
    for person in case.people:
        people.schedule(person, simulation)
    simulation.run()
    return kept.records


def without(records: list[TraceRecord], *gone: TraceRecord) -> list[TraceRecord]:
    """The same trace, its lives counted anew, without some of its records."""
    return counted([record for record in records if not any(record is each for each in gone)])


def counted(records: Sequence[TraceRecord]) -> list[TraceRecord]:
    """The records, with `index` and `delivery_index` as if nothing had been changed."""
    indices: dict[tuple[int, int], int] = {}
    deliveries: dict[tuple[int, int], int] = {}
    result = []
    for record in records:
        life = (record.site, record.incarnation)
        index = indices[life] = indices.get(life, -1) + 1
        delivery_index = record.delivery_index
        if delivery_index is not None:
            delivery_index = deliveries[life] = deliveries.get(life, -1) + 1
        result.append(replace(record, index=index, delivery_index=delivery_index))
    return result


LAN = {"lan": [{"name": "only", "sites": ["A", "B", "C", "D"], "delay_ms": 5}]}
ALL = {"sites": ["A", "B", "C", "D"]}
TROUBLE = [
    {"kind": "crash", "at_s": 1, "sites": ["D"]},
    {"kind": "recover", "at_s": 1.8, "sites": ["D"]},
    {"kind": "partition", "at_s": 2.6, "sites": ["A"], "until_s": 3.2},
]
TABLES: dict[str, dict[str, Any]] = {
    "agreed": {
        **LAN,
        "protocol": {"name": "symmetric", "tickets": "flush"},
        "duration_s": 4,
        "traffic": [{**ALL, "rate": 10}, {"sites": ["B"], "rate": 200, "from_s": 0.5, "until_s": 1}],
        "fault": TROUBLE,
    },
    "mixed": {
        **LAN,
        "protocol": {"name": "token-site", "tickets": "flush"},
        "duration_s": 4,
        "traffic": [
            {**ALL, "rate": 5},
            {**ALL, "rate": 25, "level": "causal", "source": "poisson"},
            {"sites": ["B", "C"], "rate": 60, "level": "fifo", "source": "poisson"},
        ],
        "fault": TROUBLE,
    },
    "safe": {
        **LAN,
        "protocol": {"name": "hybrid", "tickets": "flush", "stack": "full", "resilience": 1},
        "duration_s": 3,
        "traffic": [{**ALL, "rate": 10, "level": "safe"}],
    },
}
"""Small groups in which every kind of record comes up."""


@cache
def trace_named(name: str) -> tuple[TraceRecord, ...]:
    """The trace of one of those."""
    return tuple(trace_of(TABLES[name]))
