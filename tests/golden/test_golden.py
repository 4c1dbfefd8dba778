"""Plays the scenario at the head of each file here, and compares what happened with the rest of the file.

`./dev golden` rewrites the files; read the difference before you keep it. A new file needs its head alone.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ordercast.protocols.ordering.catalogue import PROTOCOLS
from ordercast.simulator.scenario import Scenario, parse
from tests.golden.player import Player

HERE = Path(__file__).parent
FILES = sorted(HERE.glob("*.txt"))
SEPARATOR = "\n----\n"
REWRITE = os.environ.get("ORDERCAST_REWRITE_GOLDEN") == "1"

every_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)


def head_of(path: Path) -> str:
    return path.read_text(encoding="utf-8").partition(SEPARATOR)[0]


def scenario_of(path: Path) -> Scenario:
    return parse(head_of(path).encode(), path.name)


@every_file
def test_the_protocol_does_what_the_file_says(path: Path) -> None:
    played = head_of(path) + SEPARATOR + Player(scenario_of(path)).play()
    if REWRITE:
        path.write_text(played, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == played, "if the change is right: ./dev golden"


@every_file
def test_the_file_says_first_what_it_shows_and_where_the_paper_does(path: Path) -> None:
    opening = head_of(path).split("\n\n")[0]
    assert all(line.startswith("# ") for line in opening.splitlines())
    assert "section" in opening


@every_file
def test_all_sites_deliver_the_same(path: Path) -> None:
    player = Player(scenario_of(path))
    player.play()
    orders = list(player.orders.values())
    assert orders[0]
    assert all(order == orders[0] for order in orders)


def test_every_protocol_has_a_golden_scenario() -> None:
    played = {PROTOCOLS[scenario_of(path).protocol.name].build for path in FILES}
    assert played == {protocol.build for protocol in PROTOCOLS.values()}
