"""A crash of a site that orders for others, under the dynamic hybrid protocol with 100 messages per second and site.

What participants have a receipt for must be delivered by every survivor, and nothing twice; and the time in which
nothing is delivered is told beside the time that it takes to suspect the site.
"""

from __future__ import annotations

from textwrap import fill
from typing import Any

from ordercast.studies.framework.claims import Claim, Outcome, outcome
from ordercast.studies.framework.figures import Axes, Picture
from ordercast.studies.framework.receipts import Receipts
from ordercast.studies.framework.results import Label, Results, Run, worst
from ordercast.studies.framework.study import Size, Study
from ordercast.studies.framework.tables import Column, Row, Table

WEST, EAST = ("A", "B", "C"), ("D", "E", "F")
SITES = (*WEST, *EAST)
RATE = 100.0
LAN_MS = 2.0
"""So short that one site of a LAN orders for all of it: at 20 ms every site would be active."""

WANS_MS = (50.0, 250.0)
HEARTBEAT_MS = 100.0

ACTIVE = ["A", "D"]
"""When the group starts; their neighbours' gaps are longer than the way to them, so it stays so."""

CASES = {
    "A": "the western sequencer, who also coordinates views",
    "D": "the eastern sequencer",
    "B": "a passive site",
    "A, D": "both sequencers: the highest id takes over",
}
"""Who crashes."""


def grid(size: Size) -> list[Run]:
    """Each crash on either network; quick is shorter, with one seed."""
    seeds, crash_s, duration_s = ((1,), 6.0, 14.0) if size is Size.QUICK else ((1, 2, 3), 10.0, 24.0)
    return [
        Run(
            {"protocol": "dynamic-hybrid", "wan_ms": wan_ms, "crashed": crashed, "seed": seed},
            {
                "seed": seed,
                "duration_s": duration_s,
                "warmup_s": crash_s - 1,
                **_scenario(wan_ms),
                "fault": [{"kind": "crash", "at_s": crash_s + seed / 100, "sites": crashed.split(", ")}],
            },
        )
        for wan_ms in WANS_MS
        for crashed in CASES
        for seed in seeds
    ]


def _scenario(wan_ms: float) -> dict[str, Any]:
    options = {"active": ACTIVE}
    return {
        "protocol": {"name": "dynamic-hybrid", "stack": "full", "tickets": "flush", "options": options},
        "lan": [
            {"name": "west", "sites": list(WEST), "delay_ms": LAN_MS, "variance": 0.01},
            {"name": "east", "sites": list(EAST), "delay_ms": LAN_MS, "variance": 0.01},
        ],
        "wan": [{"between": ["west", "east"], "delay_ms": wan_ms, "variance": 0.4}],
        "traffic": [{"sites": list(SITES), "rate": RATE}],
    }


# --- tables ---


def tables(results: Results) -> list[Table]:
    """One row per crash."""
    columns = (
        Column("slow link"),
        Column("crashed"),
        Column("who that is"),
        Column("receipts"),
        Column("lost"),
        Column("doubled"),
        Column("suspicion", 0),
        Column("new view", 0),
        Column("without deliveries", 0),
        Column("beyond the suspicion, in round trips", 2),
    )
    rows: list[Row] = []
    for case in _cases():
        counts = [_total(results.where(**case), name) for name in ("receipts", "lost", "doubled")]
        times = [results.figure(name, **case) for name in ("suspicion_ms", "view_ms", "silence_ms")]
        beyond = _beyond_ms(results, case) / _round_trip_ms(case)
        crashed = str(case["crashed"])
        rows.append((f"{case['wan_ms']:.0f} ms", crashed, CASES[crashed], *counts, *times, beyond))
    return [Table("A crash at 100 msg/s and site; times in ms", columns, rows, section_by=0)]


def _cases() -> list[dict[str, Label]]:
    return [{"wan_ms": wan_ms, "crashed": crashed} for wan_ms in WANS_MS for crashed in CASES]


def _total(results: Results, name: str) -> float:
    """Over all runs."""
    return results.figure(name) * len(results.entries)


def _round_trip_ms(case: dict[str, Label]) -> float:
    return 2 * (float(case["wan_ms"]) + 2 * LAN_MS)


def _beyond_ms(results: Results, case: dict[str, Label]) -> float:
    """How much longer than the suspicion time nothing was delivered."""
    return results.figure("silence_ms", **case) - results.figure("suspicion_ms", **case)


# --- claims ---


def nothing_with_a_receipt_is_lost(results: Results) -> Outcome:
    """Of any site, those that crashed included."""
    lost, receipts = _total(results, "lost"), _total(results, "receipts")
    return outcome(lost == 0 and receipts > 0, f"{lost:.0f} of {receipts:,.0f} receipts")


def nothing_is_doubled(results: Results) -> Outcome:
    """At any survivor."""
    doubled = _total(results, "doubled")
    return outcome(doubled == 0, f"{doubled:.0f} messages")


def silence_is_two_round_trips_more(results: Results) -> Outcome:
    """Suspicion, a heartbeat, and the two ballots of the new view."""
    found = [((_beyond_ms(results, case) - HEARTBEAT_MS) / _round_trip_ms(case), _name(case)) for case in _cases()]
    most, where = worst(found)
    return outcome(most <= 2, f"suspicion, a heartbeat and {most:.2f} round trips at most ({where})")


def taking_over_costs_little(results: Results) -> Outcome:
    """Beside the crash of one of the two."""
    excesses = []
    for wan_ms in WANS_MS:
        one, both = (results.figure("silence_ms", wan_ms=wan_ms, crashed=crashed) for crashed in ("A", "A, D"))
        excesses.append(((both - one) / _round_trip_ms({"wan_ms": wan_ms}), f"{wan_ms:.0f} ms"))
    most, where = worst(excesses)
    return outcome(most <= 1, f"at most {most:.2f} round trips more ({where})")


def _name(case: dict[str, Label]) -> str:
    return f"{case['wan_ms']:.0f} ms, {case['crashed']} crashed"


# --- picture ---

COLOURS = {50.0: "#56B4E9", 250.0: "#0072B2"}
BAR_WIDTH = 0.38
LABEL_WIDTH = 26


def draw(axes: list[Axes], results: Results) -> None:
    """Time without deliveries for each crash, on either network, and a mark at the suspicion time."""
    (panel,) = axes
    for offset, wan_ms in enumerate(WANS_MS):
        places = [place + (offset - 0.5) * BAR_WIDTH for place in range(len(CASES))]
        silences = [results.figure("silence_ms", wan_ms=wan_ms, crashed=crashed) for crashed in CASES]
        suspicions = [results.figure("suspicion_ms", wan_ms=wan_ms, crashed=crashed) for crashed in CASES]
        panel.bar(places, silences, BAR_WIDTH * 0.92, color=COLOURS[wan_ms], label=f"slow link of {wan_ms:.0f} ms")
        label = "suspicion time" if offset == 0 else None
        panel.plot(places, suspicions, "_", color="#000000", markersize=30, markeredgewidth=2, label=label)
        height = 2 * _round_trip_ms({"wan_ms": wan_ms})
        label = f"two round trips of {wan_ms:.0f} ms each way"
        panel.axhline(height, color=COLOURS[wan_ms], linewidth=1.4, linestyle=":", label=label)
    words = [f"{crashed} crashed\n{fill(who, LABEL_WIDTH)}" for crashed, who in CASES.items()]
    panel.set_xticks(range(len(CASES)), words)
    panel.grid(visible=False, axis="x")
    panel.set_ylabel("longest time without a delivery at a survivor (ms)")
    panel.figure.legend(loc="outside upper center", ncols=3)


STUDY = Study(
    name="sequencer-crash",
    title="A crash of a sequencer under the dynamic hybrid protocol",
    source="our own; hybrid report, section 6.3, tells what must happen",
    question=(
        "Six sites on two LANs send 100 messages per second each, and on each LAN one of them orders for all. It "
        "crashes, or both do. Is anything lost that its sender has a receipt for, is anything delivered twice, and "
        "how long is nothing delivered?"
    ),
    metric="Lost receipts, doubled deliveries, and the longest time without a delivery at any survivor.",
    grid=grid,
    tables=tables,
    claims=(
        Claim(
            "No message is lost whose sender knew that it was final, be the sender up or not.",
            "DESIGN: tentative and final",
            nothing_with_a_receipt_is_lost,
        ),
        Claim("No survivor delivers a message twice.", "DESIGN: guarantees", nothing_is_doubled),
        Claim(
            "Nothing is delivered for at most the suspicion time, a heartbeat and two round trips of the slow link.",
            "expected by us, as in the study crash",
            silence_is_two_round_trips_more,
        ),
        Claim(
            "Where no active site is left the silence is at most a round trip longer than where one of two is lost.",
            "expected by us",
            taking_over_costs_little,
        ),
    ),
    pictures=(
        Picture(
            "sequencer-crash",
            "Longest time without a delivery at any survivor of a crash at 100 messages per second and site. The round "
            "trips are drawn from zero.",
            draw,
            size_inches=(11.0, 6.0),
        ),
    ),
    measure=Receipts,
    notes=(
        "A receipt is final: a majority of the view has ordered the message at its position. Messages are agreed ones; "
        "they may have been delivered, tentatively, before.",
        "With a LAN of 20 ms, as in the nine scenarios, all sites would be active at this rate and none a sequencer.",
        "A and D are active when the group starts; after the crash the sites decide by themselves who is.",
    ),
)
