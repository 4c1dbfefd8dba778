"""`ordercast simulate`: the result for programs and for people, and the choices of the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest
from click.testing import CliRunner, Result
from msgspec import Struct

from ordercast.cli import simulate
from ordercast.cli.main import main
from ordercast.core.effects import Out
from ordercast.core.events import Event, FromAbove, FromBelow, Now
from ordercast.core.layer import Waiting
from ordercast.core.messages import Bundle
from ordercast.core.trace import Kind
from ordercast.protocols.ordering.catalogue import PROTOCOLS
from ordercast.records.traces import read_traces
from ordercast.verify.run import run
from tests.cli.scenarios import MATRIX, SMALL, changed, with_fault
from tests.cli.test_main import in_a_process

Invoke = Callable[..., Result]


@pytest.fixture
def invoke(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Invoke:
    """Writes a scenario and simulates it."""
    monkeypatch.chdir(tmp_path)

    def run_it(text: str, *arguments: str) -> Result:
        Path("s.toml").write_text(text)
        return CliRunner().invoke(main, ["simulate", "s.toml", *arguments])

    return run_it


def result_of(done: Result) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_json_has_the_promised_keys(invoke: Invoke) -> None:
    done = invoke(SMALL, "--json")
    assert (done.exit_code, done.stderr) == (0, "")
    result = result_of(done)
    assert list(result) == [
        "protocol",
        "seed",
        "messages",
        "events",
        "latency_ms",
        "stability_ms",
        "buffer_messages",
        "index_of_latency",
        "overhead_per_multicast",
        "limit_ms",
        "violations",
        "stalled",
    ]
    assert list(result["latency_ms"]) == ["last", "mean_recipient", "sender", "per_site"]
    assert list(result["latency_ms"]["per_site"]) == ["A", "B", "C"]
    assert list(result["latency_ms"]["per_site"]["B"]["last"]) == ["mean", "p50", "p99", "max"]
    assert list(result["overhead_per_multicast"]) == ["transmissions", "multicasts"]
    assert (result["violations"], result["stalled"]) == ([], None)
    assert result["limit_ms"]["last"] <= result["latency_ms"]["last"]["mean"]


def test_the_same_bytes_whatever_the_hash_seed(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(SMALL)
    outputs = {in_a_process("simulate", str(path), "--json", PYTHONHASHSEED=seed).stdout for seed in ("0", "1", "77")}
    assert len(outputs) == 1
    assert json.loads(outputs.pop())["messages"] > 0


def test_the_seed_of_the_command_line_counts(invoke: Invoke) -> None:
    other = invoke(SMALL, "--json", "--seed", "7").stdout
    assert other == invoke(changed(SMALL, "seed = 1", "seed = 7"), "--json").stdout
    assert other != invoke(SMALL, "--json").stdout


@pytest.mark.parametrize(
    ("seed", "complaint"),
    [("-1", "expected at least 0, not -1"), (str(1 << 63), f"expected at most {(1 << 63) - 1}, not {1 << 63}")],
)
def test_a_seed_out_of_range(seed: str, complaint: str, invoke: Invoke) -> None:
    done = invoke(SMALL, "--seed", seed)
    assert (done.exit_code, done.stderr) == (2, f"--seed: {complaint}\n")


def test_another_protocol_drops_the_options_it_does_not_know(invoke: Invoke) -> None:
    done = invoke(SMALL, "--json", "--protocol", "token-site")
    assert result_of(done)["protocol"] == "token-site"
    assert done.stderr == "protocol.options.active is left out: token-site has no such option\n"


def test_another_protocol_keeps_the_options_it_knows(invoke: Invoke) -> None:
    done = invoke(MATRIX, "--json", "--protocol", "migrating-token")
    assert done.stderr == ""
    assert done.stdout == invoke(changed(MATRIX, "token-site", "migrating-token"), "--json").stdout


def test_an_unknown_protocol_is_told_the_known_ones(invoke: Invoke) -> None:
    done = invoke(SMALL, "--protocol", "hybrd")
    assert done.exit_code == 2
    assert done.stderr == (
        f'--protocol: unknown protocol "hybrd", expected one of {", ".join(PROTOCOLS)}; did you mean hybrid?\n'
    )


def test_the_table_shows_latencies_against_the_limit(invoke: Invoke) -> None:
    done = invoke(SMALL)
    result = result_of(invoke(SMALL, "--json"))
    lines = {line.strip().split("  ")[0]: line.split() for line in done.stdout.splitlines() if line.strip()}
    for label, key in (("last recipient", "last"), ("mean recipient", "mean_recipient")):
        mean, limit = result["latency_ms"][key]["mean"], result["limit_ms"][key]
        assert lines[label][2:] == [
            *(f"{result['latency_ms'][key][each]:.1f}" for each in ("mean", "p50", "p99", "max")),
            f"{limit:.1f}",
            f"{mean / limit:.2f}",
        ]
    assert lines["B"][1] == f"{result['latency_ms']['per_site']['B']['last']['mean']:.1f}"
    assert "Beyond each message itself: 0.00 multicasts, 0.00 transmissions." in done.stdout
    assert "good: no violation; every site delivered the same sequence" in done.stdout
    assert done.stderr == "", "speed and progress are for terminals"


def test_nothing_measured_is_said_and_is_not_bad(invoke: Invoke) -> None:
    done = invoke(changed(SMALL, "warmup_s = 1", "warmup_s = 3.9999"))
    assert done.exit_code == 0
    assert "No message sent after the warm-up was delivered at every site" in done.stdout


def test_a_site_name_is_not_taken_for_markup(invoke: Invoke) -> None:
    done = invoke(MATRIX.replace('"A"', '"[bold]"'))
    assert done.exit_code == 0
    assert " [bold] " in done.stdout


CRASH_OF_C = 'kind = "crash"\nat_s = 2\nsites = ["C"]'


def test_with_faults_the_full_stack_runs_and_survives_them(invoke: Invoke) -> None:
    done = invoke(with_fault(CRASH_OF_C), "--json")
    result = result_of(done)
    assert (done.exit_code, result["violations"], result["stalled"]) == (0, [], None)
    assert result["overhead_per_multicast"]["multicasts"] is None
    in_full = changed(with_fault(CRASH_OF_C), 'name = "hybrid"', 'name = "hybrid"\nstack = "full"')
    assert invoke(in_full, "--json").stdout == done.stdout


def test_a_group_without_a_majority_stalls(invoke: Invoke) -> None:
    done = invoke(with_fault('kind = "crash"\nat_s = 2\nsites = ["B", "C"]'), "--json")
    stalled = result_of(done)["stalled"]
    assert (done.exit_code, stalled["site"]) == (1, "A")


@pytest.mark.parametrize("level", ["fifo", "causal", "agreed", "safe"])
def test_every_level_is_delivered_on_the_full_stack(level: str, invoke: Invoke) -> None:
    choices = f'name = "hybrid"\nstack = "full"\nlevel = "{level}"\nresilience = 2'
    done = invoke(changed(SMALL, 'name = "hybrid"', choices), "--json")
    result = result_of(done)
    assert (done.exit_code, result["violations"], result["stalled"]) == (0, [], None)
    assert result["messages"] > 0
    assert result["latency_ms"]["last"]["mean"] > 0


def test_a_stall_names_who_waits_for_what(invoke: Invoke) -> None:
    text = changed(with_fault(CRASH_OF_C), 'name = "hybrid"', 'name = "hybrid"\nstack = "ideal"')
    done = invoke(text, "--json")
    stalled = result_of(done)["stalled"]
    assert done.exit_code == 1
    assert stalled["site"] in ("A", "B")
    assert stalled["waiting_for"].endswith(" from C")
    table = invoke(text)
    assert table.exit_code == 1
    assert f"stalled: {stalled['site']} waits for {stalled['waiting_for']}, since" in table.stdout


class Hasty(Struct):
    """A planted bug: delivers whatever arrives as it arrives."""

    WIRE: ClassVar = Bundle

    def handle(self, event: Event, now: Now, out: Out) -> None:
        match event:
            case FromAbove(message=message):
                out.multicast(message)
            case FromBelow(sender=sender, message=message):
                out.deliver(sender, message)

    def waiting_for(self) -> Waiting | None:
        return None


def test_violations_are_shown_and_are_a_bad_answer(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulate, "run", lambda scenario, **more: run(scenario, build=lambda setup: Hasty(), **more))
    done = invoke(SMALL, "--json")
    violations = result_of(done)["violations"]
    assert done.exit_code == 1
    assert violations[0].startswith("total order: ")
    table = invoke(SMALL)
    assert table.exit_code == 1
    for violation in violations:
        assert f"violated: {violation}\n" in table.stdout
    assert "good" not in table.stdout


def test_a_trace_holds_every_delivery(invoke: Invoke, tmp_path: Path) -> None:
    done = invoke(SMALL, "--json", "--trace", "traces")
    assert done.stderr == "trace: traces/s-hybrid-1.parquet\n"
    records = list(read_traces(tmp_path / "traces"))
    messages = result_of(done)["messages"]
    assert sum(record.kind == Kind.MULTICAST for record in records) == messages
    assert sum(record.kind == Kind.DELIVER for record in records) == 3 * messages


def test_a_trace_changes_nothing(invoke: Invoke) -> None:
    assert invoke(SMALL, "--json", "--trace", "traces").stdout == invoke(SMALL, "--json").stdout


def test_a_trace_needs_a_directory(invoke: Invoke) -> None:
    Path("taken").write_text("")
    done = invoke(SMALL, "--trace", "taken")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == "taken: traces need a directory, and this is a file\n"
