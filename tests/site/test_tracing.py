"""Live sites leave traces that an audit finds good: whole ones, and those begun in the midst of a life."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

from ordercast.cli.audit import Findings, examine
from ordercast.client.testing import LocalGroup
from ordercast.core.messages import Level
from ordercast.core.trace import Kind, TraceRecord
from ordercast.records.runs import find_traces, records_of
from tests.client.running import run

LEVELS = (Level.AGREED, Level.CAUSAL, Level.FIFO, Level.SAFE)


async def talk(group: LocalGroup, *sites: int, count: int = 12) -> None:
    """A participant of each site multicasts at every level, and waits until all has come up."""

    async def one(site: int) -> None:
        async with group.site(site, name=f"speaker {site}") as here, here.join("talk") as talk:
            for number in range(count):
                await talk.multicast(b"%d" % number, level=LEVELS[number % len(LEVELS)])

    await asyncio.gather(*map(one, sites))


def traced(directory: Path) -> tuple[Findings, list[TraceRecord]]:
    """The audit's findings, and all records."""
    traces = find_traces(directory)
    assert traces.runs == ["local"]
    return examine(directory), list(records_of("local", traces.of("local")))


def test_a_trace_of_live_sites_is_whole_and_good(tmp_path: Path) -> None:
    async def test() -> None:
        async with LocalGroup(3, ordering="symmetric", traced=True) as group:
            await talk(group, 0, 1, 2)
            await group.crash(2)
            await talk(group, 0, 1)
            await group.restart(2)
            await talk(group, 0, 2)
            for site in range(3):
                await group.crash(site)
            shutil.copytree(group.traces, tmp_path / "kept")

    run(test)
    findings, records = traced(tmp_path / "kept")
    assert [verdict.violations for verdict in findings.runs] == [[]]
    assert findings.good
    assert {(each.site, each.incarnation) for each in records} == {(0, 0), (1, 0), (2, 0), (2, 1)}
    assert {each.level for each in records if each.kind is Kind.DELIVER} == {"fifo", "causal", "agreed", "safe"}
    assert {each.group for each in records if each.kind is Kind.MULTICAST} == {"talk"}
    assert findings.runs[0].views >= 3


def test_a_trace_may_begin_and_pause_in_the_midst_of_a_life(tmp_path: Path) -> None:
    async def test() -> None:
        async with LocalGroup(3, ordering="token-site") as group:
            hosted = [group.hosted(site) for site in range(3)]
            await talk(group, 0, 1, 2)
            for _ in range(2):
                for site in hosted:
                    site.set_tracing(True)
                await talk(group, 0, 1, 2)
                for site in hosted:
                    site.set_tracing(False)
                await talk(group, 0, 1)
            shutil.copytree(group.traces, tmp_path / "kept")

    run(test)
    findings, records = traced(tmp_path / "kept")
    assert [verdict.violations for verdict in findings.runs] == [[]]
    assert any("have not recorded all of their lives" in what for what in findings.runs[0].remarks)
    assert len([each for each in records if each.kind is Kind.RECOVER and each.position is None]) == 6
    assert len([each for each in records if each.kind is Kind.DELIVER]) > 100
