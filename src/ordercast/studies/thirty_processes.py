"""Token site and symmetric ordering in isolation, thirty processes (short paper, Figure 1).

The paper shows the figure only as a picture, which the scan has lost; its text says that the token site follows
the line 2·D and the symmetric protocol the line D + t, where D is the delay and t the gap between the messages of
one process, so that the token site is better for D < t and the symmetric protocol for D > t.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from ordercast.studies.framework.claims import Claim, Outcome, outcome
from ordercast.studies.framework.figures import LIMIT_STYLE, REFERENCE_COLOUR, Axes, Picture, protocol_line
from ordercast.studies.framework.results import Results, Run, lowest
from ordercast.studies.framework.study import LAST_RECIPIENT, Size, Study
from ordercast.studies.framework.tables import Column, Row, Table

PROCESSES = [f"p{number:02}" for number in range(1, 31)]
RATE = 10
GAP_MS = 1000 / RATE
"""t of the paper."""

DELAYS_MS = (20, 40, 60, 80, 100, 150, 200, 300, 400)
QUICK_DELAYS_MS = (20, 60, 100, 200, 400)

TOKEN = {"protocol": "token-site", "estimates": "none"}
ONLINE = {"protocol": "rs-symmetric", "estimates": "online"}
KNOWN = {"protocol": "rs-symmetric", "estimates": "known"}
METHODS = (TOKEN, ONLINE, KNOWN)


def grid(size: Size) -> list[Run]:
    """All delays; when quick, five of them."""
    quick = size is Size.QUICK
    seeds, duration_s, warmup_s = ((1,), 12.0, 6.0) if quick else ((1, 2, 3), 20.0, 8.0)
    return [
        Run(
            {"delay_ms": delay_ms, "seed": seed, **method},
            {"seed": seed, "duration_s": duration_s, "warmup_s": warmup_s, **_scenario(delay_ms, **method)},
        )
        for delay_ms in (QUICK_DELAYS_MS if quick else DELAYS_MS)
        for method in METHODS
        for seed in seeds
    ]


def _scenario(delay_ms: int, protocol: str, estimates: str) -> dict[str, Any]:
    choice = {} if estimates == "none" else {"estimates": estimates}
    return {
        "protocol": {"name": protocol, **choice},
        "lan": [{"name": "lan", "sites": PROCESSES, "delay_ms": float(delay_ms), "variance": 0.05}],
        "traffic": [{"sites": PROCESSES, "rate": float(RATE)}],
    }


# --- tables ---


def tables(results: Results) -> list[Table]:
    """One row per delay, beside the lines of the paper."""
    columns = (
        Column("D"),
        Column("token-site", 1),
        Column("rs-symmetric (online)", 1),
        Column("rs-symmetric (known)", 1),
        Column("paper 2·D"),
        Column("paper D + t"),
        Column("limit", 1),
        Column("best / limit", 2),
    )
    rows: list[Row] = []
    for delay_ms in results.distinct("delay_ms"):
        latencies = [results.last_ms(delay_ms=delay_ms, **method) for method in METHODS]
        limit = results.limit_ms(delay_ms=delay_ms)
        best = lowest(latencies) / limit
        rows.append((delay_ms, *latencies, 2 * delay_ms, round(delay_ms + GAP_MS), limit, best))
    return [Table("Mean last-recipient latency in ms: 30 processes at 10 msg/s", columns, rows, compared=(1, 2, 3))]


# --- claims: they must hold for every delay and every seed ---


def token_site_takes_two_delays(results: Results) -> Outcome:
    """Within 10 % of 2·D."""
    ratios = [latency / (2 * delay_ms) for delay_ms, latency in _each(results, TOKEN)]
    holds = all(0.9 <= ratio <= 1.1 for ratio in ratios)
    return outcome(holds, f"between {min(ratios):.3f} and {max(ratios):.3f} × 2·D")


def symmetric_takes_a_delay_and_a_gap(results: Results) -> Outcome:
    """Between D + 0.9·t and D + 2.5·t."""
    waits = [(latency - delay_ms) / GAP_MS for delay_ms, latency in _each(results, ONLINE)]
    return outcome(
        all(0.9 <= wait <= 2.5 for wait in waits),
        f"between D + {min(waits):.2f}·t and D + {max(waits):.2f}·t",
        explained=all(0.3 <= wait <= 2.5 for wait in waits),
        because=(
            "it is faster here. With equal rates the tickets of all processes advance in common rounds of t. An equal "
            "ticket from every other process is enough to deliver, since ties go by process, where the paper waits for "
            "a higher one: a message waits for the rest of its round, t/2 on average once D exceeds t, and not for the "
            "next round"
        ),
    )


def each_has_its_range(results: Results) -> Outcome:
    """The token site wins at small delays, the symmetric protocol at large ones, and they cross once."""
    delays = results.distinct("delay_ms")
    gaps = [_mean_gap(results, delay_ms) for delay_ms in delays]
    crossings = _crossings(delays, gaps)
    holds = gaps[0] < 0 < gaps[-1] and len(crossings) == 1
    return outcome(holds, "they cross at D = " + (", ".join(f"{each:.0f} ms" for each in crossings) or "no delay"))


def _each(results: Results, method: dict[str, str]) -> list[tuple[int, float]]:
    """(delay, latency) of every delay and seed."""
    return [
        (delay_ms, results.last_ms(delay_ms=delay_ms, seed=seed, **method))
        for delay_ms in results.distinct("delay_ms")
        for seed in results.distinct("seed")
    ]


def _mean_gap(results: Results, delay_ms: int) -> float:
    """By how much the token site is slower."""
    return results.last_ms(delay_ms=delay_ms, **TOKEN) - results.last_ms(delay_ms=delay_ms, **ONLINE)


def _crossings(delays: list[int], gaps: list[float]) -> list[float]:
    """Where the gap changes its sign, by straight lines between the delays."""
    return [
        left + (right - left) * before / (before - after)
        for (left, before), (right, after) in pairwise(zip(delays, gaps, strict=True))
        if (before < 0) != (after < 0)
    ]


# --- picture ---


def draw(axes: list[Axes], results: Results) -> None:
    """Latency over delay, beside the lines of the paper, the crossing marked."""
    (panel,) = axes
    delays = results.distinct("delay_ms")
    for method, changes in (
        (TOKEN, {"label": "token-site"}),
        (ONLINE, {"label": "rs-symmetric, measured on line"}),
        (KNOWN, {"label": "rs-symmetric, known", "linestyle": ":", "marker": "."}),
    ):
        latencies = [results.last_ms(delay_ms=delay_ms, **method) for delay_ms in delays]
        panel.plot(delays, latencies, **protocol_line(method["protocol"], **changes))
    for name, style, line in (
        ("2·D", "-", [2 * delay_ms for delay_ms in delays]),
        ("D + t", "-.", [delay_ms + GAP_MS for delay_ms in delays]),
    ):
        panel.plot(delays, line, color=REFERENCE_COLOUR, linestyle=style, linewidth=1.2, label=f"paper's line {name}")
    limits = [results.limit_ms(delay_ms=delay_ms) for delay_ms in delays]
    panel.plot(delays, limits, label="limit of any protocol", **LIMIT_STYLE)
    for crossing in _crossings(delays, [_mean_gap(results, delay_ms) for delay_ms in delays]):
        panel.axvline(crossing, color=REFERENCE_COLOUR, linewidth=0.8)
        panel.annotate(
            f"cross at D = {crossing:.0f} ms", (crossing, 0), (4, 6), textcoords="offset points", color=REFERENCE_COLOUR
        )
    panel.set_xlabel("delay D between two processes (ms)")
    panel.set_ylabel("mean last-recipient latency (ms)")
    panel.set_ylim(bottom=0)
    panel.set_xlim(left=0)
    panel.legend()


STUDY = Study(
    name="thirty-processes",
    title="Token site against symmetric ordering, thirty processes",
    source="short paper, Figure 1",
    question=(
        "Thirty processes on one LAN with a delay of D between any two, each at 10 msg/s (a gap t of 100 ms). A token "
        "site needs a round trip, 2·D; symmetric ordering waits for everybody's next message, D + t. From which delay "
        "on is it better not to have a token site?"
    ),
    metric=LAST_RECIPIENT,
    grid=grid,
    tables=tables,
    claims=(
        Claim(
            "The token site's latency follows 2·D: within 10 % at every delay and seed.",
            "short paper, section 4.2",
            token_site_takes_two_delays,
            published="“follows the 2D line”, which is not readable",
        ),
        Claim(
            "Symmetric ordering's latency follows D + t: between D + 0.9·t and D + 2.5·t at every delay and seed "
            "(rates and delays measured on line).",
            "short paper, section 4.2",
            symmetric_takes_a_delay_and_a_gap,
            published="“follows the D + t line”, which is not readable",
        ),
        Claim(
            "The token site is better at small delays, symmetric ordering at large ones; they cross once.",
            "short paper, section 4.2",
            each_has_its_range,
            published="the lines 2·D and D + t cross at D = t = 100 ms",
        ),
    ),
    pictures=(
        Picture(
            "thirty-processes",
            "Mean last-recipient latency over the delay, thirty processes at 10 msg/s, beside the lines that the "
            "paper compares with.",
            draw,
            size_inches=(9.0, 6.0),
        ),
    ),
    notes=(
        "The paper's figure survives only as text; 2·D and D + t are the lines that the text compares with.",
        "The paper does not name the kind of source; quasi-periodic ones are used. With Poisson sources a message "
        "would wait for the longest of 29 exponential gaps, about four times t.",
        "The token site's own messages need only D, so the mean over all thirty is 59/60 of 2·D.",
    ),
)
