"""Scenario files: what they may say, and the checks that turn a mistake into one line.

The format is described in docs/scenarios.md.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

from ordercast.core.errors import WrongUse
from ordercast.core.mistakes import Mistake, shown
from ordercast.core.shape import shape
from ordercast.planning import topology
from ordercast.planning.topology import Delays, Lan, Topology, Wan
from ordercast.simulator.network_checks import check_network
from ordercast.simulator.scenario_checks import check


class ScenarioError(WrongUse):
    """A scenario that cannot be run: names the file, the key and what was expected."""

    def __init__(self, file: str, key: str, expected: str) -> None:
        file = file if file.isprintable() else shown(file)
        super().__init__(f"{file}: {key}: {expected}" if key else f"{file}: {expected}")


LevelName = Literal["fifo", "causal", "agreed", "safe"]


class ProtocolChoice(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The `[protocol]` table."""

    name: str
    stack: Literal["ideal", "full"] | None = None
    tickets: Literal["piggyback", "flush"] = "piggyback"
    estimates: Literal["online", "known"] = "online"
    level: LevelName = "agreed"
    resilience: int = 0
    options: dict[str, Any] = {}


class Traffic(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A `[[traffic]]` entry: the same load at each of some sites."""

    sites: list[str]
    rate: float | UnsetType = UNSET
    closed_loop: int | UnsetType = UNSET
    source: Literal["quasi-periodic", "poisson", "periodic"] = "quasi-periodic"
    phase: Literal["random", "aligned"] = "random"
    size_bytes: int = 100
    level: LevelName | None = None
    from_s: float = 0.0
    until_s: float | None = None


FaultKind = Literal[
    "crash",
    "recover",
    "pause",
    "partition",
    "heal",
    "loss",
    "duplicate",
    "reorder",
    "slow-link",
    "clock-step",
    "clock-drift",
]


class Fault(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A `[[fault]]` entry."""

    kind: FaultKind
    at_s: float
    sites: list[str] | UnsetType = UNSET
    for_s: float | UnsetType = UNSET
    until_s: float | UnsetType = UNSET
    one_way: bool | UnsetType = UNSET
    probability: float | UnsetType = UNSET
    between: tuple[str, str] | UnsetType = UNSET
    extra_ms: float | UnsetType = UNSET
    by_ms: float | UnsetType = UNSET
    ppm: float | UnsetType = UNSET


class Change(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A `[[change]]` entry: the group goes over to another ordering protocol while it runs."""

    at_s: float
    protocol: str
    options: dict[str, Any] = {}


class NetworkTables(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a scenario file says of the network."""

    lan: list[Lan] = []
    wan: list[Wan] = []
    delays: Delays | None = None

    def topology(self) -> Topology:
        """The network that is described."""
        if self.delays is not None:
            return topology.from_delays(self.delays)
        return topology.from_lans(self.lan, self.wan)

    def site_names(self) -> list[str]:
        """All sites in the order of appearance, which is the order of their ids."""
        return self.delays.sites if self.delays is not None else [name for lan in self.lan for name in lan.sites]


class Scenario(NetworkTables, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A whole scenario file."""

    protocol: ProtocolChoice
    seed: int = 1
    duration_s: float = 60.0
    warmup_s: float = 0.0
    traffic: list[Traffic] = []
    fault: list[Fault] = []
    change: list[Change] = []

    @property
    def is_group(self) -> bool:
        """Whether sites run the full stack, with links and membership; by default they do if there are faults, or
        changes of the protocol."""
        stack = self.protocol.stack
        return bool(self.fault or self.change) if stack is None else stack == "full"


def load(path: Path) -> Scenario:
    """Read and check a scenario file."""
    return parse(_read(path), str(path))


def load_network(path: Path) -> NetworkTables:
    """Read and check the network of a file; what else a scenario may say can be there, and is not looked at."""
    table = read_tables(path)
    others = [name for name in Scenario.__struct_fields__ if name not in NetworkTables.__struct_fields__]
    try:
        network = shape({name: value for name, value in table.items() if name not in others}, NetworkTables)
        check_network(network)
    except Mistake as mistake:
        raise ScenarioError(str(path), mistake.key, mistake.expected) from mistake
    return network


def read_tables(path: Path) -> dict[str, Any]:
    """A file's nested tables, as TOML reads them: what they say is not looked at."""
    return _tables(_read(path), str(path))


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ScenarioError(str(path), "", f"cannot be read ({error.strerror})") from error


def parse(text: bytes, file: str = "scenario") -> Scenario:
    """Read and check a scenario given as TOML text."""
    return from_table(_tables(text, file), file)


def _tables(text: bytes, file: str) -> dict[str, Any]:
    try:
        tables: dict[str, Any] = msgspec.toml.decode(text.removeprefix(BOM_UTF8))
    except (ValueError, RecursionError) as error:
        raise ScenarioError(file, "", f"is not TOML: {error}") from error
    return tables


def from_table(table: Any, file: str = "scenario") -> Scenario:
    """Check a scenario given as nested tables, as TOML reads them."""
    try:
        scenario = shape(table, Scenario)
        check(scenario)
    except Mistake as mistake:
        raise ScenarioError(file, mistake.key, mistake.expected) from mistake
    return scenario
