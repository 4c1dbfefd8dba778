"""`ordercast explore`."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from ordercast.cli.main import main
from ordercast.verify.scopes import SCOPES, Scope
from tests.verify.bugs.catalogue import BUGS


def call(*arguments: str) -> Any:
    return CliRunner().invoke(main, ["explore", *arguments])


def test_one_scope() -> None:
    result = call("hybrid-2x3")
    assert result.exit_code == 0
    assert "hybrid-2x3" in result.stdout
    assert "4 of 4" in result.stdout
    assert "good" in result.stdout
    assert result.stderr == ""


def test_json() -> None:
    (exploration,) = json.loads(call("hybrid-2x3", "--json").stdout)["explorations"]
    assert exploration["scope"] == "hybrid-2x3"
    assert exploration["counterexample"] is None
    assert exploration["states"] > exploration["terminal_states"] > 0
    assert all(exploration["goals"].values())


def test_the_list_of_scopes() -> None:
    result = call("--list")
    assert result.exit_code == 0
    assert all(name in result.stdout for name in SCOPES)


def test_the_list_of_one_protocol() -> None:
    scopes = json.loads(call("--list", "--protocol", "hybrid", "--json").stdout)["scopes"]
    assert [scope["name"] for scope in scopes] == [name for name in SCOPES if name.startswith("hybrid")]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["hybrid-9x9"], "SCOPE: expected all or one of token-site-3x2"),
        (
            ["hybrid-2x3", "--protocol", "symmetric"],
            "--protocol: expected a protocol that a chosen scope is about (hybrid)",
        ),
        (["--protocol", "nonsense"], "--protocol: "),
    ],
)
def test_wrong_use_is_one_line(arguments: list[str], expected: str) -> None:
    result = call(*arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith(expected)
    assert result.stderr.count("\n") == 1


def only(monkeypatch: pytest.MonkeyPatch, scope: Scope) -> None:
    monkeypatch.setattr("ordercast.cli.explore.SCOPES", {scope.name: scope})


def test_a_violation_is_told_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    (bug,) = (bug for bug in BUGS if bug.name == "symmetric breaks ties for itself")
    only(monkeypatch, bug.scope)
    broken = type("Broken", (), {"build": staticmethod(bug.build)})
    monkeypatch.setattr("ordercast.verify.scopes.PROTOCOLS", {"symmetric": broken})
    result = call()
    assert result.exit_code == 1
    assert "violated: symmetric-2x3: total order" in result.stdout
    assert "1. " in result.stdout
    assert "message 0 of A" in result.stdout


def test_a_missed_goal_is_a_bad_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, replace(SCOPES["symmetric-2x3"], messages=0))
    result = call()
    assert result.exit_code == 1
    assert "missed: symmetric-2x3: a promise was sent: this never happened" in result.stdout
