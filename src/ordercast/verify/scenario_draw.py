"""Draws small scenarios: a few sites on some network, some load, and often some faults.

Every decision is a `pick` of the chooser, so a seed gives the scenario again. What is drawn is the table that a
scenario file would hold, and it passes the checks of one.
"""

from __future__ import annotations

import json
import string
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, TypeVar

from ordercast.protocols.ordering.catalogue import PROTOCOLS, SITE
from ordercast.simulator.chooser import Chooser, SeededChooser

Table = dict[str, Any]
Item = TypeVar("Item")

HARMLESS = ("pause", "duplicate", "reorder", "slow-link")
"""Faults that every protocol survives on the idealised multicast."""

HARMFUL = ("crash", "loss", "partition")
"""Faults that nothing repairs there: a run with one may stall."""

SITES_MAX = 6
RATES = (2, 10, 40, 100)
DURATIONS_S = (0.3, 1.0, 2.5)
DELAYS_MS = (0.5, 2, 10, 40, 120)
SPREADS = (0.0, 0.05, 0.25)
"""Standard deviation as a part of the delay."""

LOOP_S = 0.1
"""How long a closed loop lasts: where messages come back at once it is very fast."""


def draw(seed: int) -> Table:
    """The scenario of a seed."""
    return _Draw(SeededChooser(f"scenario {seed}")).scenario(seed)


def may_stall(table: Table) -> bool:
    """Whether the scenario has faults after which waiting for ever is the right thing to do."""
    return any(fault["kind"] in HARMFUL for fault in table["fault"])


class _Draw:
    """Turns picks into the parts of a scenario."""

    def __init__(self, chooser: Chooser) -> None:
        self._pick = chooser.pick
        self._sites: list[str] = []
        self._duration_s = 0.0

    # --- decisions ---

    def one_of(self, items: Sequence[Item]) -> Item:
        return items[self._pick(len(items))]

    def chance(self, parts: int) -> bool:
        """True once in so many times; the tame choice is False."""
        return self._pick(parts) == parts - 1

    def some_of(self, items: Sequence[Item]) -> list[Item]:
        """At least one of them, in their order."""
        chosen = [item for item in items if self.chance(2)]
        return chosen or [self.one_of(items)]

    def moment_s(self) -> float:
        """Some time while there is traffic."""
        return round(self._duration_s * self._pick(100) / 100, 6)

    # --- the scenario ---

    def scenario(self, seed: int) -> Table:
        """The whole table."""
        self._sites = list(string.ascii_uppercase[: 2 + self._pick(SITES_MAX - 1)])
        self._duration_s = self.one_of(DURATIONS_S)
        return {
            "seed": seed,
            "duration_s": self._duration_s,
            "protocol": self.protocol(),
            **self.network(),
            "traffic": self.traffic(),
            "fault": self.faults(),
        }

    def protocol(self) -> Table:
        name = self.one_of(list(PROTOCOLS))
        return {
            "name": name,
            "stack": "ideal",
            "tickets": self.one_of(("piggyback", "flush")),
            "estimates": self.one_of(("online", "known")),
            "options": {key: self.option(kind) for key, kind in PROTOCOLS[name].options.items() if self.chance(2)},
        }

    def option(self, kind: str | tuple[str, ...]) -> Any:
        if isinstance(kind, tuple):
            return self.one_of(kind)
        return self.one_of(self._sites) if kind == SITE else self.some_of(self._sites)

    def network(self) -> Table:
        distribution = self.one_of(("chi2", "normal"))
        if self.chance(3):
            return {"delays": self.matrix(distribution)}
        first_of_lans = [place for place in range(1, len(self._sites)) if self.chance(3)]
        bounds = [0, *first_of_lans, len(self._sites)]
        lans = [
            {"name": f"lan{index}", "sites": self._sites[a:b], **self.delay(), "distribution": distribution}
            for index, (a, b) in enumerate(pairwise(bounds))
        ]
        wans = [
            {"between": [f"lan{index}", f"lan{self._pick(index)}"], **self.delay()} for index in range(1, len(lans))
        ]
        return {"lan": lans, "wan": wans}

    def delay(self) -> Table:
        delay_ms, spread = self.one_of(DELAYS_MS), self.one_of(SPREADS)
        return {"delay_ms": delay_ms, "variance": round((delay_ms * spread) ** 2, 6)}

    def matrix(self, distribution: str) -> Table:
        """Each direction of each pair by itself, so that a detour may be shorter."""
        pairs = [[{"delay_ms": 0, "variance": 0} if a == b else self.delay() for b in self._sites] for a in self._sites]
        return {
            "sites": self._sites,
            "one_way_ms": [[pair["delay_ms"] for pair in row] for row in pairs],
            "variance": [[pair["variance"] for pair in row] for row in pairs],
            "distribution": distribution,
        }

    def traffic(self) -> list[Table]:
        """Some sites are silent, others have several sources."""
        return [self.source() for _ in range(1 + self._pick(2 * len(self._sites)))]

    def source(self) -> Table:
        entry: Table = {"sites": [self.one_of(self._sites)]}
        if self.chance(8):
            from_s = self.moment_s()
            window = {"from_s": from_s, "until_s": round(from_s + LOOP_S, 6)}
            return {**entry, "closed_loop": 1 + self._pick(3), **window}
        entry["rate"] = self.one_of(RATES)
        entry["source"] = self.one_of(("periodic", "quasi-periodic", "poisson"))
        entry["phase"] = self.one_of(("aligned", "random"))
        if self.chance(3):
            entry["from_s"] = self.moment_s()
            entry["until_s"] = round(entry["from_s"] + self._duration_s * (1 + self._pick(10)) / 10, 6)
        return entry

    # --- faults ---

    def faults(self) -> list[Table]:
        """Half of the scenarios have none; of the others half have none that does harm."""
        if not self.chance(2):
            return []
        kinds = HARMLESS + HARMFUL if self.chance(2) else HARMLESS
        faults = [self.fault(self.one_of(kinds)) for _ in range(1 + self._pick(3))]
        return _survivable(faults, len(self._sites))

    def fault(self, kind: str) -> Table:
        fault: Table = {"kind": kind, "at_s": self.moment_s()}
        match kind:
            case "pause":
                return {**fault, "sites": self.some_of(self._sites), "for_s": self.one_of((0.01, 0.1, 1.0))}
            case "crash":
                return {**fault, "sites": [self.one_of(self._sites)]}
            case "partition":
                side = self.some_of(self._sites)[: len(self._sites) - 1]
                fault.update(sites=side, one_way=self.chance(3))
            case "slow-link":
                fault.update(between=self.two_sites(), extra_ms=self.one_of((1, 30, 300)))
            case _:
                fault["probability"] = self.one_of((0.01, 0.1, 0.5))
                fault.update({"between": self.two_sites()} if self.chance(2) else {})
        if self.chance(2):
            fault["until_s"] = round(fault["at_s"] + self._duration_s * (1 + self._pick(10)) / 10, 6)
        return fault

    def two_sites(self) -> list[str]:
        first = self._pick(len(self._sites))
        second = (first + 1 + self._pick(len(self._sites) - 1)) % len(self._sites)
        return [self._sites[first], self._sites[second]]


def _survivable(faults: list[Table], sites: int) -> list[Table]:
    """No site crashes twice, and one never does."""
    crashed: list[str] = []
    kept = []
    for fault in faults:
        if fault["kind"] == "crash":
            if fault["sites"][0] in crashed or len(crashed) + 1 == sites:
                continue
            crashed += fault["sites"]
        kept.append(fault)
    return kept


def as_toml(table: Table) -> str:
    """The scenario as a file that `ordercast simulate` reads."""
    plain = {key: value for key, value in table.items() if not isinstance(value, dict | list)}
    lines = _lines(plain)
    for key, value in table.items():
        entries = value if isinstance(value, list) else [value] if isinstance(value, dict) else []
        heading = f"[[{key}]]" if isinstance(value, list) else f"[{key}]"
        for entry in entries:
            lines += ["", heading, *_lines(entry)]
    return "\n".join(lines) + "\n"


def _lines(table: Table) -> list[str]:
    return [f"{key} = {_value(value)}" for key, value in table.items()]


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(_lines(value)) + " }" if value else "{}"
    return json.dumps(value)
