"""A small grid, as text and as points."""

from __future__ import annotations

from pathlib import Path

SCENARIO = """\
duration_s = 0.5

[protocol]
name = "hybrid"
stack = "ideal"

[[lan]]
name = "west"
sites = ["A", "B"]
delay_ms = 5

[[lan]]
name = "east"
sites = ["C"]
delay_ms = 5

[[wan]]
between = ["west", "east"]
delay_ms = 30

[[traffic]]
sites = ["A", "C"]
rate = 40
source = "poisson"
"""

GRID = """\
scenario = "small.toml"

[grid]
"protocol.name" = ["hybrid", "token-site"]
"wan[0].delay_ms" = [30, 60.5]
seed = { count = 2 }
"""


def write_grid_file(directory: Path, grid: str = GRID, scenario: str = SCENARIO) -> Path:
    """The grid file; the scenario lies beside it."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "small.toml").write_text(scenario)
    path = directory / "grid.toml"
    path.write_text(grid)
    return path
