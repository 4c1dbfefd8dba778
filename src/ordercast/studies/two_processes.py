"""Why clocks of symmetric ordering must keep pace, message by message (hybrid report, Figure 2).

A sends twice as often as B. The papers draw the messages of both between two lines of time; the scan has lost the
drawing. The same runs, step by step in words, are the golden runs symmetric-two-rates and rs-symmetric-two-rates.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean
from typing import Any

from ordercast.core.effects import Note
from ordercast.core.ids import MessageId, SiteId, origin_of, seq_of
from ordercast.core.messages import Bundle
from ordercast.protocols.ordering.rate_synchronised import STEPS_PER_GAP
from ordercast.simulator.simulation import Simulation
from ordercast.studies.framework.claims import Claim, Outcome, outcome
from ordercast.studies.framework.figures import Axes, Picture
from ordercast.studies.framework.measures import Measure
from ordercast.studies.framework.results import Results, Run, worst
from ordercast.studies.framework.study import Size, Study
from ordercast.studies.framework.tables import Column, Row, Table

DELAY_MS = 100
GAPS_MS = {"a": 20, "b": 40}
"""Of A and of B, whose messages carry their names in small letters."""

B_GAP_MS = GAPS_MS["b"]
DURATION_S = 1.0
OFFSETS_MS = (5, 15, 25, 35)
"""When B begins, after A."""

DRAWN_OFFSET_MS = OFFSETS_MS[0]
PLAIN, SYNCHRONISED = "symmetric", "rs-symmetric"
PROTOCOLS = {PLAIN: {}, SYNCHRONISED: {"estimates": "known"}}

MEASURED_MS = (2 * DELAY_MS, round(DURATION_S * 1000) - 3 * DELAY_MS)
"""Messages sent between: tickets have drifted apart by then, and all is delivered while the traffic goes on."""


def grid(size: Size) -> list[Run]:
    """Without synchronisation and with it; when quick, B begins at one time only."""
    return [
        Run({"protocol": protocol, "offset_ms": offset_ms, "seed": 1}, {"seed": 1, **scenario(protocol, offset_ms)})
        for offset_ms in (OFFSETS_MS[:1] if size is Size.QUICK else OFFSETS_MS)
        for protocol in PROTOCOLS
    ]


def scenario(protocol: str, offset_ms: int, duration_s: float = DURATION_S) -> dict[str, Any]:
    """Two sites with a constant delay, both exactly periodic."""
    periodic = {"source": "periodic", "phase": "aligned"}
    return {
        "duration_s": duration_s,
        "protocol": {"name": protocol, "stack": "ideal", **PROTOCOLS[protocol]},
        "delays": {
            "sites": ["A", "B"],
            "one_way_ms": [[0, DELAY_MS], [DELAY_MS, 0]],
            "distribution": "constant",
        },
        "traffic": [
            {"sites": ["A"], "rate": 1000 / GAPS_MS["a"], **periodic},
            {"sites": ["B"], "rate": 1000 / GAPS_MS["b"], **periodic, "from_s": offset_ms / 1000},
        ],
    }


def sent_ms(message: str, offset_ms: int) -> int:
    """When a message, such as a3, is multicast."""
    begins_ms = offset_ms if message[0] == "b" else 0
    return begins_ms + GAPS_MS[message[0]] * int(message[1:])


def messages_between(site: str, from_ms: int, until_ms: int, offset_ms: int) -> list[str]:
    """What A (`a`) or B (`b`) multicasts in this time."""
    names = (f"{site}{number}" for number in range(round(DURATION_S * 1000) // GAPS_MS[site]))
    return [name for name in names if from_ms <= sent_ms(name, offset_ms) < until_ms]


class Course(Measure):
    """What becomes of every message, such as a3: `ticket/a3`, and how long after its multicast A and B deliver it,
    `A_ms/a3` and `B_ms/a3`."""

    def on_start(self, simulation: Simulation) -> None:
        self._sites = simulation.topology.names
        self._sent_us: dict[MessageId, int] = {}
        self._figures: dict[str, float] = {}

    def on_multicast(self, at_us: int, site: SiteId, bundle: Bundle) -> None:
        self._sent_us[bundle.id] = at_us

    def on_note(self, at_us: int, site: SiteId, note: Note) -> None:
        if note.message is not None and note.ticket is not None:
            self._figures[f"ticket/{self._name(note.message)}"] = note.ticket

    def on_deliver(self, at_us: int, site: SiteId, bundle: Bundle) -> None:
        name = f"{self._sites[site]}_ms/{self._name(bundle.id)}"
        self._figures[name] = (at_us - self._sent_us[bundle.id]) / 1000

    def _name(self, id: MessageId) -> str:
        return f"{self._sites[origin_of(id)].lower()}{seq_of(id)}"

    def figures(self) -> Mapping[str, float]:
        return self._figures


# --- tables ---


def tables(results: Results) -> list[Table]:
    """The mean wait of either site's messages at either site."""
    columns = (
        Column("B begins after, ms"),
        Column("protocol"),
        *(Column(f"{site.upper()}'s messages at {at}", 1) for site in GAPS_MS for at in "AB"),
    )
    rows: list[Row] = [
        (offset_ms, protocol, *(_wait_ms(results, protocol, offset_ms, site, at) for site in GAPS_MS for at in "AB"))
        for offset_ms in results.distinct("offset_ms")
        for protocol in PROTOCOLS
    ]
    return [Table("Mean time from multicast to delivery, ms", columns, rows, section_by=0)]


def _wait_ms(results: Results, protocol: str, offset_ms: int, site: str, at: str) -> float:
    """How long a site's messages wait for their delivery at A or B, on the average."""
    found = results.where(protocol=protocol, offset_ms=offset_ms)
    return fmean(found.figure(f"{at}_ms/{name}") for name in messages_between(site, *MEASURED_MS, offset_ms))


# --- claims: for every time at which B begins ---


def _waits_ms(results: Results, protocol: str, at: str) -> list[tuple[float, str]]:
    """Of A's messages."""
    return [
        (_wait_ms(results, protocol, offset_ms, "a", at), f"B begins at {offset_ms} ms")
        for offset_ms in results.distinct("offset_ms")
    ]


def plain_is_closer_to_two_delays(results: Results) -> Outcome:
    """Half-way between D + t and 2·D is what the text leaves to either side."""
    waits_ms = [wait_ms for wait_ms, _ in _waits_ms(results, PLAIN, "A")]
    holds = all(wait_ms > (2 * DELAY_MS + DELAY_MS + B_GAP_MS) / 2 for wait_ms in waits_ms)
    return outcome(holds, f"{_range(waits_ms)}, between D + t = {DELAY_MS + B_GAP_MS} and 2·D = {2 * DELAY_MS} ms")


def the_slower_site_need_not_wait(results: Results) -> Outcome:
    """What A sends is ahead of all that B has issued."""
    most, where = worst(_waits_ms(results, PLAIN, "B"))
    return outcome(most <= 1.01 * DELAY_MS, f"at most {most:.1f} ms ({where})")


def synchronised_waits_for_a_gap(results: Results) -> Outcome:
    """One delay, and at most one gap of B."""
    most, where = worst(_waits_ms(results, SYNCHRONISED, "A"))
    return outcome(most <= DELAY_MS + B_GAP_MS, f"at most {most:.1f} ms ({where}), D + t = {DELAY_MS + B_GAP_MS} ms")


def most_messages_are_sooner(results: Results) -> Outcome:
    """Of both sites, by their last recipients."""
    shares = []
    for offset_ms in results.distinct("offset_ms"):
        names = [name for site in GAPS_MS for name in messages_between(site, *MEASURED_MS, offset_ms)]
        sooner = [_last_ms(results, SYNCHRONISED, offset_ms, name) < _last_ms(results, PLAIN, offset_ms, name)
                  for name in names]  # fmt: skip
        shares.append(sum(sooner) / len(sooner))
    return outcome(min(shares) > 0.5, f"at least {min(shares):.0%} of them")


def _last_ms(results: Results, protocol: str, offset_ms: int, message: str) -> float:
    found = results.where(protocol=protocol, offset_ms=offset_ms)
    return max(found.figure(f"{at}_ms/{message}") for at in "AB")


def _range(waits_ms: list[float]) -> str:
    low, high = f"{min(waits_ms):.0f}", f"{max(waits_ms):.0f}"
    return f"{low} ms" if low == high else f"{low} to {high} ms"


# --- picture ---

DRAWN_MS = 400
COLOURS = {"a": "#0072B2", "b": "#D55E00"}
LINES = {"a": 1.0, "b": 0.0}
"""The height of each site's line of time."""

BARS_PER_SITE = {"a": 11, "b": 4}
BAR_STEP = 0.06

LABEL_MS = 25
"""So much room the words beside a bar take."""

TITLES = {PLAIN: "(a) Lamport's clocks", SYNCHRONISED: "(b) clocks that keep pace"}
STEPS = {PLAIN: 1, SYNCHRONISED: STEPS_PER_GAP}


def draw(axes: list[Axes], results: Results) -> None:
    """Two lines of time and the messages between them; beside each line how long its own messages wait there."""
    for panel, protocol in zip(axes, PROTOCOLS, strict=True):
        found = results.where(protocol=protocol, offset_ms=DRAWN_OFFSET_MS)
        for site in GAPS_MS:
            panel.axhline(LINES[site], color="#000000", linewidth=1.2)
            for place, name in enumerate(messages_between(site, 0, DRAWN_MS, DRAWN_OFFSET_MS)):
                _draw_message(panel, found, name, STEPS[protocol])
                _draw_wait(panel, found, name, place % BARS_PER_SITE[site])
        waits = _wait_ms(results, protocol, DRAWN_OFFSET_MS, "a", "A")
        panel.set_title(f"{TITLES[protocol]} ({protocol}): A delivers its own messages after {waits:.0f} ms on average")
        panel.set_yticks(list(LINES.values()), ["A", "B"], fontsize=14)
        panel.set_ylabel("process")
        panel.grid(visible=False)
        panel.spines["left"].set_visible(False)
        panel.tick_params(axis="y", length=0)
    axes[0].set_xlim(-5, DRAWN_MS)
    axes[0].set_ylim(-0.4, 1.75)
    axes[-1].set_xlabel("time (ms)")


def _draw_message(panel: Axes, found: Results, name: str, steps: int) -> None:
    """From one line to the other, with its ticket where it begins."""
    site, begins_ms = name[0], sent_ms(name, DRAWN_OFFSET_MS)
    here, there = LINES[site], 1 - LINES[site]
    ends_ms = begins_ms + DELAY_MS
    panel.plot([begins_ms, ends_ms], [here, there], color=COLOURS[site], linewidth=0.9)
    panel.plot([ends_ms], [there], "v" if site == "a" else "^", color=COLOURS[site], markersize=6)
    whole, rest = divmod(round(found.figure(f"ticket/{name}")), steps)
    panel.text(
        begins_ms + 0.1 * DELAY_MS, here + 0.1 * (there - here), f"{whole}{'+' if rest else ''}", fontsize=9,
        color=COLOURS[site], ha="center", va="center", clip_on=True,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},
    )  # fmt: skip


def _draw_wait(panel: Axes, found: Results, name: str, level: int) -> None:
    """From the multicast to the delivery at the sender itself, outside the two lines."""
    site, begins_ms = name[0], sent_ms(name, DRAWN_OFFSET_MS)
    wait_ms = found.figure(f"{site.upper()}_ms/{name}")
    outwards = 1 if site == "a" else -1
    height = LINES[site] + outwards * (0.1 + level * BAR_STEP)
    panel.plot([begins_ms, begins_ms + wait_ms], [height, height], color=COLOURS[site], linewidth=5, alpha=0.3,
               solid_capstyle="butt")  # fmt: skip
    panel.plot([begins_ms + wait_ms], [height], "o", color=COLOURS[site], markersize=4)
    begins_text_ms = begins_ms + 1 if wait_ms >= LABEL_MS else begins_ms + wait_ms + 3
    if begins_text_ms + LABEL_MS <= DRAWN_MS:
        panel.text(begins_text_ms, height, f"{name}: {wait_ms:g} ms", fontsize=8, va="center")


STUDY = Study(
    name="two-processes",
    title="Two processes of different rates, message by message",
    source="hybrid report, Figure 2",
    question=(
        f"A and B are {DELAY_MS} ms apart, D. A sends every {GAPS_MS['a']} ms, B every {B_GAP_MS} ms, its gap t. With "
        "Lamport's clocks B's tickets catch up only when a message of A arrives, and A waits until it hears of that. "
        "What changes when B's tickets advance at the pace of A's?"
    ),
    metric="For each message the time from its multicast to its delivery at A and at B.",
    grid=grid,
    tables=tables,
    claims=(
        Claim(
            "Without synchronised clocks A's own messages are delayed at A by 2·D: closer to it than to D + t.",
            "hybrid report, section 4.1 and Figure 2a",
            plain_is_closer_to_two_delays,
            published="“thus having its own messages delayed by 2D”; no value in the drawing is readable",
        ),
        Claim(
            "Without synchronised clocks B delivers A's messages as they come, after D (within 1 %).",
            "hybrid report, section 4.1 and Figure 2a",
            the_slower_site_need_not_wait,
            published="“whereas B delivers the messages as they come from A”",
        ),
        Claim(
            "With synchronised clocks A delivers its own messages much sooner: after D + t at most, on the average.",
            "hybrid report, section 4.1 and Figure 2b",
            synchronised_waits_for_a_gap,
            published="“process A delivers its own messages much sooner”",
        ),
        Claim(
            "With synchronised clocks most messages are subject to smaller delays than without.",
            "hybrid report, section 4.1 and Figure 2b",
            most_messages_are_sooner,
            published="“most messages are subject to smaller delays”",
        ),
    ),
    pictures=(
        Picture(
            "two-processes",
            "Messages of A (blue) and B (orange), each with its ticket, and above and below how long each waits until "
            "its own sender delivers it. In (b) a message of A is worth one whole ticket, and + is a little more.",
            draw,
            rows=2,
            size_inches=(13.0, 12.0),
        ),
    ),
    measure=Course,
    notes=(
        f"The rates and the delay are ours, the drawing is lost. In rs-symmetric a message of A advances tickets by "
        f"{STEPS_PER_GAP} steps, of which the picture makes one.",
        f"Means are over the messages sent between {MEASURED_MS[0]} and {MEASURED_MS[1]} ms: before, tickets are still "
        "alike; at the end of the traffic tickets travel at once.",
        "The golden runs tests/golden/symmetric-two-rates.txt and rs-symmetric-two-rates.txt tell all steps of the "
        "first 300 ms in words.",
    ),
)
