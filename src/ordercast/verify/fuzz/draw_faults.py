"""Draw what goes wrong in a case.

Faults that touch the *core*, a majority of the sites, end with the traffic; all others may stay for good.
"""

from __future__ import annotations

from typing import Any, Literal

from ordercast.simulator.chooser import RecordingChooser
from ordercast.verify.fuzz.aim import Aim, Leaving
from ordercast.verify.fuzz.phases import SWITCHING

FAULTS_MAX = 12
DELAYS_MS = (1.0, 20.0, 5.0, 60.0, 0.2, 200.0, 500.0)
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
    "outage",
    "crash-in-change",
    "cut-in-change",
    "leave",
    "crash-in-switch",
    "cut-in-switch",
)
"""New ones go to the end, so that pinned lists of picks keep their meaning."""
PHASES = ("closed", "stopped", "aligning")
ENDS = 2
"""So many picks, beside 0, mean *no more faults*: there are about five as a rule."""
AT_STEPS = 200
"""A fault begins at one of so many moments."""

Fault = dict[str, Any]


class FaultDraw:
    """Draws the faults of one case from a chooser."""

    def __init__(self, chooser: RecordingChooser) -> None:
        self._pick = chooser.pick
        self._picks = chooser.picks
        self.starts: list[int] = []
        """Where among all picks each of them begins, and where the last ends."""
        self._names: list[str] = []
        self._core: tuple[int, ...] = ()
        self.waiting: list[Aim | Leaving] = []
        """Those that no scenario can say."""

    def all(self, names: list[str], core: tuple[int, ...], duration_s: float) -> list[Fault]:
        """Any number of them, up to `FAULTS_MAX`, in the order of time."""
        self._names, self._core = names, core
        faults: list[Fault] = []
        self.starts.append(len(self._picks))
        for _ in range(FAULTS_MAX):
            kind = self._pick(1 + len(KINDS) + ENDS)
            if not 1 <= kind <= len(KINDS):
                break
            faults += self._fault(KINDS[kind - 1], duration_s)
            self.starts.append(len(self._picks))
        return sorted(faults, key=lambda fault: float(fault["at_s"]))

    def _one(self, options: tuple[Any, ...]) -> Any:
        return options[self._pick(len(options))]

    def _site(self) -> str:
        return self._names[self._pick(len(self._names))]

    def _fault(self, kind: str, duration_s: float) -> list[Fault]:
        at_s = round(duration_s * self._pick(AT_STEPS) / AT_STEPS, 4)
        lasts_s = self._one(LASTS_S)
        heal_s = min(at_s + lasts_s, duration_s)
        match kind:
            case "crash":
                return self._crash(at_s, heal_s)
            case "outage":
                return _outage(self._names, at_s, heal_s)
            case "pause":
                return [{"kind": kind, "at_s": at_s, "sites": [self._site()], "for_s": round(heal_s - at_s, 6)}]
            case "crash-in-change" | "cut-in-change" | "crash-in-switch" | "cut-in-switch" | "leave":
                self._wait(kind, at_s, heal_s)
                return []
            case "partition" | "one-way":
                return self._partition(at_s, heal_s, kind == "one-way")
            case "clock-drift":
                return [{"kind": kind, "at_s": at_s, "sites": [self._site()], "ppm": self._one(DRIFTS_PPM)}]
            case "clock-step":
                return [{"kind": kind, "at_s": at_s, "sites": [self._site()], "by_ms": self._one(STEPS_MS)}]
            case _:
                return self._link_fault(kind, at_s, heal_s)

    def _crash(self, at_s: float, heal_s: float) -> list[Fault]:
        victim = self._pick(len(self._names))
        if victim not in self._core and self._pick(2):
            return [{"kind": "crash", "at_s": at_s, "sites": [self._names[victim]]}]
        return _outage([self._names[victim]], at_s, heal_s)

    def _wait(self, kind: str, at_s: float, heal_s: float) -> None:
        if kind != "leave":
            what: Literal["crash", "cut"] = "crash" if kind.startswith("crash") else "cut"
            phases = SWITCHING if kind.endswith("switch") else PHASES
            self.waiting.append(Aim(at_s, heal_s, what, self._one(phases), self._pick(len(self._names))))
        elif (site := self._pick(len(self._names))) not in self._core:
            self.waiting.append(Leaving(at_s, site))

    def _partition(self, at_s: float, heal_s: float, one_way: bool) -> list[Fault]:
        chosen = 1 + self._pick((1 << len(self._names)) - 2)
        side = [site for site in range(len(self._names)) if chosen >> site & 1]
        fault: Fault = {"kind": "partition", "at_s": at_s, "sites": [self._names[site] for site in side]}
        fault["one_way"] = one_way
        inside = sum(1 for site in side if site in self._core)
        if inside not in (0, len(self._core)) or not self._pick(2):
            fault["until_s"] = heal_s
        return [fault]

    def _link_fault(self, kind: str, at_s: float, heal_s: float) -> list[Fault]:
        """Between two sites, or, if it ends, between all."""
        fault: Fault = {"kind": kind, "at_s": at_s}
        if kind == "slow-link":
            fault["extra_ms"] = self._one(DELAYS_MS) * 3
        else:
            fault["probability"] = self._one(PROBABILITIES)
            if not self._pick(2):
                return [fault | {"until_s": heal_s}]
        a, b = self._pick(len(self._names)), self._pick(len(self._names) - 1)
        b += b >= a
        fault["between"] = [self._names[a], self._names[b]]
        for_good = (a not in self._core or b not in self._core) and self._pick(2) == 1
        return [fault] if for_good else [fault | {"until_s": heal_s}]


def _outage(names: list[str], at_s: float, heal_s: float) -> list[Fault]:
    """Sites crash, and come up again, each as a new life."""
    crash = {"kind": "crash", "at_s": at_s, "sites": names}
    return [crash, {"kind": "recover", "at_s": heal_s, "sites": names}]
