"""Losses on every link: what latency and overhead they cost the full stack.

The network is that of the nine scenarios. Its links are reliable only because lost frames are sent again, which takes
longer than a round trip of 1080 ms over the slow link; and what is ordered waits for what is missing.
"""

from __future__ import annotations

import math
from typing import Any

from ordercast.studies.framework.claims import Claim, Outcome, outcome
from ordercast.studies.framework.figures import LIMIT_STYLE, Axes, Picture, protocol_line
from ordercast.studies.framework.results import Label, Results, Run, worst
from ordercast.studies.framework.study import LAST_RECIPIENT, Size, Study
from ordercast.studies.framework.tables import Column, Row, Table
from ordercast.studies.nine_scenarios import LOADS, RATES, loads_of

LAN_MS, WAN_MS = 20.0, 500.0

ROUND_TRIP_MS = 2 * (WAN_MS + 2 * LAN_MS)
"""Between the two LANs."""

LOSSES_PERCENT = (0.0, 0.1, 1.0, 5.0)

METHODS = (
    {"protocol": "hybrid", "tickets": "piggyback"},
    {"protocol": "hybrid", "tickets": "flush"},
    {"protocol": "token-site", "tickets": "flush"},
)

FULL: dict[str, Label] = {"stack": "full"}
IDEAL: dict[str, Label] = {"stack": "ideal", "loss_percent": 0.0}
"""The papers' reliable multicast, to compare with."""


def grid(size: Size) -> list[Run]:
    """Scenarios 8 and 9. Quick leaves out hybrid with flush, which differs little; full adds scenarios 1 and 5."""
    quick = size is Size.QUICK
    seeds, duration_s, warmup_s = ((1,), 14.0, 4.0) if quick else ((1, 2), 40.0, 10.0)
    stacks = (IDEAL, *({**FULL, "loss_percent": loss} for loss in LOSSES_PERCENT))
    return [
        Run(
            {"scenario": scenario, **method, **stack, "seed": seed},
            {
                "seed": seed,
                "duration_s": duration_s,
                "warmup_s": warmup_s,
                **_scenario(scenario, **method, stack=str(stack["stack"]), loss_percent=float(stack["loss_percent"])),
            },
        )
        for scenario in ((1, 5, 8, 9) if size is Size.FULL else (8, 9))
        for method in ((METHODS[0], METHODS[2]) if quick else METHODS)
        for stack in stacks
        for seed in seeds
    ]


def _scenario(scenario: int, protocol: str, tickets: str, stack: str, loss_percent: float) -> dict[str, Any]:
    loss = {"kind": "loss", "at_s": 0.0, "probability": loss_percent / 100}
    return {
        "protocol": {"name": protocol, "stack": stack, "tickets": tickets, "estimates": "known"},
        "lan": [
            {"name": "west", "sites": ["A", "B", "C"], "delay_ms": LAN_MS, "variance": 0.05},
            {"name": "east", "sites": ["D", "E"], "delay_ms": LAN_MS, "variance": 0.05},
        ],
        "wan": [{"between": ["west", "east"], "delay_ms": WAN_MS, "variance": 0.4}],
        "traffic": [
            {"sites": [site], "rate": RATES[load]} for site, load in zip(LOADS, loads_of(scenario), strict=True)
        ],
        "fault": [loss] if loss_percent else [],
    }


# --- tables ---


def tables(results: Results) -> list[Table]:
    """One row per scenario, method and loss."""
    columns = (
        Column("scenario"),
        Column("protocol"),
        Column("tickets"),
        Column("loss %", 1),
        Column("mean", 0),
        Column("p99", 0),
        Column("mean / ideal stack", 2),
        Column("mean / limit", 2),
        Column("transmissions", 2),
    )
    rows: list[Row] = []
    for case in _cases(results):
        ideal = results.last_ms(**case, **IDEAL)
        for loss in LOSSES_PERCENT:
            at = {**case, **FULL, "loss_percent": loss}
            mean = results.last_ms(**at)
            rows.append(
                (
                    case["scenario"],
                    *(str(case[label]) for label in ("protocol", "tickets")),
                    loss,
                    mean,
                    results.last_p99_ms(**at),
                    mean / ideal,
                    mean / results.limit_ms(**at),
                    results.transmissions(**at),
                )
            )
    title = "Last-recipient latency in ms, and transmissions beyond the message itself, per message"
    return [Table(title, columns, rows, section_by=2)]


def _cases(results: Results) -> list[dict[str, Label]]:
    cases: list[dict[str, Label]] = [
        {"scenario": scenario, **method} for scenario in results.distinct("scenario") for method in METHODS
    ]
    return [case for case in cases if results.where(**case).entries]


def _name(case: dict[str, Label]) -> str:
    return f"{case['protocol']}, {case['tickets']}, scenario {case['scenario']}"


# --- claims ---


def the_stack_is_free_without_losses(results: Results) -> Outcome:
    """Group, views and links add no waiting of their own."""
    ratios = [
        (results.last_ms(**case, **FULL, loss_percent=0.0) / results.last_ms(**case, **IDEAL), _name(case))
        for case in _cases(results)
    ]
    most, name = worst(ratios)
    return outcome(most <= 1.02, f"at most {most:.3f} × the ideal stack ({name})")


def a_loss_costs_one_repair(results: Results) -> Outcome:
    """Detected and sent again within two round trips: the slowest percent waits no longer than that."""
    waits = [
        (
            results.last_p99_ms(**case, **FULL, loss_percent=0.1)
            - results.last_p99_ms(**case, **FULL, loss_percent=0.0),
            _name(case),
        )
        for case in _cases(results)
    ]
    most, name = worst(waits)
    return outcome(most <= 2 * ROUND_TRIP_MS, f"at most {most / ROUND_TRIP_MS:.2f} round trips more ({name})")


def one_percent_costs_a_round_trip(results: Results) -> Outcome:
    """At 1 % some frame is nearly always missing, and everybody waits for it."""
    costs = [(_cost_ms(results, case, 1.0) / ROUND_TRIP_MS, _name(case)) for case in _cases(results)]
    most, name = worst(costs)
    return outcome(most <= 1.5, f"at most {most:.2f} round trips more ({name})")


def five_percent_costs_four_round_trips(results: Results) -> Outcome:
    """Of the frames that are lost one in twenty is lost again, but the delay does not grow with the run."""
    costs = [(_cost_ms(results, case, 5.0) / ROUND_TRIP_MS, _name(case)) for case in _cases(results)]
    most, name = worst(costs)
    if math.isnan(most):
        return outcome(False, f"no message of the measured ones was delivered everywhere in time ({name})")
    return outcome(most <= 4, f"at most {most:.2f} round trips more ({name})")


def repairs_send_little(results: Results) -> Outcome:
    """A copy that is lost once in a hundred times is sent again, and acknowledged: a tenth of the copies at most."""
    growths = []
    for case in _cases(results):
        lossless, lossy = (results.transmissions(**case, **FULL, loss_percent=loss) for loss in (0.0, 1.0))
        growths.append(((lossy - lossless) / (len(LOADS) - 1), _name(case)))
    most, name = worst(growths)
    return outcome(
        most <= 0.1,
        f"at most {most:.2f} more transmissions for each copy of a message ({name})",
        explained=most <= 0.5,
        because=(
            "what is sent again is little, one for 20 copies; but while a frame is missing, each later one on its "
            "link is acknowledged at once, so that all the losses of a round trip are repaired in the next, and at 1 % "
            "about every second frame comes while another is missing"
        ),
    )


def hybrid_keeps_its_lead(results: Results) -> Outcome:
    """In scenario 8 the token site is in the wrong place; with losses, too."""
    ratios = []
    for loss in LOSSES_PERCENT[:3]:
        hybrid, token = (
            results.last_ms(scenario=8, **method, **FULL, loss_percent=loss) for method in (METHODS[0], METHODS[2])
        )
        ratios.append((hybrid / token, f"{loss:g} % loss"))
    most, name = worst(ratios)
    return outcome(most < 1, f"at most {most:.2f} × the token site ({name})")


def _cost_ms(results: Results, case: dict[str, Label], loss_percent: float) -> float:
    """By how much the losses lengthen the mean latency."""
    lossy, lossless = (results.last_ms(**case, **FULL, loss_percent=loss) for loss in (loss_percent, 0.0))
    return lossy - lossless


# --- picture ---


def draw(axes: list[Axes], results: Results) -> None:
    """Latency over loss, one panel per scenario: the mean, and the 99th percentile as a thinner line."""
    places = range(len(LOSSES_PERCENT))
    for panel, scenario in zip(axes, (8, 9), strict=True):
        for method in (method for method in METHODS if results.where(**method).entries):
            at = {"scenario": scenario, **method, **FULL}
            means = [results.last_ms(**at, loss_percent=loss) for loss in LOSSES_PERCENT]
            tails = [results.last_p99_ms(**at, loss_percent=loss) for loss in LOSSES_PERCENT]
            dashed = {"linestyle": "--"} if method["tickets"] == "piggyback" else {}
            label = f"{method['protocol']}, {method['tickets']}"
            panel.plot(places, means, **protocol_line(method["protocol"], label=f"{label}: mean", **dashed))
            thin = {"linewidth": 0.9, "markersize": 4, "alpha": 0.75, "label": f"{label}: p99", **dashed}
            panel.plot(places, tails, **protocol_line(method["protocol"], **thin))
        limit = results.limit_ms(scenario=scenario, **FULL)
        panel.axhline(limit, label="limit of any protocol", **LIMIT_STYLE)
        panel.set_title(f"scenario {scenario} ({loads_of(scenario)})")
        panel.set_xticks(places, [f"{loss:g} %" for loss in LOSSES_PERCENT])
        panel.set_xlabel("loss on every link")
    axes[0].set_ylabel("last-recipient latency (ms)")
    axes[0].set_ylim(bottom=0)
    axes[0].legend(fontsize=9, handlelength=3.5)


STUDY = Study(
    name="losses",
    title="Losses on every link, on the full stack",
    source="our own; the papers assume reliable channels",
    question=(
        "Five sites on two LANs, A B C and D E, 540 ms apart, with the loads of scenarios 8 and 9. Every link loses "
        "the same part of what is sent. How much longer does a message take until the last site has delivered it, and "
        "how much more is sent?"
    ),
    metric=LAST_RECIPIENT + " Beside it, the copies sent beyond the messages themselves.",
    grid=grid,
    tables=tables,
    claims=(
        Claim(
            "Without losses the full stack's mean latency is within 2 % of that on the papers' reliable multicast.",
            "expected by us",
            the_stack_is_free_without_losses,
        ),
        Claim(
            "A loss costs at most two round trips of the slow link: so much more is the 99th percentile at 0.1 %.",
            "expected by us",
            a_loss_costs_one_repair,
        ),
        Claim(
            "1 % costs the mean at most one and a half round trips.",
            "expected by us",
            one_percent_costs_a_round_trip,
        ),
        Claim(
            "5 % costs the mean at most four round trips.",
            "expected by us",
            five_percent_costs_four_round_trips,
        ),
        Claim(
            "1 % costs at most one transmission more for every ten copies of messages.",
            "expected by us",
            repairs_send_little,
        ),
        Claim(
            "Hybrid (piggyback) stays ahead of the token site in scenario 8, up to 1 % loss.",
            "expected by us",
            hybrid_keeps_its_lead,
        ),
    ),
    pictures=(
        Picture(
            "losses",
            "Last-recipient latency over the loss on every link: mean, and 99th percentile as a thinner line.",
            draw,
            columns=2,
            size_inches=(13.0, 6.0),
        ),
    ),
    notes=(
        "Overhead is counted in transmissions, copies to one recipient: the full stack knows only links, so that there "
        "are no multicasts to count. Heartbeats and acknowledgements are included. Messages of one site that leave in "
        "the same millisecond share a frame.",
        "Messages that were still under way when the traffic ended are left out with all sent after the first of them: "
        "where the delay grows with the run, the figures depend on its length, and a dash means that nothing was left.",
        "token-site always sends its tickets at once.",
    ),
)
