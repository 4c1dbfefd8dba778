"""What scenario files may say, what they mean, and that their documentation is complete."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ordercast.core.errors import WrongUse
from ordercast.planning.topology import Delays, Lan, Wan
from ordercast.protocols.ordering.catalogue import PROTOCOLS
from ordercast.simulator.fault_checks import ALWAYS, FAULT_KEYS
from ordercast.simulator.scenario import (
    Change,
    Fault,
    ProtocolChoice,
    Scenario,
    ScenarioError,
    Traffic,
    from_table,
    load,
    parse,
)
from ordercast.verify.run import RunResult

DOCUMENT = (Path(__file__).parents[2] / "docs" / "scenarios.md").read_text(encoding="utf8")
BLOCKS = re.findall(r"```toml\n(.*?)```", DOCUMENT, re.DOTALL)


def small_table(**changes: Any) -> dict[str, Any]:
    """The least that a scenario must say."""
    return {
        "protocol": {"name": "symmetric"},
        "lan": [{"name": "west", "sites": ["A", "B"], "delay_ms": 20}],
        "traffic": [{"sites": ["A"], "rate": 10}],
        **changes,
    }


def test_defaults_are_those_of_the_document() -> None:
    scenario = from_table(small_table())
    assert (scenario.seed, scenario.duration_s, scenario.warmup_s) == (1, 60.0, 0.0)
    choice = scenario.protocol
    assert (choice.tickets, choice.estimates, choice.level, choice.resilience) == ("piggyback", "online", "agreed", 0)
    traffic = scenario.traffic[0]
    assert (traffic.source, traffic.phase, traffic.size_bytes) == ("quasi-periodic", "random", 100)
    assert traffic.level is None


CRASH = {"kind": "crash", "at_s": 1, "sites": ["A"]}


@pytest.mark.parametrize(
    ("stack", "faults", "is_group"),
    [
        (None, [], False),
        (None, [CRASH], True),
        ("ideal", [], False),
        ("ideal", [CRASH], False),
        ("full", [], True),
        ("full", [CRASH], True),
    ],
)
def test_the_full_stack_is_the_default_where_there_are_faults(
    stack: str | None, faults: list[dict[str, Any]], is_group: bool
) -> None:
    protocol = {"name": "symmetric"} if stack is None else {"name": "symmetric", "stack": stack}
    assert from_table(small_table(protocol=protocol, fault=faults)).is_group == is_group


def test_the_level_of_the_traffic_goes_before_that_of_the_protocol() -> None:
    protocol = {"name": "symmetric", "level": "safe"}
    traffic = [{"sites": ["A"], "rate": 1, "level": "agreed"}]
    assert not from_table(small_table(protocol=protocol, traffic=traffic)).is_group
    with pytest.raises(ScenarioError, match=r"^scenario: protocol.level: safe needs protocol.stack = \"full\"$"):
        from_table(small_table(protocol=protocol))


def test_whole_numbers_will_do_where_numbers_are_expected() -> None:
    assert from_table(small_table(duration_s=7)).duration_s == 7.0


def test_sites_are_numbered_in_the_order_of_the_file() -> None:
    lans = [{"name": "b", "sites": ["Z", "A"], "delay_ms": 1}, {"name": "a", "sites": ["M"], "delay_ms": 1}]
    wan = [{"between": ["a", "b"], "delay_ms": 5}]
    scenario = from_table(small_table(lan=lans, wan=wan))
    assert scenario.site_names() == ["Z", "A", "M"]
    assert scenario.topology().names == ("Z", "A", "M")


def test_lans_may_be_joined_over_other_lans() -> None:
    lans = [{"name": name, "sites": [name.upper()], "delay_ms": 1} for name in "abc"]
    wan = [{"between": ["a", "b"], "delay_ms": 5}, {"between": ["b", "c"], "delay_ms": 7}]
    topology = from_table(small_table(lan=lans, wan=wan, traffic=[{"sites": ["A"], "rate": 1}])).topology()
    assert topology.mean_us[topology.site("A")][topology.site("C")] == 14_000


def test_a_lan_out_of_reach_is_named() -> None:
    lans = [{"name": name, "sites": [name.upper()], "delay_ms": 1} for name in "abcd"]
    wan = [{"between": ["a", "b"], "delay_ms": 5}, {"between": ["c", "d"], "delay_ms": 7}]
    with pytest.raises(ScenarioError, match=r"^scenario: wan: expected a path from a to c, d$"):
        from_table(small_table(lan=lans, wan=wan))


def test_the_largest_variance_that_is_allowed_is_possible() -> None:
    lan = {"name": "west", "sites": ["A", "B"], "delay_ms": 20, "variance": 202.99}
    assert from_table(small_table(lan=[lan])).lan[0].variance == 202.99


def test_mistakes_are_wrong_use() -> None:
    with pytest.raises(WrongUse, match=r"^mine: seed: expected a whole number, not the string \"x\"$"):
        from_table(small_table(seed="x"), "mine")


def test_a_table_that_is_none() -> None:
    with pytest.raises(ScenarioError, match=r"^scenario: expected tables and keys, not a list$"):
        from_table([])


def test_many_names_are_not_all_listed() -> None:
    lan = {"name": "west", "sites": [f"s{number}" for number in range(30)], "delay_ms": 1}
    with pytest.raises(ScenarioError, match=r'unknown site "Q", expected one of s0, .*, s19 and 10 more$'):
        from_table(small_table(lan=[lan], traffic=[{"sites": ["Q"], "rate": 1}]))


def test_a_long_value_is_shortened() -> None:
    with pytest.raises(ScenarioError, match=r'not "x{39}…"$'):
        from_table(small_table(protocol={"name": "hybrid", "tickets": "x" * 1000}))


def test_load_reads_a_file(tmp_path: Path) -> None:
    path = tmp_path / "first.toml"
    path.write_text(BLOCKS[0])
    assert load(path) == parse(BLOCKS[0].encode())


@pytest.mark.parametrize("block", BLOCKS)
def test_every_snippet_of_the_document_is_valid(block: str) -> None:
    table = msgspec.toml.decode(block)
    whole = table if "traffic" in table and "protocol" in table else {**msgspec.toml.decode(BLOCKS[0]), **table}
    assert from_table(whole).site_names()


@pytest.mark.parametrize("kind", [Scenario, ProtocolChoice, Lan, Wan, Delays, Traffic, Fault, Change, RunResult])
def test_the_document_names_every_key(kind: type[msgspec.Struct]) -> None:
    tables = {"protocol", "delays", "lan", "wan", "traffic", "fault", "change"}
    for name in kind.__struct_fields__:
        shown = f"[{name}]" if kind is Scenario and name in tables else f"`{name}`"
        assert shown in DOCUMENT, f"{kind.__name__}.{name} is not described"


def test_the_document_names_every_protocol_option_and_fault() -> None:
    for name, protocol in PROTOCOLS.items():
        assert f'`"{name}"`' in DOCUMENT
        for option in protocol.options:
            assert re.search(rf"^\| `{name}` \| `{option}` \|", DOCUMENT, re.MULTILINE)
    for kind, (needed, possible) in FAULT_KEYS.items():
        cells = " | ".join(", ".join(f"`{key}`" for key in keys) for keys in (needed, possible))
        assert re.sub(r" +", " ", f"| `{kind}` | {cells} |") in re.sub(r" +", " ", DOCUMENT)


def test_every_fault_key_belongs_to_a_kind() -> None:
    used = {key for keys in FAULT_KEYS.values() for part in keys for key in part}
    assert used | set(ALWAYS) == set(Fault.__struct_fields__)


def test_a_byte_order_mark_is_no_mistake() -> None:
    assert parse(b"\xef\xbb\xbf" + BLOCKS[0].encode()) == parse(BLOCKS[0].encode())
