"""Draw a case: who there is, how they are joined, what they send, and what goes wrong.

Every decision is a pick, and 0 is the tamest, so that a case shrinks by lowering and leaving out picks. Faults that
touch the *core*, a majority drawn at random, end with the traffic; all others may stay for good.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ordercast.protocols.ordering.catalogue import PROTOCOLS
from ordercast.simulator.chooser import Chooser

SITES_MAX = 9
FAULTS_MAX = 12
DELAYS_MS = (1.0, 20.0, 5.0, 60.0, 0.2, 200.0, 500.0)
VARIANCES = (0.0, 0.01, 0.05)
"""As parts of the squared delay."""
RATES = (2.0, 10.0, 1.0, 30.0, 0.3)
LEVELS = ("agreed", "safe", "fifo", "causal")
SOURCES = ("periodic", "quasi-periodic", "poisson")
LASTS_S = (1.0, 3.0, 0.3, 6.0, 0.05)
PROBABILITIES = (0.01, 0.05, 0.2, 0.5, 0.001)
DRIFTS_PPM = (50.0, 500.0, 20_000.0, -20_000.0)
STEPS_MS = (10.0, -1000.0, 60_000.0)
KINDS = (
    "crash",
    "partition",
    "pause",
    "loss",
    "one-way",
    "slow-link",
    "reorder",
    "duplicate",
    "clock-drift",
    "clock-step",
)
AT_STEPS = 200
"""A fault begins at one of so many moments."""


class Case(Struct, frozen=True):
    """What to run, and who must converge."""

    table: dict[str, Any]
    core: tuple[int, ...]


class Draw:
    """Draws one case from a chooser."""

    def __init__(self, chooser: Chooser, protocol: str | None = None) -> None:
        self._chooser = chooser
        self._protocol = protocol
        self._pick = chooser.pick

    def one(self, options: tuple[Any, ...]) -> Any:
        """One of several, the first being the tamest."""
        return options[self._pick(len(options))]

    def case(self) -> Case:
        """A whole case."""
        count = 2 + self._pick(SITES_MAX - 1)
        names = [chr(ord("A") + index) for index in range(count)]
        names_of_protocols = tuple(PROTOCOLS)
        name = self.one(names_of_protocols)
        network = self._network(names)
        protocol = {
            "name": self._protocol or name,
            "stack": "full",
            "tickets": self.one(("flush", "piggyback")),
            "resilience": self._pick(3),
        }
        if "policy" in PROTOCOLS[protocol["name"]].options:
            protocol["options"] = {"policy": self.one(("restless", "pairwise"))}
        duration_s = float(4 + self._pick(7))
        core = self._core(count)
        table = {
            **network,
            "protocol": protocol,
            "duration_s": duration_s,
            "traffic": self._traffic(names),
            "fault": self._faults(names, core, duration_s),
        }
        return Case(table, core)

    def _network(self, names: list[str]) -> dict[str, Any]:
        """One LAN, two joined by a slow link, or a random matrix."""
        kind, delay_ms, spread = self._pick(3), self.one(DELAYS_MS), self.one(VARIANCES)
        if kind == 2:
            rows = [[0.0 if a == b else self.one(DELAYS_MS) for b in range(len(names))] for a in range(len(names))]
            return {"delays": {"sites": names, "one_way_ms": rows}}
        variance = spread * delay_ms**2
        if kind == 0 or len(names) < 3:
            return {"lan": [{"name": "only", "sites": names, "delay_ms": delay_ms, "variance": variance}]}
        half = len(names) // 2
        lans = [
            {"name": "west", "sites": names[:half], "delay_ms": 2.0},
            {"name": "east", "sites": names[half:], "delay_ms": 2.0},
        ]
        return {"lan": lans, "wan": [{"between": ["west", "east"], "delay_ms": delay_ms, "variance": variance}]}

    def _core(self, count: int) -> tuple[int, ...]:
        """A majority: everybody, less a few."""
        core = list(range(count))
        while 2 * (len(core) - 1) > count and self._pick(3) == 2:
            core.remove(core[-1 - self._pick(len(core))])
        return tuple(core)

    def _traffic(self, names: list[str]) -> list[dict[str, Any]]:
        entries = [self._entry(names)]
        while len(entries) < 4 and self._pick(3):
            entries.append(self._entry([names[self._pick(len(names))]]))
        return entries

    def _entry(self, names: list[str]) -> dict[str, Any]:
        rate = self.one(RATES)
        return {
            "sites": names,
            "rate": rate,
            "level": self.one(LEVELS),
            "source": self.one(SOURCES),
            "size_bytes": self.one((10, 3000)),
        }

    def _faults(self, names: list[str], core: tuple[int, ...], duration_s: float) -> list[dict[str, Any]]:
        faults: list[dict[str, Any]] = []
        count = 0
        while count < FAULTS_MAX and self._pick(6):
            count += 1
            faults += self._fault(names, core, duration_s)
        return sorted(faults, key=lambda fault: float(fault["at_s"]))

    def _fault(self, names: list[str], core: tuple[int, ...], duration_s: float) -> list[dict[str, Any]]:
        kind = self.one(KINDS)
        at_s = round(duration_s * self._pick(AT_STEPS) / AT_STEPS, 4)
        lasts_s = self.one(LASTS_S)
        heal_s = min(at_s + lasts_s, duration_s)
        if heal_s <= at_s:
            return []
        match kind:
            case "crash":
                return self._crash(names, core, at_s, heal_s)
            case "pause":
                victim = names[self._pick(len(names))]
                return [{"kind": "pause", "at_s": at_s, "sites": [victim], "for_s": round(heal_s - at_s, 6)}]
            case "partition" | "one-way":
                return self._partition(names, core, at_s, heal_s, kind == "one-way")
            case "clock-drift":
                ppm = self.one(DRIFTS_PPM)
                return [{"kind": kind, "at_s": at_s, "sites": [names[self._pick(len(names))]], "ppm": ppm}]
            case "clock-step":
                by_ms = self.one(STEPS_MS)
                return [{"kind": kind, "at_s": at_s, "sites": [names[self._pick(len(names))]], "by_ms": by_ms}]
            case _:
                return self._link_fault(kind, names, core, at_s, heal_s)

    def _crash(self, names: list[str], core: tuple[int, ...], at_s: float, heal_s: float) -> list[dict[str, Any]]:
        victim = self._pick(len(names))
        crash = {"kind": "crash", "at_s": at_s, "sites": [names[victim]]}
        if victim not in core and self._pick(2):
            return [crash]
        return [crash, {"kind": "recover", "at_s": heal_s, "sites": [names[victim]]}]

    def _partition(
        self, names: list[str], core: tuple[int, ...], at_s: float, heal_s: float, one_way: bool
    ) -> list[dict[str, Any]]:
        chosen = 1 + self._pick((1 << len(names)) - 2)
        side = [site for site in range(len(names)) if chosen >> site & 1]
        fault: dict[str, Any] = {"kind": "partition", "at_s": at_s, "sites": [names[site] for site in side]}
        fault["one_way"] = one_way
        inside = sum(1 for site in side if site in core)
        if inside not in (0, len(core)) or not self._pick(2):
            fault["until_s"] = heal_s
        return [fault]

    def _link_fault(
        self, kind: str, names: list[str], core: tuple[int, ...], at_s: float, heal_s: float
    ) -> list[dict[str, Any]]:
        a, b = self._pick(len(names)), self._pick(len(names) - 1)
        b += b >= a
        fault: dict[str, Any] = {"kind": kind, "at_s": at_s}
        for_good = (a not in core or b not in core) and self._pick(2) == 1
        if not for_good:
            fault["until_s"] = heal_s
        if kind == "slow-link":
            fault["extra_ms"] = self.one(DELAYS_MS) * 3
        else:
            fault["probability"] = self.one(PROBABILITIES)
        if kind == "slow-link" or for_good or self._pick(2):
            fault["between"] = [names[a], names[b]]
        return [fault]
