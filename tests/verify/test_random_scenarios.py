"""Small random scenarios: they run, they end, they find what is wrong, and they are the same everywhere."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import CliRunner

from ordercast.core.effects import Out
from ordercast.core.ids import SiteId
from ordercast.protocols.ordering.catalogue import PROTOCOLS
from ordercast.protocols.ordering.messages import Data, Tickets
from ordercast.protocols.ordering.token_site import TokenSite
from ordercast.simulator.scenario import from_table, parse
from ordercast.verify.random_scenarios import main, try_seed
from ordercast.verify.scenario_draw import HARMFUL, HARMLESS, as_toml, draw, may_stall
from tests.verify.bugs.catalogue import BUGS, RARE, Bug
from tests.verify.bugs.making import planted

SEEDS = 300
CHUNK = 30


def seeds_of(protocol: str) -> Iterator[int]:
    return (seed for seed in range(SEEDS) if draw(seed)["protocol"]["name"] == protocol)


@pytest.mark.parametrize("first", range(0, SEEDS, CHUNK))
def test_no_scenario_violates_anything_and_every_one_ends(first: int) -> None:
    for seed in range(first, first + CHUNK):
        verdict = try_seed(seed)
        assert verdict.complaints == [], f"python -m ordercast.verify.random_scenarios --first {seed} --toml"
        assert verdict.result is not None


def test_the_slice_covers_what_can_be_drawn() -> None:
    tables = [draw(seed) for seed in range(SEEDS)]
    faults = {fault["kind"] for table in tables for fault in table["fault"]}
    sources = {entry.get("source", "closed loop") for table in tables for entry in table["traffic"]}
    choices = {(table["protocol"]["name"], table["protocol"]["tickets"]) for table in tables}
    assert faults == {*HARMLESS, *HARMFUL}
    assert sources == {"periodic", "quasi-periodic", "poisson", "closed loop"}
    assert choices == {(name, policy) for name in PROTOCOLS for policy in ("piggyback", "flush")}
    assert {table["protocol"]["estimates"] for table in tables} == {"online", "known"}
    assert {len(from_table(table).site_names()) for table in tables} == {2, 3, 4, 5, 6}
    assert 0 < sum(map(may_stall, tables)) < SEEDS / 2


@pytest.mark.parametrize("seed", range(40))
def test_a_drawn_scenario_is_a_scenario_file(seed: int) -> None:
    table = draw(seed)
    assert parse(as_toml(table).encode()) == from_table(table)


FINDABLE = [bug for bug in BUGS if bug not in RARE]


@pytest.mark.parametrize("bug", FINDABLE, ids=[bug.name for bug in FINDABLE])
def test_the_slice_finds_planted_bugs(bug: Bug) -> None:
    assert any(try_seed(seed, build=bug.build).complaints for seed in seeds_of(bug.protocol))


class Restless(TokenSite):
    """Answers its own tickets with more of the same."""

    def on_receive(self, sender: SiteId, message: Data | Tickets, out: Out) -> None:
        super().on_receive(sender, message, out)
        if isinstance(message, Tickets) and sender == self.me:
            out.multicast(Tickets(message.ticket))


def senders(seed: int) -> set[str]:
    """Who multicasts: with more than one, some are not the token site, and wait for tickets of their own."""
    return {site for entry in draw(seed)["traffic"] for site in entry["sites"]}


def test_a_run_that_never_ends_is_stopped() -> None:
    seed = next(seed for seed in seeds_of("token-site") if len(senders(seed)) > 1)
    verdict = try_seed(seed, build=planted(Restless, "token-site"), events_max=5000)
    assert verdict.complaints == ["the run never ends"]
    assert verdict.result is None


# --- the command ---


def in_a_process_of_its_own(hash_seed: int) -> bytes:
    command = [sys.executable, "-m", "ordercast.verify.random_scenarios"]
    arguments = ["--seeds", "40", "--processes", "1", "--json"]
    environment = {**os.environ, "PYTHONHASHSEED": str(hash_seed)}
    return subprocess.run([*command, *arguments], env=environment, capture_output=True, check=True).stdout


def test_the_same_bytes_whatever_the_hash_seed() -> None:
    one, other = in_a_process_of_its_own(1), in_a_process_of_its_own(2)
    assert one == other
    assert one.count(b"\n") == 40


def call(*arguments: str) -> Any:
    return CliRunner().invoke(main, arguments)


def test_the_command_counts() -> None:
    result = call("--seeds", "12", "--processes", "1")
    assert result.exit_code == 0
    rows = [line.split() for line in result.stdout.splitlines()[1:]]
    assert [row[0] for row in rows] == list(PROTOCOLS)
    assert sum(int(row[1]) for row in rows) == 12


def test_several_processes_give_the_same_answers_in_the_same_order() -> None:
    assert (
        call("--seeds", "60", "--processes", "2", "--json").stdout
        == call("--seeds", "60", "--processes", "1", "--json").stdout
    )


def test_the_command_prints_a_scenario() -> None:
    result = call("--first", "7", "--toml")
    assert parse(result.stdout.encode()) == from_table(draw(7))


def test_the_command_fails_when_a_run_does(monkeypatch: pytest.MonkeyPatch) -> None:
    (bug,) = (bug for bug in BUGS if bug.name == "token-site counts from one")
    first = next(seeds_of("token-site"))
    broken = {**PROTOCOLS, "token-site": type(PROTOCOLS["token-site"])(bug.build, "broken", {})}
    monkeypatch.setattr("ordercast.verify.random_scenarios.PROTOCOLS", broken)
    result = call("--first", str(first), "--seeds", "1", "--processes", "1")
    assert result.exit_code == 1
    assert f"seed {first}, token-site: creation" in result.stdout
