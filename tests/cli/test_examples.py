"""Every example runs, and says what its source says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from ordercast.simulator.scenario import Scenario, from_table, load
from ordercast.verify.run import run

EXAMPLES = Path(__file__).parents[2] / "examples"
PATHS = sorted(EXAMPLES.rglob("*.toml"))
MEASURED = [EXAMPLES / "aws5.toml", EXAMPLES / "gcp20.toml"]

# The papers' table: high or low load of each process in scenarios 1 to 9.
PAPERS_LOAD = {
    "A": "HHHHHHHHH",
    "B": "HHLHHLHLH",
    "C": "HLLHLLLLH",
    "D": "LLLHHHHHH",
    "E": "LLLLLLHHH",
}
RATES = {"H": 100.0, "L": 1.0}


def table_of(path: Path) -> Any:
    return msgspec.toml.decode(path.read_bytes())


def name_of(path: Path) -> str:
    return str(path.relative_to(EXAMPLES))


def rates_of(scenario: Scenario) -> dict[str, Any]:
    return {name: traffic.rate for traffic in scenario.traffic for name in traffic.sites}


def test_all_examples_are_there() -> None:
    nine = [f"nine-scenarios/scenario-{number}.toml" for number in range(1, 10)]
    assert [name_of(path) for path in PATHS] == ["aws5.toml", "gcp20.toml", *nine, "thirty-processes.toml"]


@pytest.mark.parametrize("path", PATHS, ids=name_of)
def test_an_example_runs(path: Path) -> None:
    short = from_table({**table_of(path), "duration_s": 3, "warmup_s": 0.5}, path.name)
    result = run(short, with_limit=False)
    assert result.good
    assert result.latency_ms.last is not None


@pytest.mark.parametrize("path", PATHS, ids=name_of)
def test_an_example_explains_itself(path: Path) -> None:
    comment = path.read_text(encoding="utf8").split("\n\n")[0]
    assert all(line.startswith("#") for line in comment.splitlines())
    assert f"ordercast simulate examples/{name_of(path)}" in comment


@pytest.mark.parametrize("number", range(1, 10))
def test_the_nine_scenarios_are_the_papers(number: int) -> None:
    scenario = load(EXAMPLES / "nine-scenarios" / f"scenario-{number}.toml")
    assert rates_of(scenario) == {name: RATES[loads[number - 1]] for name, loads in PAPERS_LOAD.items()}
    assert [lan.sites for lan in scenario.lan] == [["A", "B", "C"], ["D", "E"]]
    topology = scenario.topology()
    near, far = topology.mean_us[topology.site("A")][1], topology.mean_us[topology.site("A")][topology.site("D")]
    assert (near, far) == (20_000, 540_000)
    assert {traffic.source for traffic in scenario.traffic} == {"quasi-periodic"}
    assert (scenario.duration_s, scenario.warmup_s) == (60, 15)
    assert (scenario.protocol.name, scenario.protocol.estimates) == ("hybrid", "known")


def test_thirty_processes_on_one_lan() -> None:
    scenario = load(EXAMPLES / "thirty-processes.toml")
    assert len(scenario.lan) == 1
    assert scenario.lan[0].delay_ms == 100
    assert list(rates_of(scenario).values()) == [10] * 30


@pytest.mark.parametrize("path", MEASURED, ids=name_of)
def test_measured_delays_name_their_source(path: Path) -> None:
    comment = path.read_text(encoding="utf8").split("\n\n")[0]
    assert "Source: vitorenesduarte/fantoch, latency_" in comment
    assert "Apache-2.0 or MIT" in comment


@pytest.mark.parametrize("path", MEASURED, ids=name_of)
def test_measured_delays_are_plausible(path: Path) -> None:
    """Half of a round trip, so nearly the same both ways."""
    delays = load(path).delays
    assert delays is not None
    assert delays.distribution == "constant"
    for row in range(len(delays.sites)):
        for column in range(row):
            there, back = delays.one_way_ms[row][column], delays.one_way_ms[column][row]
            assert there == pytest.approx(back, abs=0.3)
            assert 3 < there < 200
