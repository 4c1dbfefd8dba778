"""What `bench live` prints for people."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from bench.live.bounds import Bound
from bench.live.measuring import Measurement
from bench.peers.loads import Load, Order

TABLE_WIDTH = 160

BASELINE = "crypto off"
"""Ratios are to the peer of this name's end."""

OWN = "own systems keep an ordered log in SQLite at every site; deliveries are tentative, as Corosync's agreed ones are"

PRIORITY = "Corosync's daemons run at the highest real-time priority (its own choice); own ones only where it says so"

DISTURBED = "† "
"""Before what was measured while the view changed."""


def print_tables(measurements: Sequence[Measurement], limits: Sequence[Bound] = ()) -> None:
    """Throughput and latency for each number of sites, and how near they come to what the machine can do."""
    console = Console(highlight=False, width=TABLE_WIDTH)
    for members in dict.fromkeys(each.load.members for each in measurements):
        of_members = [each for each in measurements if each.load.members == members]
        for paced in (False, True):
            rows = [each for each in of_members if bool(each.load.rate) == paced]
            if rows:
                console.print(_table(rows, members, paced=paced))
    if any(each.outcome is not None and each.outcome.view_changes for each in measurements):
        console.print(f"{DISTURBED}the view changed meanwhile, as when a process is not let run for too long")
    for limit in limits:
        console.print(f"{limit}; {_shares(measurements, limit)}", soft_wrap=True)
    loads = [each.load_average for each in measurements]
    console.print(f"load average of the machine during this: {min(loads):.1f} to {max(loads):.1f}")
    console.print(OWN)
    console.print(PRIORITY)
    console.print("targets beside Corosync: messages per second ≥ 1 × at 64 B and 1 KiB, ≥ 4 × at 16 KiB; p50 ≤ 3 ×")


def _shares(measurements: Sequence[Measurement], limit: Bound) -> str:
    """What part of the bound our own systems reach."""
    load = (limit.members, limit.size_bytes, 0.0)
    return "; ".join(
        f"{each.system}: {each.outcome.slowest_per_s / limit.per_s:.0%} of the lower"
        for each in measurements
        if each.is_own and each.outcome is not None
        if (each.load.members, each.load.size_bytes, each.load.rate) == load
    )


def _table(rows: Sequence[Measurement], members: int, *, paced: bool) -> Table:
    title = f"{members} sites, delivered per second at the slowest member (× Corosync)"
    if paced:
        title = f"{members} sites, paced: ms until own / last delivery, p50 (× Corosync) and p99"
    loads = list(dict.fromkeys(each.load for each in rows))
    table = Table("", title=title, title_justify="left", box=SIMPLE_HEAD)
    for load in loads:
        table.add_column(_heading(load), justify="right")
    for system in dict.fromkeys(each.system for each in rows):
        cells = [_cell(rows, system, load) for load in loads]
        table.add_row(system, *cells)
    return table


def _heading(load: Load) -> str:
    size = f"{load.size_bytes // 1024} KiB" if load.size_bytes >= 1024 else f"{load.size_bytes} B"
    return f"{size} at {load.rate:g}/s" if load.rate else size


def _cell(rows: Sequence[Measurement], system: str, load: Load) -> str:
    found = next(each for each in rows if (each.system, each.load) == (system, load))
    baseline = next((each for each in rows if each.system.endswith(BASELINE) and each.load == load), None)
    if found.outcome is None:
        return "failed"
    if found.outcome.order is not Order.SAME:
        return f"order {found.outcome.order}"
    beside = baseline.outcome if baseline is not None and baseline is not found else None
    latency, mark = found.outcome.latency_ms, DISTURBED if found.outcome.view_changes else ""
    if latency is None:
        per_s = found.outcome.slowest_per_s
        return f"{mark}{per_s:,.0f}{_ratio(per_s, beside and beside.slowest_per_s)}"
    other = None if beside is None else beside.latency_ms
    own = f"{latency.own_p50:.2f}{_ratio(latency.own_p50, other and other.own_p50)}"
    last = f"{latency.last_p50:.2f}{_ratio(latency.last_p50, other and other.last_p50)}"
    return f"{mark}{own} / {last}, p99 {latency.own_p99:.1f} / {latency.last_p99:.1f}"


def _ratio(value: float, beside: float | None) -> str:
    return f" ({value / beside:.2f}×)" if beside else ""
