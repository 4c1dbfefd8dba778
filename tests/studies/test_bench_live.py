"""The benchmarks of live groups and of their peers run; their figures are nobody's business here."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest
from bench.__main__ import main
from bench.live.bounds import Bound
from bench.live.measuring import Measurement
from bench.live.scenarios import EXAMPLES, prepared, rates_of
from bench.live.systems import System, own_systems, peer_systems
from bench.live.tables import DISTURBED, print_tables
from bench.peers import corosync, syncobj
from bench.peers.loads import HEADER, LAST, SAMPLE, Latency, Load, Order, Outcome, Running, order_of, run
from bench.peers.member import SECOND_NS, Member
from click.testing import CliRunner
from tools.wan.tap import why_unfit

from ordercast.core.errors import NotFit

SECONDS = 0.3
NO_COROSYNC, NO_SYNCOBJ, NO_WAN = corosync.why_missing(), syncobj.why_missing(), why_unfit()

COROSYNC = pytest.mark.skipif(NO_COROSYNC is not None, reason=NO_COROSYNC or "")
SYNCOBJ = pytest.mark.skipif(NO_SYNCOBJ is not None, reason=NO_SYNCOBJ or "")


def run_both(group: Callable[[], AbstractContextManager[Running]]) -> None:
    """Flat out, and paced; a member that is late does not count against the system."""
    with group() as running:
        flat = running.run(Load(3, 100, 0.0, SECONDS, 0.1))
    with group() as running:
        paced = running.run(Load(3, 100, 50.0, SECONDS, 0.1))
    assert flat.order is Order.SAME
    assert flat.latency_ms is None
    assert paced.order is Order.SAME
    assert paced.latency_ms is not None
    assert 0 < paced.latency_ms.own_p50 <= paced.latency_ms.last_p50 <= paced.latency_ms.last_p99


@COROSYNC
def test_corosync_orders_alike_at_every_member() -> None:
    run_both(lambda: corosync.cluster(3, crypto=True))


@SYNCOBJ
def test_pysyncobj_orders_alike_at_every_member() -> None:
    run_both(lambda: nullcontext(syncobj.Cluster(syncobj.TUNED_PERIOD_MS)))


@pytest.mark.slow
def test_our_own_groups_order_alike_at_every_member() -> None:
    (system,) = own_systems(["token-site"], ["interval"], [True])
    assert system.name == "token-site, fsync interval, TLS on"
    run_both(lambda: system.begin(3))


@pytest.mark.slow
def test_the_command_prints_what_it_has_measured() -> None:
    options = ["--sites", "3", "--sizes", "64", "--rates", "20", "--orderings", "token-site", "--tls", "off"]
    done = CliRunner().invoke(main, ["live", *options, "--peers", "", "--seconds", str(SECONDS), "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    flat, paced = found["runs"]
    (bound,) = found["bounds"]
    assert min(bound["sqlite_per_s"], bound["sockets_per_s"]) > 0
    assert (flat["system"], flat["rate"], flat["order"]) == ("token-site, fsync interval, TLS off", 0, "same")
    assert (paced["rate"], paced["order"]) == (20, "same")


@pytest.mark.slow
@pytest.mark.skipif(NO_WAN is not None, reason=NO_WAN or "")
def test_a_scenario_runs_live_and_in_the_simulator() -> None:
    options = ["--scenarios", "1", "--protocols", "token-site", "--seconds", "2", "--warmup", "1", "--json"]
    done = CliRunner().invoke(main, ["wan-scenarios", *options])
    assert done.exit_code == 0, done.output
    (case,) = json.loads(done.stdout)
    assert case["live"] >= case["limit"]
    assert case["predicted"] >= case["limit"]


# --- without a group ---


def member(tmp_path: Path, me: int = 0, rate: str = "0", spread: float = 0.0) -> Member:
    made = Member([str(me), "2", "40", rate, "0", "1000", str(tmp_path / f"{me}.samples")], spread)
    made.from_ns, made.until_ns = 0, 1 << 62
    return made


def reported(of: Member, capsys: pytest.CaptureFixture[str]) -> dict[str, int]:
    of.report()
    value: dict[str, int] = json.loads(capsys.readouterr().out)
    return value


def test_members_that_see_another_order_report_another_digest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other, third = member(tmp_path), member(tmp_path, 1), member(tmp_path, 1)
    first, second = one.messages(2)
    one.on_delivered([first, second])
    other.on_delivered([first])
    other.on_delivered([second])
    third.on_delivered([second, first])
    reports = [reported(each, capsys) for each in (one, other, third)]
    assert [each["delivered"] for each in reports] == [2, 2, 2]
    assert reports[0]["digest"] == reports[1]["digest"] != reports[2]["digest"]
    assert one.under_way == 0


def test_what_is_taken_back_does_not_count(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = member(tmp_path, rate="1"), member(tmp_path, rate="1")
    first, second, third = one.messages(3)
    one.on_delivered([first, third], 0)
    one.on_delivered([one.last_message()], 2)
    one.on_retracted(1)
    one.on_delivered([second, third], 1)
    for each in (first, second, third):
        other.on_delivered([each])
    assert not one.has_ended
    assert one.under_way == 0
    assert reported(one, capsys)["digest"] == reported(other, capsys)["digest"]
    samples = (tmp_path / "0.samples").read_bytes()
    assert [number for _, number, _, _ in SAMPLE.iter_unpack(samples)] == [0, 1, 2]


def test_a_load_has_ended_with_the_last_message_of_every_member(tmp_path: Path) -> None:
    one = member(tmp_path)
    one.on_delivered([one.message(0), one.last_message()])
    assert not one.has_ended
    one.on_delivered([HEADER.pack(1, LAST, 0)])
    assert one.has_ended


@pytest.mark.parametrize("spread", [0.0, 0.02])
def test_messages_are_due_at_the_rate_asked_for(tmp_path: Path, spread: float) -> None:
    one = member(tmp_path, 1, "100", spread)
    one.until_ns = 10 * SECOND_NS
    dues_ns = list(one.dues_ns())
    assert dues_ns == sorted(dues_ns)
    assert 990 <= len(dues_ns) <= 1010
    assert spread or dues_ns[0] == SECOND_NS // 200


def test_a_member_that_fails_is_named() -> None:
    load = Load(2, 40, 0.0, SECONDS, 0.0)
    with pytest.raises(NotFit, match="member 0 of the load could not begin"):
        run(load, lambda member, arguments: [sys.executable, "-c", ""])
    fails = "print('ready', flush=True); input(); raise SystemExit(1)"
    with pytest.raises(NotFit, match=r"member \d of the load has failed"):
        run(load, lambda member, arguments: [sys.executable, "-c", fails])


def test_what_is_missing_is_said_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setitem(os.environ, "PATH", "")
    assert peer_systems(["corosync"], said.append) == []
    assert said == [f"without corosync: Corosync is not installed: {corosync.INSTALL}"]


def test_a_table_has_ratios_and_tells_what_went_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    flat, paced = Load(3, 1024, 0.0, 1.0), Load(3, 64, 200.0, 1.0)
    quick, slow = Latency(1.0, 2.0, 3.0, 4.0, 3.0), Latency(2.0, 4.0, 6.0, 8.0, 6.0)

    def measured(name: str, load: Load, outcome: Outcome | None) -> Measurement:
        return Measurement(name, name == "own", load, outcome, "", None, 0.5)

    print_tables(
        [
            measured("Corosync, crypto off", flat, Outcome((100.0, 50.0), Order.SAME, None)),
            measured("own", flat, Outcome((90.0, 75.0), Order.SAME, None, view_changes=1)),
            measured("other", flat, None),
            measured("Corosync, crypto off", paced, Outcome((600.0,), Order.SAME, quick)),
            measured("own", paced, Outcome((600.0,), Order.SAME, slow)),
            measured("other", paced, Outcome((600.0,), Order.DIFFERENT, slow)),
        ],
        [Bound(3, 1024, 150.0, 1000.0), Bound(5, 1024, 90.0, 80.0)],
    )
    printed = capsys.readouterr().out
    assert f"{DISTURBED}75 (1.50×)" in printed
    assert "2.00 (2.00×) / 6.00 (2.00×), p99 4.0 / 8.0" in printed
    assert "150/s into SQLite at every site, or get 1,000/s through sockets; own: 50% of the lower" in printed
    assert "failed" in printed
    assert "order different" in printed


def test_what_is_missing_is_no_other_order() -> None:
    all_three = [(0, 0), (1, 0), (0, 1)]
    assert order_of([all_three, all_three[1:]]) is Order.INCOMPLETE
    assert order_of([all_three, [(1, 0), (0, 0)]]) is Order.DIFFERENT
    assert order_of([all_three, [*all_three, (1, 0)]]) is Order.DIFFERENT


def test_every_scenario_is_prepared_alike() -> None:
    scenario = prepared(EXAMPLES / "scenario-5.toml", "token-site", 20.0, 10.0)
    assert rates_of(scenario) == (100.0, 100.0, 1.0, 100.0, 1.0)
    assert (scenario.duration_s, scenario.warmup_s) == (30.0, 10.0)
    choice = scenario.protocol
    assert (choice.stack, choice.tickets, choice.estimates) == ("full", "flush", "online")
    assert choice.options == {"site": "A"}


@pytest.mark.parametrize(
    "arguments",
    [
        ["live", "--sites", "three"],
        ["live", "--orderings", "anarchy"],
        ["live", "--tls", "maybe"],
        ["live", "--peers", "corosync,spread"],
        ["wan-scenarios", "--scenarios", "1,10"],
        ["wan-scenarios", "--protocols", "anarchy"],
    ],
)
def test_wrong_use_is_told(arguments: list[str]) -> None:
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 2
    assert f"{arguments[1]}: expected" in done.output


def test_systems_have_names_of_their_own() -> None:
    systems: list[System] = own_systems(["token-site", "adaptive"], ["always", "never"], [False, True])
    assert len({system.name for system in systems}) == 8
