"""The benchmark runs; its figures are nobody's business here."""

from __future__ import annotations

import json

from bench.__main__ import main
from bench.simpy_multicast import Group
from bench.simulator import SMOKE, scenario
from click.testing import CliRunner

from ordercast.planning.detectors.catalogue import DETECTORS


def test_the_list_names_the_simulator() -> None:
    assert "python -m bench simulator" in CliRunner().invoke(main, []).stdout


def test_the_smallest_size_measures_everything_once() -> None:
    done = CliRunner().invoke(main, ["simulator", "--smoke", "--json"])
    assert done.exit_code == 0, done.output
    value = json.loads(done.stdout)
    cases = [(each["sites"], each["protocol"], each["estimates"]) for each in value["speeds"]]
    assert cases == [
        (5, protocol, estimates) for protocol in ("rs-symmetric", "hybrid") for estimates in ("known", "online")
    ]
    assert [each["duration_s"] for each in value["memory"]] == list(SMOKE.memory_durations_s)


def test_the_detectors_are_measured_on_both_kinds_of_source() -> None:
    done = CliRunner().invoke(main, ["detectors", "--smoke", "--json"])
    assert done.exit_code == 0, done.output
    assert [(row["detector"], row["source"]) for row in json.loads(done.stdout)] == [
        (detector, source) for detector in DETECTORS for source in ("quasi-periodic", "poisson")
    ]
    assert CliRunner().invoke(main, ["detectors", "--smoke"]).stdout.count("poisson") == len(DETECTORS)


def test_simpy_delivers_every_message_everywhere() -> None:
    topology = scenario(5, "hybrid", "known", 1.0).topology()
    delivered = Group(topology, gap_us=100_000).run(1_000_000)
    assert delivered % 25 == 0
    assert delivered >= 9 * 25
