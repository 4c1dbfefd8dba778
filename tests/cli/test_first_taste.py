"""What the README shows of the first run is what the first run shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from ordercast.cli.main import main

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
(SCENARIO,) = re.findall(r"```toml\n(.*?)```", README, re.DOTALL)
(SHOWN,) = re.findall(r"```text\n\$ \./dev run ordercast simulate first\.toml\n(.*?)```", README, re.DOTALL)
OTHERS = re.findall(r"`(?:--protocol )?([a-z-]+)` (?:it is )?([\d.]+) ms", README)


def simulated(directory: Path, monkeypatch: pytest.MonkeyPatch, *options: str) -> list[str]:
    """The lines that the command prints, without blanks at their ends and between tables."""
    monkeypatch.chdir(directory)
    Path("first.toml").write_text(SCENARIO)
    result = CliRunner().invoke(main, ["simulate", "first.toml", *options])
    assert result.exit_code == 0
    return lines(result.stdout)


def lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def test_the_table_is_the_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert simulated(tmp_path, monkeypatch) == lines(SHOWN)


def test_the_text_takes_its_figures_from_the_table() -> None:
    last, _, _, _, _, times = next(line for line in lines(SHOWN) if "last recipient" in line).split()[2:]
    assert f"delivered everywhere {last} ms after its multicast, {times} times the least" in README


def test_two_others_are_compared() -> None:
    assert [name for name, _ in OTHERS] == ["token-site", "rs-symmetric"]


@pytest.mark.parametrize(("protocol", "latency_ms"), OTHERS)
def test_other_protocols_take_what_the_text_says(
    protocol: str, latency_ms: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = simulated(tmp_path, monkeypatch, "--protocol", protocol)
    assert next(line for line in shown if "last recipient" in line).split()[2] == latency_ms
