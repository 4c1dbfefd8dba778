"""A crashed site at 100 messages per second and site: how long the survivors deliver nothing.

The network is that of the nine scenarios, all five sites are busy, one of them crashes for good. The full stack
suspects it, agrees on a view without it, and goes on.
"""

from __future__ import annotations

from typing import Any

from ordercast.studies.framework.claims import Claim, Outcome, outcome
from ordercast.studies.framework.figures import REFERENCE_COLOUR, Axes, Picture
from ordercast.studies.framework.measures import Silence
from ordercast.studies.framework.results import Label, Results, Run, worst
from ordercast.studies.framework.study import Size, Study
from ordercast.studies.framework.tables import Column, Row, Table

SITES = ["A", "B", "C", "D", "E"]
RATE = 100.0
LAN_MS, WAN_MS = 20.0, 500.0

ROUND_TRIP_MS = 2 * (WAN_MS + 2 * LAN_MS)
"""Between the two LANs."""

HEARTBEAT_MS = 100.0
"""Suspicions are looked at with each heartbeat."""

ACTIVE = ["A", "D"]
"""Of hybrid: the sequencers. B and C have A for theirs, E has D."""

METHODS = (
    {"protocol": "hybrid", "tickets": "flush"},
    {"protocol": "hybrid", "tickets": "piggyback"},
    {"protocol": "token-site", "tickets": "flush"},
    {"protocol": "rs-symmetric", "tickets": "flush"},
    {"protocol": "rs-symmetric", "tickets": "piggyback"},
)

ORDERED_BY_SOME = METHODS[:3]
"""Those in which some sites order for others."""

VICTIMS = {"A": "sequencer, token site", "B": "another, near the coordinator", "E": "another, beyond the slow link"}
"""Who crashes. In every case the lowest survivor, A or else B, coordinates the change of view."""


def grid(size: Size) -> list[Run]:
    """Each method with each crash; quick is shorter, and one seed."""
    seeds, crash_s, duration_s = ((1,), 6.0, 12.0) if size is Size.QUICK else ((1, 2, 3), 15.0, 30.0)
    return [
        Run(
            {**method, "crashed": victim, "seed": seed},
            {
                "seed": seed,
                "duration_s": duration_s,
                "warmup_s": crash_s - 1,
                **_scenario(**method),
                "fault": [{"kind": "crash", "at_s": crash_s + seed / 100, "sites": [victim]}],
            },
        )
        for method in METHODS
        for victim in VICTIMS
        for seed in seeds
    ]


def _scenario(protocol: str, tickets: str) -> dict[str, Any]:
    options = {"active": ACTIVE} if protocol == "hybrid" else {}
    choice = {"name": protocol, "stack": "full", "tickets": tickets, "estimates": "known", "options": options}
    return {
        "protocol": choice,
        "lan": [
            {"name": "west", "sites": SITES[:3], "delay_ms": LAN_MS, "variance": 0.05},
            {"name": "east", "sites": SITES[3:], "delay_ms": LAN_MS, "variance": 0.05},
        ],
        "wan": [{"between": ["west", "east"], "delay_ms": WAN_MS, "variance": 0.4}],
        "traffic": [{"sites": [site], "rate": RATE} for site in SITES],
    }


# --- tables ---


def tables(results: Results) -> list[Table]:
    """One row per method and crash."""
    columns = (
        Column("protocol"),
        Column("tickets"),
        Column("crashed"),
        Column("suspicion", 0),
        Column("new view", 0),
        Column("silence, longest", 0),
        Column("silence, shortest", 0),
        Column("silence / suspicion", 2),
        Column("beyond it, in round trips", 2),
    )
    rows: list[Row] = []
    for case in _cases(results):
        silence, suspicion = results.figure("silence_ms", **case), results.figure("suspicion_ms", **case)
        rows.append(
            (
                *(str(value) for value in case.values()),
                suspicion,
                results.figure("view_ms", **case),
                silence,
                results.figure("least_silence_ms", **case),
                silence / suspicion,
                (silence - suspicion) / ROUND_TRIP_MS,
            )
        )
    title = "Time without deliveries at the survivors, ms"
    return [Table(title, columns, rows, section_by=0)]


def _cases(results: Results) -> list[dict[str, Label]]:
    return [{**method, "crashed": victim} for method in METHODS for victim in VICTIMS]


def _name(case: dict[str, Label]) -> str:
    return f"{case['protocol']} ({case['tickets']}), {case['crashed']} crashes"


# --- claims ---


def silence_is_three_suspicions(results: Results) -> Outcome:
    """At most three times the suspicion time, or else at most what agreeing on a view costs in addition to it."""
    ratios = [
        (results.figure("silence_ms", **case) / results.figure("suspicion_ms", **case), _name(case))
        for case in _cases(results)
    ]
    most, name = worst(ratios)
    above = sum(ratio > 3 for ratio, _ in ratios)
    return outcome(
        most <= 3,
        f"at most {most:.2f} × ({name}); above 3 × in {above} of {len(ratios)} cases",
        explained=_most_beyond_ms(results, "silence_ms")[0] <= 2 * ROUND_TRIP_MS + HEARTBEAT_MS,
        because=(
            "a site near the coordinator is suspected after 0.44 s, less than half a round trip of the slow link; but "
            "the next view is agreed on with the far sites. What its cut holds is delivered after the first of two "
            "ballots; then the near sites wait for the second, a round trip, and for the first messages of the far "
            "sites in the new view, another one"
        ),
    )


def silence_is_two_round_trips_more(results: Results) -> Outcome:
    """Suspicion, a heartbeat, and the two ballots of the new view."""
    most_ms, name = _most_beyond_ms(results, "silence_ms")
    measured = f"suspicion + {most_ms / ROUND_TRIP_MS:.2f} round trips at most ({name})"
    return outcome(most_ms <= 2 * ROUND_TRIP_MS + HEARTBEAT_MS, measured)


def the_new_view_is_three_round_trips_more(results: Results) -> Outcome:
    """From the crash: word of it, suspicion, a heartbeat, two ballots, and the decision's way to the farthest."""
    most_ms, name = _most_beyond_ms(results, "view_ms")
    measured = f"suspicion + {most_ms / ROUND_TRIP_MS:.2f} round trips at most ({name})"
    return outcome(most_ms <= 3 * ROUND_TRIP_MS + HEARTBEAT_MS, measured)


def the_sequencer_costs_a_suspicion(results: Results) -> Outcome:
    """The crash of A, who orders, beside that of B, who does not: until A is suspected nobody orders in its place."""
    excesses = []
    for method in ORDERED_BY_SOME:
        ordering, other = (results.figure("silence_ms", **method, crashed=victim) for victim in ("A", "B"))
        excesses.append((ordering - other, f"{method['protocol']}, {method['tickets']}"))
    most_ms, name = worst(excesses)
    suspicion_ms = results.figure("suspicion_ms", crashed="A")
    return outcome(most_ms <= suspicion_ms + HEARTBEAT_MS, f"at most {most_ms:.0f} ms more ({name})")


def _most_beyond_ms(results: Results, figure: str) -> tuple[float, str]:
    """By how much a figure exceeds the suspicion time at most, and where."""
    return worst(
        (results.figure(figure, **case) - results.figure("suspicion_ms", **case), _name(case))
        for case in _cases(results)
    )


# --- picture ---

COLOURS = {"A": "#0072B2", "B": "#E69F00", "E": "#009E73"}
BAR_WIDTH = 0.26


def draw(axes: list[Axes], results: Results) -> None:
    """Silence by method and crash; a mark at the suspicion time of each."""
    (panel,) = axes
    for offset, (victim, who) in enumerate(VICTIMS.items()):
        places = [place + (offset - 1) * BAR_WIDTH for place in range(len(METHODS))]
        silences = [results.figure("silence_ms", **method, crashed=victim) for method in METHODS]
        suspicions = [results.figure("suspicion_ms", **method, crashed=victim) for method in METHODS]
        panel.bar(places, silences, BAR_WIDTH * 0.92, color=COLOURS[victim], label=f"{victim} crashes ({who})")
        marks = {"color": "#000000", "linestyle": "none", "markersize": 14, "markeredgewidth": 2}
        label = "suspicion time" if offset == 0 else None
        panel.plot(places, suspicions, marker="_", label=label, **marks)
    for round_trips in (1, 2):
        height = round_trips * ROUND_TRIP_MS
        label = "one and two round trips of the slow link" if round_trips == 1 else None
        panel.axhline(height, color=REFERENCE_COLOUR, linewidth=1.4, linestyle=":", label=label)
    panel.set_xticks(range(len(METHODS)), [f"{method['protocol']}\n{method['tickets']}" for method in METHODS])
    panel.grid(visible=False, axis="x")
    panel.set_ylabel("longest time without a delivery at a survivor (ms)")
    panel.legend(ncols=2, loc="upper center", bbox_to_anchor=(0.5, 1.2))


STUDY = Study(
    name="crash",
    title="A crashed site: the time without deliveries",
    source="our own; the papers leave failures to the layers below",
    question=(
        "Five busy sites on two LANs, A B C and D E, 540 ms apart. One of them crashes. How long does a "
        "survivor deliver nothing, and how does that compare with the silence after which the site is suspected?"
    ),
    metric="The longest time without a delivery at any survivor, beside the silence after which a site is suspected.",
    grid=grid,
    tables=tables,
    claims=(
        Claim(
            "The time without deliveries is at most three times the suspicion time.",
            "expected by us",
            silence_is_three_suspicions,
        ),
        Claim(
            "The time without deliveries is at most the suspicion time, a heartbeat and two round trips of the slow "
            "link.",
            "expected by us",
            silence_is_two_round_trips_more,
        ),
        Claim(
            "Every survivor has the new view within the suspicion time, a heartbeat and three round trips.",
            "expected by us",
            the_new_view_is_three_round_trips_more,
        ),
        Claim(
            "Losing who orders costs at most the suspicion time and a heartbeat more than losing another site.",
            "expected by us",
            the_sequencer_costs_a_suspicion,
        ),
    ),
    pictures=(
        Picture(
            "crash",
            "Longest time without a delivery at any survivor of a crash, and the silence after which the coordinator "
            "of the next view suspects the site. The round trips are drawn from zero.",
            draw,
            size_inches=(11.0, 6.0),
        ),
    ),
    measure=Silence,
    notes=(
        "Measured from one second before the crash to the end of the traffic: the longest interval without any "
        "delivery at a site that survives. Before the crash it is about 10 ms.",
        "The suspicion time is derived, not set: four heartbeats of 100 ms, and a round trip with four times its "
        "variation. What counts is that of the survivor with the lowest id, who coordinates the change of view.",
        "Hybrid's roles are given, A and D active: at 100 msg/s the papers' rule would make every site active.",
        "token-site always sends its tickets at once.",
    ),
)
