"""`python -m tools.wan`, by hand."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tools.wan import namespaces
from tools.wan.__main__ import main
from tools.wan.emulation import Wan, running
from tools.wan.tap import why_unfit

from ordercast.core.errors import NotFit
from ordercast.planning.topology import Delays, from_delays
from ordercast.simulator.scenario import ScenarioError, load_network
from tests.source import ROOT

LACKING = why_unfit()
needs_namespaces = pytest.mark.skipif(LACKING is not None, reason=LACKING or "")

SCENARIO = ROOT / "examples" / "nine-scenarios" / "scenario-4.toml"


def wan(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tools.wan", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@needs_namespaces
def test_from_up_to_down() -> None:
    up = wan("up", SCENARIO, "--json")
    assert up.returncode == 0, up.stderr
    number = str(json.loads(up.stdout)["number"])

    def status() -> dict[tuple[str, str], Any]:
        pairs = json.loads(wan("-n", number, "status", "--json").stdout)["pairs"]
        return {(pair["source"], pair["to"]): pair for pair in pairs}

    try:
        assert status()["A", "D"]["delay_ms"] == 540
        assert wan("-n", number, "cut", "A,B", "D", "--one-way").returncode == 0
        assert [ends for ends, pair in status().items() if pair["cut"]] == [("A", "D"), ("B", "D")]
        assert wan("-n", number, "heal").returncode == 0
        assert wan("-n", number, "set", "A", "D", "--delay-ms", "70", "--loss", "0.25").returncode == 0
        assert not any(pair["cut"] for pair in status().values())
        assert [status()["D", "A"][key] for key in ("delay_ms", "loss")] == [70, 0.25]
        assert re.search(r"A → D +70\.000 ", wan("-n", number, "status").stdout)
        seen = wan("-n", number, "exec", "E", "ip", "-4", "-o", "addr", "show", "wan0")
        assert f"10.77.{number}.5/24" in seen.stdout
        assert "unknown site 'X'" in wan("-n", number, "exec", "X", "true").stderr
    finally:
        assert wan("-n", number, "down").returncode == 0
    assert wan("-n", number, "status").returncode == 2 or int(number) in running()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["up", "nowhere.toml"], "nowhere.toml: cannot be read"),
        (["-n", "255", "status"], "network 255 is not up"),
        (["set", "A", "B"], "nothing to change"),
    ],
)
def test_wrong_use_is_one_line(arguments: list[str], complaint: str) -> None:
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 2
    assert complaint in done.output
    assert len(done.output.splitlines()) == 1


def test_without_root_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert namespaces.why_unfit() == "network namespaces need root: run this with sudo"
    topology = from_delays(Delays(sites=["A"], one_way_ms=[[0]]))
    with pytest.raises(NotFit, match=r"root|/dev/net/tun"), Wan(topology):
        pass
    assert CliRunner().invoke(main, ["clean"]).exit_code == 3


# --- the file ---


def written(folder: Path, text: str) -> Path:
    path = folder / "network.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_of_delays_is_enough(tmp_path: Path) -> None:
    path = written(tmp_path, '[delays]\nsites = ["A", "B"]\none_way_ms = [[0, 5], [7, 0]]\n')
    assert load_network(path).topology().mean_us == ((0, 5000), (7000, 0))


def test_a_scenario_is_a_file_of_a_network() -> None:
    assert load_network(SCENARIO).site_names() == ["A", "B", "C", "D", "E"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('[[lan]]\nname = "x"\nsites = ["A"]\n', "lan[0].delay_ms: missing"),
        ('[[lans]]\nname = "x"\n', "lans: unknown key, did you mean lan?"),
        ("seed = 1\n", "lan: missing, expected [[lan]] tables or one [delays] table"),
        ("lan = [", "is not TOML"),
    ],
)
def test_a_mistake_names_file_and_key(tmp_path: Path, text: str, complaint: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ScenarioError) as mistake:
        load_network(path)
    assert str(mistake.value).startswith(f"{path}: {complaint}")
