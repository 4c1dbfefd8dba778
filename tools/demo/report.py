"""The report of the demonstration: one page and one picture."""

from __future__ import annotations

import base64
from html import escape
from pathlib import Path
from typing import Any

from ordercast.studies.framework.figures import LIMIT_STYLE
from ordercast.studies.framework.figures import STYLE as LOOK
from ordercast.studies.framework.html import STYLE
from tools.demo.measures import Measures, Outcome
from tools.demo.plan import BACK_S, KILLED_S, LOAD_S, PHASES, SITES, VICTIM

COLOURS = dict(zip(SITES, ("#0072B2", "#56B4E9", "#009E73", "#D55E00", "#E69F00"), strict=True))


def draw(measures: Measures, outcomes: list[Outcome], roles: list[tuple[float, str, str]], directory: Path) -> Path:
    """Latency of every message over time, with the limit, and what happened; returns the SVG's path."""
    import matplotlib
    from matplotlib.figure import Figure

    style: Any = LOOK
    with matplotlib.rc_context(style):
        figure = Figure(figsize=(10.0, 6.0), layout="constrained")
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
        for name, colour in COLOURS.items():
            found = [
                (sent.at_s, (max(sent.delivered_s.values()) - sent.at_s) * 1000)
                for sent in measures.sent.values()
                if sent.site == name and len(sent.delivered_s) >= len(SITES) - 1
            ]
            if found:
                above.plot(*zip(*found, strict=True), ".", color=colour, markersize=2.5, label=name)
        begun = 0.0
        for phase, outcome in zip(PHASES, outcomes, strict=True):
            label = "limit" if begun == 0 else None
            above.hlines(outcome.limit_ms, begun, begun + phase.seconds, label=label, **_without_marker(LIMIT_STYLE))
            above.axvline(begun, color="#999999", linewidth=0.8)
            above.annotate(phase.title, (begun + 0.4, 1.01), xycoords=("data", "axes fraction"), fontsize=9)
            begun += phase.seconds
        above.axvspan(KILLED_S, BACK_S, color="#f4d5d5", label=f"{VICTIM} is down")
        above.set_yscale("log")
        above.set_ylabel("delivered everywhere after, ms")
        above.legend(loc="upper left", ncols=4, markerscale=4, fontsize=9)
        for place, name in enumerate(SITES):
            for at_s, site, what in roles:
                if site == name and 0 <= at_s <= LOAD_S:
                    marker = "^" if "active" in what else "v"
                    below.plot(at_s, place, marker, color=COLOURS[name])
        below.set_yticks(range(len(SITES)), list(SITES))
        below.set_xlabel("seconds of load;  ▲ becomes active  ▼ becomes passive")
        below.set_xlim(0, LOAD_S)
        path = directory / "latency.svg"
        figure.savefig(path, metadata={"Date": None})
        figure.savefig(path.with_suffix(".png"), metadata={"Software": None})
    return path


def _without_marker(style: dict[str, object]) -> dict[str, object]:
    return {"colors": style["color"], "linestyles": style["linestyle"], "linewidth": style["linewidth"]}


def write_page(directory: Path, picture: Path, outcomes: list[Outcome], checks: dict[str, tuple[bool, str]]) -> Path:
    """The page, which refers to nothing outside itself."""
    image = base64.b64encode(picture.read_bytes()).decode()
    phases = "".join(
        f"<tr><td>{escape(phase.title)}</td><td>{outcome.messages:,}</td><td>{outcome.p50_ms:.0f}</td>"
        f"<td>{outcome.mean_ms:.0f}</td><td>{outcome.p99_ms:.0f}</td><td>{outcome.limit_ms:.0f}</td>"
        f"<td>{outcome.mean_ms / outcome.limit_ms:.2f}</td></tr>"
        for phase, outcome in zip(PHASES, outcomes, strict=True)
    )
    verdicts = "".join(
        f'<tr><td class="verdict {"reproduced" if good else "missed"}">{"good" if good else "BAD"}</td>'
        f"<td>{escape(name)}</td><td>{escape(detail)}</td></tr>"
        for name, (good, detail) in checks.items()
    )
    page = directory / "report.html"
    page.write_text(
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>ordercast: demonstration</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        "<h1>Five sites on two LANs</h1>\n"
        "<p>Real daemons with certificates on this machine; the ways between them are emulated. The group orders by "
        f"the dynamic hybrid protocol. {VICTIM} is killed and comes back as a new life, with its log.</p>\n"
        f'<figure><img alt="latencies over time" src="data:image/svg+xml;base64,{image}"></figure>\n'
        "<h2>Latency</h2>\n<p>From the multicast to the delivery at the last site, in ms, beside the least mean that "
        "any ordering can guarantee on these ways. The first seconds of each phase and the crash are not in it.</p>\n"
        '<table class="figures"><tr><th>load</th><th>messages</th><th>p50</th><th>mean</th><th>p99</th><th>limit</th>'
        f"<th>mean / limit</th></tr>{phases}</table>\n"
        f"<h2>Verdict</h2>\n<table>{verdicts}</table>\n</body>\n</html>\n",
        encoding="utf-8",
    )
    return page
