"""The job: from a table of trace records to what is said of each run."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ordercast.pipeline.audit.columns import prepared
from ordercast.pipeline.telemetry import latencies
from ordercast.pipeline.telemetry.latencies import LAST, quantile
from ordercast.planning import predict
from ordercast.planning.limits import latency_limit
from ordercast.planning.predict import Source
from ordercast.planning.roles import assign_roles

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Row = dict[str, Any]


class Latency(Struct, frozen=True):
    """Of the messages of one site and level, until one stage; of the whole run, or of one of its minutes."""

    site: int
    level: str
    stage: str
    minute: int | None
    messages: int
    mean_ms: float
    p50_ms: float
    p99_ms: float
    max_ms: float


class Rate(Struct, frozen=True):
    """What a site has multicast."""

    site: int
    messages: int
    per_second: float
    undelivered: int
    """That no site has delivered, as far as the trace goes."""


class Way(Struct, frozen=True):
    """From one site to another."""

    origin: int
    site: int
    least_ms: float
    """The least time from a multicast to its delivery there: an upper bound of the delay, as the clocks see it."""
    clock_ms: float | None
    """By so much the clock there seems to be ahead, if the ways there and back take equally long."""


class Planned(Struct, frozen=True):
    """What the planner would have chosen for these rates and ways, and what it expects."""

    active: list[int]
    predicted_ms: float | None
    """Until the last member delivers, weighted by traffic."""
    limit_ms: float | None
    observed_ms: float | None
    """The mean of what was observed, of agreed and safe messages."""


class Telemetry(Struct, frozen=True):
    """What is said of one run."""

    run: str
    latencies: list[Latency]
    rates: list[Rate]
    ways: list[Way]
    error_ms: float
    """How far latencies between sites may be wrong, if the clocks are: half of the longest way there and back."""
    planned: Planned | None


def telemetry(records: DataFrame) -> list[Telemetry]:
    """Of all runs, by name."""
    rows = prepared(records, 0)
    sent, told = latencies.sent(rows).persist(), latencies.told(rows)
    try:
        stages = latencies.stages(sent, told, latencies.final_at(rows))
        found = {
            "buckets": _by_run(latencies.histogram(stages)),
            "ways": _by_run(latencies.ways(sent, told)),
            "rates": _by_run(latencies.rates(sent, told)),
        }
    finally:
        sent.unpersist()
    return [_of_run(run, *(each.get(run, []) for each in found.values())) for run in sorted(found["rates"])]


def _by_run(table: DataFrame) -> dict[str, list[Row]]:
    runs: dict[str, list[Row]] = {}
    for row in table.toArrow().to_pylist():
        runs.setdefault(row["run"], []).append(row)
    return runs


def _of_run(run: str, buckets: list[Row], ways: list[Row], rates: list[Row]) -> Telemetry:
    told = _latencies(buckets)
    there = {(row["origin"], row["site"]): row["least_us"] / 1e3 for row in ways}
    sent = [_rate(row) for row in sorted(rates, key=lambda row: row["origin"])]
    return Telemetry(
        run=run,
        latencies=told,
        rates=sent,
        ways=[_way(origin, site, there) for origin, site in sorted(there)],
        error_ms=max((there[pair] + there[pair[::-1]] for pair in there if pair[::-1] in there), default=0.0) / 2,
        planned=_planned(sent, there, told),
    )


def _rate(row: Row) -> Rate:
    seconds = (row["last_us"] - row["first_us"]) / 1e6
    per_second = (row["messages"] - 1) / seconds if seconds else 0.0
    return Rate(row["origin"], row["messages"], per_second, row["undelivered"])


def _way(origin: int, site: int, there: dict[tuple[int, int], float]) -> Way:
    back = there.get((site, origin))
    return Way(origin, site, there[origin, site], None if back is None else (there[origin, site] - back) / 2)


# --- latencies ---


def _latencies(buckets: list[Row]) -> list[Latency]:
    """Of whole runs first, then minute by minute."""
    groups: dict[tuple[bool, int, int, str, str], list[Row]] = {}
    for row in buckets:
        kind = (row["origin"], row["level"], row["stage"])
        groups.setdefault((False, 0, *kind), []).append(row)
        groups.setdefault((True, row["minute"], *kind), []).append(row)
    return [
        _latency(site, level, stage, minute if is_minute else None, groups[is_minute, minute, site, level, stage])
        for is_minute, minute, site, level, stage in sorted(groups)
    ]


def _latency(site: int, level: str, stage: str, minute: int | None, rows: Iterable[Row]) -> Latency:
    counts: dict[int, int] = {}
    rows = list(rows)
    for row in rows:
        counts[row["bucket"]] = counts.get(row["bucket"], 0) + row["messages"]
    messages = sum(counts.values())
    return Latency(
        site=site,
        level=level,
        stage=stage,
        minute=minute,
        messages=messages,
        mean_ms=sum(row["sum_us"] for row in rows) / messages / 1e3,
        p50_ms=quantile(counts, 0.5) / 1e3,
        p99_ms=quantile(counts, 0.99) / 1e3,
        max_ms=max(row["max_us"] for row in rows) / 1e3,
    )


# --- the planner ---


def _planned(rates: list[Rate], there: dict[tuple[int, int], float], told: list[Latency]) -> Planned | None:
    """None where there is no way known from each site that multicasts to each other one, and back."""
    sites = sorted({site for pair in there for site in pair})
    delays = tuple(tuple(_delay(one, other, there) for other in sites) for one in sites)
    if len(sites) < 2 or any(math.isinf(each) for row in delays for each in row):
        return None
    speeds = {rate.site: rate.per_second for rate in rates}
    gaps = [1e3 / speeds[site] if speeds.get(site) else None for site in sites]
    roles = assign_roles(gaps, delays)
    load = [() if gap is None else (Source(gap, memoryless=True),) for gap in gaps]
    expected = predict.weighted_mean(predict.tickets(roles, load, delays, flush=True), load)
    return Planned(
        active=[sites[site] for site in sorted({*roles.values()})],
        predicted_ms=expected if math.isfinite(expected) else None,
        limit_ms=latency_limit(delays, [speeds.get(site, 0.0) for site in sites]).last,
        observed_ms=_observed([each for each in told if each.minute is None and each.level in ("agreed", "safe")]),
    )


def _delay(one: int, other: int, there: dict[tuple[int, int], float]) -> float:
    """The mean of both directions: that is right even if the clocks are not."""
    if one == other:
        return 0.0
    known = [there[pair] for pair in ((one, other), (other, one)) if pair in there]
    return max(sum(known) / len(known), 0.0) if known else math.inf


def _observed(told: list[Latency]) -> float | None:
    last = [(each.messages, each.mean_ms) for each in told if each.stage == LAST]
    total = sum(messages for messages, _ in last)
    return sum(messages * mean_ms for messages, mean_ms in last) / total if total else None
