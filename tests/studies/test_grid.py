"""Running a grid: the same results, however many processes take part."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ordercast.simulator.scenario import ScenarioError
from ordercast.studies.framework.grid import run_grid


def point(seed: int, duration_s: float, rate: float = 20.0) -> dict[str, Any]:
    return {
        "seed": seed,
        "duration_s": duration_s,
        "protocol": {"name": "hybrid", "estimates": "known"},
        "lan": [{"name": "lan", "sites": ["A", "B", "C"], "delay_ms": 20.0, "variance": 0.05}],
        "traffic": [{"sites": ["A", "B"], "rate": rate, "source": "poisson"}],
    }


POINTS = [(key, point(seed=key, duration_s=0.5 + key % 3)) for key in range(6)]


def test_a_pool_finds_what_one_process_finds() -> None:
    alone = dict(run_grid(POINTS, workers=1))
    together = dict(run_grid(POINTS, workers=2))
    assert sorted(alone) == [key for key, _ in POINTS]
    assert alone == together


def test_long_runs_go_first() -> None:
    keys = [key for key, _ in run_grid([(0, point(1, 0.2)), (1, point(1, 2.0)), (2, point(1, 0.2, 400.0))], workers=1)]
    assert keys == [2, 1, 0]


def test_a_point_that_is_no_scenario_is_refused_before_anything_runs() -> None:
    broken = {**point(1, 1.0), "protocol": {"name": "hybrid", "estimates": "guessed"}}
    with pytest.raises(ScenarioError, match="run 7 of the grid"):
        next(run_grid([(1, point(1, 1.0)), (7, broken)], workers=1))


ROOT = Path(__file__).parents[2]

ENDLESS = """
import time
from multiprocessing import active_children
from threading import Thread
from ordercast.studies.framework.grid import run_grid
from tests.studies.test_grid import point

def tell():
    while len(active_children()) < 2:
        time.sleep(0.01)
    print("both work", flush=True)

if __name__ == "__main__":
    Thread(target=tell, daemon=True).start()
    list(run_grid([(key, point(key, 1e6)) for key in range(2)], workers=2))
"""


def test_workers_end_with_their_parent(tmp_path: Path) -> None:
    """They hold its output, which ends only when all of them have."""
    script = tmp_path / "endless.py"
    script.write_text(ENDLESS)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "src")))}
    process = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, env=environment)
    assert process.stdout is not None
    assert process.stdout.readline() == b"both work\n"
    process.kill()
    output, _ = process.communicate(timeout=120)
    assert output == b""
