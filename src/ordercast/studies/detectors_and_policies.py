"""Which detector of mean gaps and which policy of switching does best while load changes?

The report (section 9) leaves both open: alternatives for rate synchronisation and for the switching policies are named
there as work to be done.
"""

from __future__ import annotations

from typing import Any

from ordercast.studies.framework.changing import Changing
from ordercast.studies.framework.claims import Claim, Outcome, outcome
from ordercast.studies.framework.figures import Axes, Picture, sources
from ordercast.studies.framework.five_towns import NETWORK as FIVE_TOWNS
from ordercast.studies.framework.five_towns import changing_traffic
from ordercast.studies.framework.results import Label, Results, Run, lowest, worst
from ordercast.studies.framework.study import LAST_RECIPIENT, Size, Study
from ordercast.studies.framework.tables import Column, Row, Table
from ordercast.studies.scenarios_in_sequence import in_sequence

PROTOCOL = "dynamic-hybrid"
DETECTORS = ("mean-shift", "ewma", "cusum", "kalman")
POLICIES = ("pairwise", "least-latency")
SOURCES = ("quasi-periodic", "poisson")

NINE, TOWNS = "nine scenarios in sequence", "five towns"
LOADS = (NINE, TOWNS)
"""Five sites whose loads change together and far, and fourteen of which each changes by itself, all the time."""

PAPERS: dict[str, Label] = {"detector": "mean-shift", "policy": "pairwise"}
DEFAULT: dict[str, Label] = {"detector": "cusum", "policy": "pairwise"}
FORECAST: dict[str, Label] = {"detector": "cusum", "policy": "least-latency"}

SEEDS = (1, 2, 3)
"""Those of the five towns also in the quick size: each draws rates of its own, and one alone decides nothing."""


def grid(size: Size) -> list[Run]:
    """Every detector with every policy."""
    seeds, phase_s, towns_s = (SEEDS[:1], 10.0, 60.0) if size is Size.QUICK else (SEEDS, 30.0, 180.0)
    return [
        Run(
            {"protocol": PROTOCOL, "load": load, "source": source, "seed": seed, **method},
            {
                "seed": seed,
                "protocol": {"name": PROTOCOL, "options": method},
                **(in_sequence(source, phase_s) if load == NINE else _in_towns(source, seed, towns_s)),
            },
        )
        for load in LOADS
        for source in SOURCES
        for method in methods()
        for seed in (SEEDS if load == TOWNS else seeds)
    ]


def _in_towns(source: str, seed: int, duration_s: float) -> dict[str, Any]:
    return {
        "duration_s": duration_s,
        "warmup_s": 15.0,
        **FIVE_TOWNS,
        "traffic": changing_traffic(seed, duration_s, source),
    }


def methods() -> list[dict[str, Label]]:
    """Every detector with every policy."""
    return [{"detector": detector, "policy": policy} for detector in DETECTORS for policy in POLICIES]


def name_of(method: dict[str, Label]) -> str:
    """For people."""
    return f"{method['detector']}, {method['policy']}"


# --- tables ---


def tables(results: Results) -> list[Table]:
    """One for each load: latency, switches and, where all loads change together, the time to settle. And by seed."""
    return [*(_table(results.where(load=load), load) for load in LOADS), _by_seed(results.where(load=TOWNS))]


def _by_seed(results: Results) -> Table:
    """Both policies on the means of cusum."""
    columns = (Column("sources"), Column("seed"), *(Column(policy, 0) for policy in POLICIES), Column("ratio", 2))
    rows: list[Row] = []
    for source in SOURCES:
        for seed in SEEDS:
            rule, forecast = (results.last_ms(source=source, seed=seed, **method) for method in (DEFAULT, FORECAST))
            rows.append((source, seed, rule, forecast, rule / forecast))
    return Table(f"{TOWNS}: the policies on cusum's means, latencies in ms", columns, rows, section_by=0)


def _table(results: Results, load: str) -> Table:
    figures = [("latency, ms", 0), ("switches per minute", 1), ("settled after, s", 1)][: 3 if load == NINE else 2]
    columns = (
        Column("detector"),
        Column("policy"),
        *(Column(f"{source}: {figure}", digits) for figure, digits in figures for source in SOURCES),
    )
    rows: list[Row] = []
    for method in methods():
        latencies = [results.last_ms(source=source, **method) for source in SOURCES]
        others = [
            results.figure(figure, source=source, **method)
            for figure in ("switches_per_minute", "mean_settle_s")[: len(figures) - 1]
            for source in SOURCES
        ]
        rows.append((str(method["detector"]), str(method["policy"]), *latencies, *others))
    return Table(f"{load}: the whole run, changes included", columns, rows, section_by=0)


# --- claims ---


def any_policy_does_where_all_change_together(results: Results) -> Outcome:
    """On the means of cusum."""
    above = [
        (ratio, f"{method['policy']}, {source}")
        for method in (DEFAULT, FORECAST)
        for source in SOURCES
        for ratio in [results.last_ms(load=NINE, source=source, **method) / _best_ms(results, NINE, source)]
    ]
    most, where = worst(above)
    return outcome(most <= 1.05, f"at most {most:.3f} × the best ({where})")


def neither_policy_wins_where_sites_change_one_by_one(results: Results) -> Outcome:
    """On the means of cusum, averaged over the seeds."""
    ratios = [
        results.last_ms(load=TOWNS, source=source, **DEFAULT) / results.last_ms(load=TOWNS, source=source, **FORECAST)
        for source in SOURCES
    ]
    figures = " and ".join(
        f"{ratio:.2f} × the forecast ({source})" for ratio, source in zip(ratios, SOURCES, strict=True)
    )
    near = lowest(ratios) >= 1 / 1.1 and lowest(1 / ratio for ratio in ratios) >= 1 / 1.1
    return outcome(near, f"the papers' rule takes {figures}")


def the_papers_detector_loses_with_poisson(results: Results) -> Outcome:
    """With the same policy."""
    ratios = [
        results.last_ms(load=load, source="poisson", **PAPERS) / results.last_ms(load=load, source="poisson", **DEFAULT)
        for load in LOADS
    ]
    figures = " and ".join(f"{ratio:.2f} × cusum ({load})" for ratio, load in zip(ratios, LOADS, strict=True))
    return outcome(lowest(ratios) > 1, figures)


def regular_sources_hardly_need_a_choice(results: Results) -> Outcome:
    """Between the detectors that look for shifts, with the papers' policy."""
    found = [
        results.last_ms(load=NINE, source="quasi-periodic", detector=detector, policy="pairwise")
        for detector in ("cusum", "kalman")
    ]
    spread = max(found) / min(found)
    return outcome(spread <= 1.02, f"cusum {found[0]:.0f}, kalman {found[1]:.0f} ms")


def _best_ms(results: Results, load: str, source: str) -> float:
    return lowest(results.last_ms(load=load, source=source, **method) for method in methods())


# --- picture ---

COLOURS = {"mean-shift": "#D55E00", "ewma": "#E69F00", "cusum": "#009E73", "kalman": "#0072B2"}
MARKERS = {"pairwise": "o", "least-latency": "s"}


def draw(axes: list[Axes], results: Results) -> None:
    """Switches and latency: towards the lower left is better. One panel for each load and source."""
    panels = iter(axes)
    for load in LOADS:
        for source in SOURCES:
            panel = next(panels)
            _draw_methods(panel, results.where(load=load, source=source))
            panel.set_title(f"{load}, {sources(source)}")
    for panel in axes:
        panel.margins(0.12)
        panel.set_xlabel("switches per minute, all sites together")
    for panel in axes[::2]:
        panel.set_ylabel("mean last-recipient latency (ms)")
    axes[0].figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=4)


def _draw_methods(panel: Axes, results: Results) -> None:
    for method in methods():
        switches, latency = results.figure("switches_per_minute", **method), results.last_ms(**method)
        style = {"color": COLOURS[str(method["detector"])], "marker": MARKERS[str(method["policy"])]}
        panel.plot([switches], [latency], linestyle="none", markersize=9, label=name_of(method), **style)


STUDY = Study(
    name="detectors-and-policies",
    title="Detectors and switching policies while load changes",
    source="hybrid report, section 9: left open there",
    question=(
        "The dynamic hybrid protocol measures how often each site speaks, and lets each site decide on its role. Four "
        "detectors turn gaps into a mean, two policies turn means and delays into a role. Which are best, where five "
        "sites change their loads together, and where fourteen do so one by one and all the time?"
    ),
    metric=LAST_RECIPIENT + " Beside it, how often sites switch, and how soon latency settles.",
    grid=grid,
    tables=tables,
    claims=(
        Claim(
            "Where all loads change together either policy on cusum's means comes within 5 % of the best of all.",
            "expected by us",
            any_policy_does_where_all_change_together,
        ),
        Claim(
            "Where sites change one by one neither policy on cusum's means is better by more than 10 %.",
            "seen by us",
            neither_policy_wins_where_sites_change_one_by_one,
        ),
        Claim(
            "With Poisson sources the papers' detector costs latency, beside cusum with the same policy.",
            "expected by us",
            the_papers_detector_loses_with_poisson,
        ),
        Claim(
            "With quasi-periodic sources it matters little which of cusum and kalman is taken: 2 % at most.",
            "expected by us",
            regular_sources_hardly_need_a_choice,
        ),
    ),
    pictures=(
        Picture(
            "detectors-and-policies",
            "Latency and switches of each detector (colour) with each policy (marker): lower and further left is "
            "better. Above and below differ in scale, and neither begins at zero.",
            draw,
            rows=2,
            columns=2,
            shared="row",
            size_inches=(14.0, 10.0),
        ),
    ),
    measure=Changing,
    notes=(
        "A switch is a decision: to go active, to go passive, or to ask another sequencer.",
        "Settled is defined as in the study scenarios-in-sequence, and averaged over the eight changes. Where sites "
        "change one by one a change is hardly over when the next begins, so it is not told for the five towns.",
        "Each of the nine scenarios lasts 30 s (quick: 10 s), the run in the five towns 180 s (quick: 60 s), "
        "the first 15 of which do not count for the latency.",
        "We had expected the papers' rule on cusum's means, the default, to come within 15 % of the best everywhere. "
        "With seed 1 in the five towns it takes up to 1.36 times as long as the forecast, and we claimed then that the "
        "forecast is better where sites change one by one. With seed 2 it is the other way round, as the last table "
        "shows. So that claim is gone, and the one in its place is about the average over three seeds.",
    ),
)
