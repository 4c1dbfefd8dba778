"""Static hybrid ordering in nine scenarios (hybrid report, Figure 4; short paper, Figure 3).

Which of the five sites are busy changes from scenario to scenario; the network stays. The papers show the figure
only as a picture, which the scans have lost; what its text says of it is what is checked here.
"""

from __future__ import annotations

from typing import Any

from ordercast.studies.framework.claims import Claim, Outcome, outcome
from ordercast.studies.framework.figures import LIMIT_STYLE, Axes, Picture, protocol_line, sources
from ordercast.studies.framework.results import Results, Run, lowest
from ordercast.studies.framework.study import LAST_RECIPIENT, Size, Study
from ordercast.studies.framework.tables import Column, Row, Table

LOADS = {"A": "HHHHHHHHH", "B": "HHLHHLHLH", "C": "HLLHLLLLH", "D": "LLLHHHHHH", "E": "LLLLLLHHH"}
"""For each site its load in scenarios 1 to 9: high or low."""

RATES = {"H": 100.0, "L": 1.0}
"""Messages per second."""

NETWORK: dict[str, Any] = {
    "lan": [
        {"name": "west", "sites": ["A", "B", "C"], "delay_ms": 20.0, "variance": 0.05},
        {"name": "east", "sites": ["D", "E"], "delay_ms": 20.0, "variance": 0.05},
    ],
    "wan": [{"between": ["west", "east"], "delay_ms": 500.0, "variance": 0.4}],
}
"""Five sites on two LANs, 540 ms apart."""

SCENARIOS = range(1, 10)
OTHERS = ("token-site", "migrating-token", "symmetric", "rs-symmetric")
PROTOCOLS = (*OTHERS, "hybrid")

MAIN = {"source": "quasi-periodic", "estimates": "known"}
"""The papers' figure: rates and delays "are known a priori and do not change over time"."""

VARIANTS = (
    MAIN,
    {"source": "poisson", "estimates": "known"},
    {"source": "quasi-periodic", "estimates": "online"},
    {"source": "poisson", "estimates": "online"},
)


def loads_of(scenario: int) -> str:
    """Such as HHLLL: the loads of A to E."""
    return "".join(loads[scenario - 1] for loads in LOADS.values())


def grid(size: Size) -> list[Run]:
    """The papers' figure; in full also with Poisson sources and with rates and delays measured on line."""
    seeds, duration_s, warmup_s = ((1,), 20.0, 5.0) if size is Size.QUICK else ((1, 2, 3), 60.0, 15.0)
    return [
        Run(
            {**variant, "scenario": scenario, "protocol": protocol, "seed": seed},
            {
                "seed": seed,
                "duration_s": duration_s,
                "warmup_s": warmup_s,
                **_scenario(scenario, protocol, **variant),
            },
        )
        for variant in (VARIANTS if size is Size.FULL else VARIANTS[:1])
        for scenario in SCENARIOS
        for protocol in PROTOCOLS
        for seed in seeds
    ]


def _scenario(scenario: int, protocol: str, source: str, estimates: str) -> dict[str, Any]:
    return {
        "protocol": {"name": protocol, "estimates": estimates},
        **NETWORK,
        "traffic": traffic_of(scenario, source),
    }


def traffic_of(scenario: int, source: str, **window: float) -> list[dict[str, Any]]:
    """The load of all sites; `from_s` and `until_s` may confine it."""
    return [
        {"sites": [site], "rate": RATES[load], "source": source, **window}
        for site, load in zip(LOADS, loads_of(scenario), strict=True)
    ]


# --- tables ---


def tables(results: Results) -> list[Table]:
    """One for each variant that was run."""
    return [_table(results.where(**variant), **variant) for variant in VARIANTS if results.where(**variant).entries]


def _table(results: Results, source: str, estimates: str) -> Table:
    columns = (
        Column("scenario"),
        Column("load ABCDE"),
        *(Column(protocol, 1) for protocol in PROTOCOLS),
        Column("limit", 1),
        Column("hybrid / limit", 3),
    )
    rows: list[Row] = []
    for scenario in SCENARIOS:
        latencies = [results.last_ms(scenario=scenario, protocol=protocol) for protocol in PROTOCOLS]
        limit = results.limit_ms(scenario=scenario, protocol="hybrid")
        rows.append((scenario, loads_of(scenario), *latencies, limit, latencies[-1] / limit))
    title = f"Mean last-recipient latency in ms: {_variant_name(source, estimates)}"
    return Table(title, columns, rows, compared=tuple(range(2, 2 + len(PROTOCOLS))))


def _variant_name(source: str, estimates: str) -> str:
    known = "known" if estimates == "known" else "measured on line"
    return f"{sources(source)}, rates and delays {known}"


# --- claims, about the papers' figure ---


def hybrid_stays_low(results: Results) -> Outcome:
    """The papers' "almost flat line"."""
    latencies = {scenario: _latency(results, scenario, "hybrid") for scenario in SCENARIOS}
    worst = max(latencies, key=lambda scenario: latencies[scenario])
    holds = all(latency <= 650 for latency in latencies.values())
    return outcome(holds, f"at most {latencies[worst]:.1f} ms (scenario {worst})")


def hybrid_matches_the_best(results: Results) -> Outcome:
    """Within 5 % of whichever other protocol is best in a scenario, or better."""
    ratios = {
        scenario: _latency(results, scenario, "hybrid") / _best_other(results, scenario) for scenario in SCENARIOS
    }
    worst = max(ratios, key=lambda scenario: ratios[scenario])
    holds = all(ratio <= 1.05 for ratio in ratios.values())
    return outcome(holds, f"at most {ratios[worst]:.3f} × the best other (scenario {worst})")


def token_site_suffers(results: Results) -> Outcome:
    """With A and the far D and E busy, the token site A is in the wrong place for most messages."""
    ratio = _ratio(results, 8, "token-site")
    return outcome(ratio >= 1.4, f"{ratio:.2f} × hybrid")


def token_site_shines(results: Results) -> Outcome:
    """In scenarios 1 to 3 only sites near the token site A are busy."""
    ratios = [_latency(results, scenario, "token-site") / _best_pure(results, scenario) for scenario in (1, 2, 3)]
    return outcome(all(ratio <= 1 for ratio in ratios), _listed((1, 2, 3), ratios, "× the best pure protocol"))


def symmetric_shines(results: Results) -> Outcome:
    """All busy: nobody has to wait for anybody's next message."""
    ratio = _ratio(results, 9, "rs-symmetric")
    return outcome(abs(ratio - 1) <= 0.03, f"{ratio:.3f} × hybrid")


def symmetric_suffers(results: Results) -> Outcome:
    """In scenarios 1 to 3 each message waits for the next one of a site that sends one per second."""
    ratios = [_ratio(results, scenario, "rs-symmetric") for scenario in (1, 2, 3)]
    return outcome(all(ratio >= 1.6 for ratio in ratios), _listed((1, 2, 3), ratios, "× hybrid"))


def _latency(results: Results, scenario: int, protocol: str) -> float:
    return results.last_ms(**MAIN, scenario=scenario, protocol=protocol)


def _best_other(results: Results, scenario: int) -> float:
    return lowest(_latency(results, scenario, protocol) for protocol in OTHERS)


def _best_pure(results: Results, scenario: int) -> float:
    return lowest(_latency(results, scenario, protocol) for protocol in ("token-site", "symmetric", "rs-symmetric"))


def _ratio(results: Results, scenario: int, protocol: str) -> float:
    return _latency(results, scenario, protocol) / _latency(results, scenario, "hybrid")


def _listed(scenarios: tuple[int, ...], ratios: list[float], unit: str) -> str:
    return f"{', '.join(f'{ratio:.2f}' for ratio in ratios)} {unit} (scenarios {', '.join(map(str, scenarios))})"


# --- picture ---


def draw(axes: list[Axes], results: Results) -> None:
    """As in the papers: scenarios from left to right, one line per protocol."""
    _draw_variant(axes[0], results.where(**MAIN))
    axes[0].set_ylim(bottom=0)
    axes[0].legend(ncols=3, loc="upper center", bbox_to_anchor=(0.5, 1.16))


def draw_variants(axes: list[Axes], results: Results) -> None:
    """The same with other sources and estimates, one panel for each."""
    for panel, variant in zip(axes, VARIANTS[1:], strict=True):
        _draw_variant(panel, results.where(**variant))
        panel.set_title(_variant_name(**variant))
    for panel in axes[1:]:
        panel.set_ylabel("")
    axes[0].set_ylim(bottom=0)
    axes[0].legend()


def _draw_variant(panel: Axes, results: Results) -> None:
    places = list(SCENARIOS)
    for protocol in PROTOCOLS:
        style = protocol_line(protocol)
        if protocol == "migrating-token":
            style |= {"linestyle": ":", "markersize": 8}
        panel.plot(places, [results.last_ms(scenario=place, protocol=protocol) for place in places], **style)
    limits = [results.limit_ms(scenario=place, protocol="hybrid") for place in places]
    panel.plot(places, limits, label="limit of any protocol", **LIMIT_STYLE)
    panel.set_xticks(places, [f"{place}\n{loads_of(place)}" for place in places])
    panel.set_xlabel("scenario, and the loads of A to E (H: 100 msg/s, L: 1 msg/s)")
    panel.set_ylabel("mean last-recipient latency (ms)")


STUDY = Study(
    name="nine-scenarios",
    title="Static hybrid ordering in nine scenarios",
    source="hybrid report, Figure 4; short paper, Figure 3",
    question=(
        "Five sites on two LANs, A B C and D E, 540 ms apart. In nine scenarios different sites are busy "
        "(H: 100 msg/s) or quiet (L: 1 msg/s). How long does a message take, on average, until the last of the five "
        "has delivered it in the agreed order? The limit is the least that any ordering protocol can guarantee on "
        "this network."
    ),
    metric=LAST_RECIPIENT,
    grid=grid,
    tables=tables,
    claims=(
        Claim(
            "Hybrid is an almost flat line: at most 650 ms in every scenario.",
            "hybrid report, section 5",
            hybrid_stays_low,
            published="“the almost flat line”, its height not readable",
        ),
        Claim(
            "Hybrid is within 5 % of the best other protocol in every scenario, or better.",
            "hybrid report, section 5",
            hybrid_matches_the_best,
            published="“matches these best cases”, values not readable",
        ),
        Claim(
            "The token site is the best pure protocol while all busy sites are near it (scenarios 1, 2, 3).",
            "hybrid report, section 5",
            token_site_shines,
            published="“lowest latency when all high-load processes are close to the sequencer”, values not readable",
        ),
        Claim(
            "The token site degrades when the load moves away from it: at least 1.4 × hybrid in scenario 8.",
            "hybrid report, section 5",
            token_site_suffers,
            published="“clearly degrades when the load shifts to distant processes”, values not readable",
        ),
        Claim(
            "Symmetric ordering is as good as hybrid, within 3 %, when all sites are busy (scenario 9).",
            "hybrid report, section 5",
            symmetric_shines,
            published="“lowest latency in scenario 9”, together with hybrid; values not readable",
        ),
        Claim(
            "Symmetric ordering waits for quiet sites: at least 1.6 × hybrid in scenarios 1, 2 and 3.",
            "hybrid report, section 5",
            symmetric_suffers,
            published="degrades “in all the intermediate cases”, values not readable",
        ),
    ),
    pictures=(
        Picture(
            "nine-scenarios",
            "Mean last-recipient latency in nine scenarios; quasi-periodic sources, rates and delays known, "
            "the token at A to begin with.",
            draw,
            size_inches=(9.0, 5.5),
        ),
        Picture(
            "nine-scenarios-variants",
            "The same with Poisson sources, and with rates and delays that each site measures itself.",
            draw_variants,
            columns=3,
            size_inches=(21.0, 6.0),
            applies=lambda results: bool(results.where(**VARIANTS[-1]).entries),
        ),
    ),
    notes=(
        "The papers' figure survives only as text: no number can be read off it any more. The thresholds are ours.",
        "The papers call the metric a weighted average; it is read as the mean over messages of the time from the "
        "multicast to the delivery at the last site.",
        "Network delays are shifted chi-square: 20 ms with a variance of 0.05 ms² inside a LAN, 500 ms with 0.4 ms² "
        "between them. Quasi-periodic gaps are normal with a spread of 2 %.",
        "The token of migrating-token begins at A, who is busy in every scenario; it moves only to a site that is "
        "clearly faster, and none is. So it does as the token site does.",
    ),
)
