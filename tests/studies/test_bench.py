"""The benchmarks run; their figures are nobody's business here."""

from __future__ import annotations

import json

import pytest
from bench.__main__ import main
from bench.bundles import BundleRun, StackName
from bench.durability import SMOKE_RUNS
from bench.log import LOADS, POLICIES
from bench.simpy_multicast import Group
from bench.simulator import SMOKE, scenario
from bench.stack import LAYERS, PROTOCOLS
from bench.timing import Stopwatch, watched
from click.testing import CliRunner
from tools.wan.tap import why_unfit

from ordercast.planning.detectors.catalogue import DETECTORS
from ordercast.site.storage.store import Store

LACKING = why_unfit()


@pytest.mark.parametrize(
    "name", ["campaign", "durability", "live", "log", "simulator", "stack", "wan", "wan-scenarios"]
)
def test_the_list_names_it(name: str) -> None:
    assert f"python -m bench {name}" in CliRunner().invoke(main, []).stdout


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


@pytest.mark.skipif(LACKING is not None, reason=LACKING or "")
def test_the_smallest_size_measures_the_switch() -> None:
    done = CliRunner().invoke(main, ["wan", "--smoke", "--json"])
    assert done.exit_code == 0, done.output
    value = json.loads(done.stdout)
    assert [each["realtime"] for each in value["packets"]] == [True, False]
    assert all(each["sent_per_s"] > 0 and each["added_us_p50"] >= 0 for each in value["packets"])
    assert all(each["frames_per_megabyte"] > 0 for each in value["streams"])


# --- the full stack ---


def test_the_smallest_size_measures_every_layer_of_every_protocol() -> None:
    done = CliRunner().invoke(main, ["stack", "--smoke", "--json"])
    assert done.exit_code == 0, done.output
    value = json.loads(done.stdout)
    cases = [(protocol, bodies) for protocol in PROTOCOLS for bodies in (1, 3)]
    assert [(each["protocol"], each["bodies"]) for each in value["speeds"]] == cases
    layers = ["simulator", "stack", "ordering", *LAYERS]
    for protocol, bodies in cases:
        costs = [each for each in value["costs"] if (each["protocol"], each["bodies"]) == (protocol, bodies)]
        assert [each["layer"] for each in costs] == layers
        assert sum(each["share"] for each in costs) == pytest.approx(1)
        assert all(each["events_per_delivery"] > 0 for each in costs)


@pytest.mark.parametrize("stack", ["ideal", "full"])
def test_a_run_delivers_every_message_of_every_bundle_everywhere(stack: StackName) -> None:
    assert BundleRun("hybrid", stack, 7, 20).run() == 20 * 7 * 5


class Outer:
    """Calls an inner one."""

    def call(self) -> str:
        return Inner().call()


class Inner:
    """Is called."""

    def call(self) -> str:
        return "called"


def test_a_stopwatch_counts_each_call_once_and_leaves_no_trace() -> None:
    watch, original = Stopwatch("rest"), Inner.__dict__["call"]
    with watched(watch, [(Outer, "call", "outer"), (Inner, "call", "inner")]):
        watch.start()
        assert [Outer().call(), Outer().call(), Inner().call()] == ["called"] * 3
        watch.stop()
    assert watch.calls == {"rest": 0, "outer": 2, "inner": 3}
    assert watch.left == {"rest": 3, "outer": 2, "inner": 0}
    assert Inner.__dict__["call"] is original
    assert list(watch.seconds()) == ["rest", "outer", "inner"]


# --- the ordered log ---


def test_the_smallest_size_appends_in_every_way() -> None:
    done = CliRunner().invoke(main, ["log", "--smoke", "--json"])
    assert done.exit_code == 0, done.output
    rows = json.loads(done.stdout)
    ways = [f"log, fsync {policy}" for policy in POLICIES]
    assert [row["way"] for row in rows if row["call_us"] is not None] == ways * len(LOADS)
    assert {row["load"] for row in rows} == {load.name for load in LOADS}
    assert CliRunner().invoke(main, ["log", "--smoke"]).stdout.count("log, fsync always") == len(LOADS)


def test_a_few_crashes_are_counted_by_what_was_special_about_them() -> None:
    done = CliRunner().invoke(main, ["durability", "--smoke", "--json"])
    assert done.exit_code == 0, done.output
    value = json.loads(done.stdout)
    assert sum(times for name, times in value.items() if name.startswith("fsync ")) == value["runs"] == SMOKE_RUNS


def test_a_crash_that_the_log_does_not_come_through_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Store, "begin_life", lambda self: 0)
    done = CliRunner().invoke(main, ["durability", "--runs", "1000"])
    assert done.exit_code == 1
    assert "life 0 again, after life 0" in done.stderr
