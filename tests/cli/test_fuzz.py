"""`ordercast fuzz` as a person meets it."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner, Result

from ordercast.cli.main import main
from ordercast.verify.fuzz import campaign, case


def call(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["fuzz", *arguments])


def test_seeds_that_pass_say_what_was_met() -> None:
    result = call("--seeds", "6")
    assert result.exit_code == 0
    assert result.output.startswith("6 seeds, 0 failed; ")
    assert "in each hour of processor time" in result.output
    assert "Participants were told: " in result.output
    assert "steady" in result.output


def test_the_same_for_programs() -> None:
    result = call("--seed", "3", "--json")
    told = json.loads(result.output)
    assert (told["totals"]["seeds"], told["failures"]) == (1, [])
    assert told["totals"]["events"] > 0


def test_a_failure_gives_the_command_that_runs_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(case, "_convergence", lambda simulation, case: "convergence: made up")
    outcome = campaign.run_seed(3)
    monkeypatch.setattr(campaign, "run_seeds", lambda seeds, protocol: iter([(3, outcome)]))
    result = call("--seed", "3", "--shrink")
    assert result.exit_code == 1
    assert "seed 3: convergence: made up\n  again: ordercast fuzz --seed 3\n" in result.output
    assert "  smaller: ordercast fuzz --picks \n" in result.output


def test_a_list_of_picks_is_a_whole_case() -> None:
    result = call("--picks", "1,0,7")
    assert (result.exit_code, result.output) == (0, "no violation, and the core has converged\n")


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("--picks", "1,x"), "expected whole numbers with commas between them"),
        (("--protocol", "gossip"), "unknown protocol gossip"),
    ],
)
def test_wrong_use_says_what_to_do(arguments: tuple[str, ...], hint: str) -> None:
    result = call(*arguments)
    assert result.exit_code == 2
    assert hint in result.output
