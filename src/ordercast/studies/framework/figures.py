"""Pictures: one look for all studies, saved as SVG and PNG. matplotlib is loaded only when one is drawn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from ordercast.studies.framework.results import Results

Axes = Any
"""A matplotlib Axes."""

Draw = Callable[[list[Axes], Results], None]

COLOURS = {
    "token-site": "#0072B2",
    "migrating-token": "#56B4E9",
    "symmetric": "#D55E00",
    "rs-symmetric": "#E69F00",
    "hybrid": "#009E73",
}
"""One colour per protocol in every picture; told apart by colour-blind readers, too."""

MARKERS = {"token-site": "s", "migrating-token": "x", "symmetric": "^", "rs-symmetric": "v", "hybrid": "o"}

LIMIT_STYLE: dict[str, Any] = {"color": "#000000", "linestyle": "--", "linewidth": 1.4}
REFERENCE_COLOUR = "#777777"

STYLE: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.dpi": 100,
    "font.size": 11,
    "grid.color": "#dddddd",
    "legend.edgecolor": "none",
    "legend.framealpha": 0.9,
    "lines.linewidth": 1.8,
    "lines.markersize": 6,
    "savefig.dpi": 150,
    "svg.hashsalt": "ordercast",
}


class Picture(Struct, frozen=True):
    """What to draw, on one or more panels."""

    name: str
    """Of the files, without their endings."""
    caption: str
    draw: Draw
    rows: int = 1
    columns: int = 1
    """Of panels."""
    shared: Literal["all", "row"] = "all"
    """Which panels have the same scales."""
    size_inches: tuple[float, float] = (8.0, 5.0)
    applies: Callable[[Results], bool] = lambda results: True
    """Whether the results hold what the picture shows: some is run only in full."""


def sources(source: str) -> str:
    """A kind of traffic source for people: the last one is named after a person."""
    return f"{'Poisson' if source == 'poisson' else source} sources"


def protocol_line(protocol: str, **changes: Any) -> dict[str, Any]:
    """How a protocol's line looks, with changes."""
    return {"color": COLOURS[protocol], "marker": MARKERS[protocol], "label": protocol, **changes}


def save(picture: Picture, results: Results, directory: Path) -> None:
    """Write NAME.svg and NAME.png; the same results give the same bytes."""
    import matplotlib
    from matplotlib.figure import Figure

    style: Any = STYLE
    with matplotlib.rc_context(style):
        figure = Figure(figsize=picture.size_inches, layout="constrained")
        axes = figure.subplots(
            picture.rows, picture.columns, sharex=picture.shared, sharey=picture.shared, squeeze=False
        )
        picture.draw(list(axes.flat), results)
        figure.savefig(directory / f"{picture.name}.svg", metadata={"Date": None})
        figure.savefig(directory / f"{picture.name}.png", metadata={"Software": None})
