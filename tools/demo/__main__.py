"""`python -m tools.demo`: runs the demonstration, in about two minutes. Exit code 1 if anything was not as promised."""

from __future__ import annotations

import asyncio
import shutil
import signal
import sys
import time
from datetime import datetime
from pathlib import Path

from ordercast.cli.audit import SPARK, Findings, examine
from tools.daemons import Daemons
from tools.demo import report
from tools.demo.measures import Measures, Outcome
from tools.demo.participants import Participants
from tools.demo.plan import BACK_S, KILLED_S, LOAD_S, OUT, PHASES, SITES, TABLES, VICTIM, delay_ms
from tools.demo.screen import Screen

START_S = 60.0
SETTLE_S = 30.0


def limits() -> list[float]:
    """For each phase the least mean of the latency that any ordering can guarantee, in ms."""
    from ordercast.planning.limits import latency_limit

    delays = tuple(tuple(delay_ms(one, other) for other in SITES) for one in SITES)
    found = [latency_limit(delays, [phase.rates[name] for name in SITES]).last for phase in PHASES]
    return [limit for limit in found if limit is not None]


async def run_load(group: Daemons, participants: Participants, screen: Screen) -> int:
    """The load with its crash, from beginning to end; returns how many receipts are missing."""
    tasks = [asyncio.create_task(participants.take_part(name)) for name in SITES]
    async with asyncio.timeout(START_S):
        for name in SITES:
            await participants.ready[name].wait()
        while min(participants.members.values()) < len(SITES):
            await asyncio.sleep(0.05)
    participants.begin()
    killed = back = False
    with screen:
        while participants.now_s < LOAD_S:
            if not killed and participants.now_s >= KILLED_S:
                killed = True
                group.end(VICTIM, signal.SIGKILL)
            if not back and participants.now_s >= BACK_S:
                back = True
                group.up(VICTIM)
            screen.show(participants.now_s)
            await asyncio.sleep(0.25)
    missing = await participants.settle(SETTLE_S)
    await asyncio.sleep(1.0)
    for task in tasks:
        task.cancel()
    ended = await asyncio.gather(*tasks, return_exceptions=True)
    for problem in ended:
        if isinstance(problem, Exception):
            raise problem
    return missing


async def demonstrate(directory: Path) -> bool:
    """The whole story; whether all was as promised."""
    measures = Measures()
    group = Daemons(directory, SITES, TABLES)
    participants = Participants(group, measures)
    states = dict.fromkeys(SITES, "up")

    def current() -> dict[str, str]:
        down = KILLED_S <= participants.now_s < BACK_S
        return states | ({VICTIM: "KILLED"} if down else {})

    screen = Screen(measures, current)
    screen.say(
        f"Five sites, {', '.join(SITES)}: two LANs, {delay_ms('lis1', 'bos1'):.0f} ms apart, with TLS and a log each."
    )
    began_wall_s = 0.0
    try:
        group.up()
        await _await_sockets(group)
        screen.say(f"All are up. {LOAD_S:.0f} s of load follow.")
        missing = await run_load(group, participants, screen)
        began_wall_s = time.time() - participants.now_s
        bad_ends = group.end_all()
    finally:
        group.close()
    screen.say("The load is over. Spark audits what the sites have recorded ...")
    findings = examine(directory / "traces", SPARK)
    outcomes = measures.by_phase((KILLED_S, BACK_S), VICTIM, limits())
    checks = judge(measures, findings, missing, bad_ends)
    picture = report.draw(measures, outcomes, _roles(group, began_wall_s), directory)
    page = report.write_page(directory, picture, outcomes, checks)
    _tell(screen, outcomes, checks)
    screen.say(f"Report: {page}")
    return all(good for good, _ in checks.values())


async def _await_sockets(group: Daemons) -> None:
    async with asyncio.timeout(START_S):
        while not all(group.socket(name).exists() for name in SITES):
            await asyncio.sleep(0.05)


def judge(measures: Measures, findings: Findings, missing: int, bad_ends: list[str]) -> dict[str, tuple[bool, str]]:
    """What was promised, and whether it was kept."""
    disagreements = measures.disagreements()
    lost = measures.lost()
    violations = sum(len(verdict.violations) for verdict in findings.runs)
    records = sum(verdict.records for verdict in findings.runs)
    order = f"{disagreements} positions at which two participants have different messages"
    delivered = f"{missing} receipts missing, {lost} messages not delivered everywhere"
    repeated = f"{measures.unknown} multicasts repeated after the crash, {measures.doubled()} delivered twice"
    return {
        "one order": (not disagreements, order),
        "nothing lost": (not missing and not lost, delivered),
        "nothing doubled": (not measures.doubled(), repeated),
        "audit": (findings.good, f"{violations} violations in {records:,} records of five sites, judged on Spark"),
        "good ends": (not bad_ends, ", ".join(bad_ends) or "all sites left in good order"),
    }


def _roles(group: Daemons, began_wall_s: float) -> list[tuple[float, str, str]]:
    """When which site changed its role."""
    found = []
    for name in SITES:
        for line in group.journal(name):
            if line["event"] == "role" and str(line["detail"]).startswith("to "):
                at_s = datetime.fromisoformat(line["at"].replace("Z", "+00:00")).timestamp()
                found.append((at_s - began_wall_s, name, str(line["detail"]).split(":")[0]))
    return found


def _tell(screen: Screen, outcomes: list[Outcome], checks: dict[str, tuple[bool, str]]) -> None:
    screen.say("\nDelivered everywhere after, ms (the limit is the least mean that any ordering can guarantee):")
    for phase, outcome in zip(PHASES, outcomes, strict=True):
        screen.say(
            f"  {phase.title:46} p50 {outcome.p50_ms:5.0f}  mean {outcome.mean_ms:5.0f}  p99 {outcome.p99_ms:5.0f}"
            f"  limit {outcome.limit_ms:4.0f}  mean / limit {outcome.mean_ms / outcome.limit_ms:.2f}"
        )
    screen.say("")
    for name, (good, detail) in checks.items():
        screen.say(f"  {'good' if good else 'BAD '}  {name}: {detail}")


def main() -> int:
    """Run it in a directory of its own."""
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    return 0 if asyncio.run(demonstrate(OUT)) else 1


if __name__ == "__main__":
    sys.exit(main())
