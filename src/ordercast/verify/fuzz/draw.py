"""Draw a case: who there is, how they are joined, what they send, and what goes wrong.

A case is the tamest one, changed a few times. Every decision is a pick, 0 is the tamest, and what is not changed takes
no pick at all, so that a case shrinks by leaving out and lowering picks. What the network then decides at each message
comes from one pick more, `luck`, and not from a pick each: else a shrunk list would be long.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from ordercast.core.messages import Level
from ordercast.protocols.groups.log import RETAINED_POSITIONS
from ordercast.protocols.ordering.catalogue import PROTOCOLS
from ordercast.simulator.chooser import Chooser, RecordingChooser, ReplayingChooser, SeededChooser
from ordercast.verify.fuzz.aim import Aim, Leaving
from ordercast.verify.fuzz.draw_faults import AT_STEPS, DELAYS_MS, FaultDraw
from ordercast.verify.fuzz.drawn import Drawn
from ordercast.verify.fuzz.people import Person

SITES_MAX = 9
VARIANCES = (0.0, 0.01, 0.05)
"""As parts of the squared delay."""
RATES = (2.0, 10.0, 1.0, 30.0, 0.3)
LEVELS = ("agreed", "safe", "fifo", "causal")
SOURCES = ("periodic", "quasi-periodic", "poisson")
SIZES_BYTES = (10, 3000, 1300)
RETAINED = (RETAINED_POSITIONS, 5, 20)
"""Small ones, so that members that come back need a snapshot."""
LUCKS = 1 << 16
TURNS = ((0.5, 1.0), (0.25, 0.75), (0.75, 1.0), (0.9, 1.0), (0.15, 0.5))
"""When a participant goes on through another site, and when it goes, as parts of the run."""
GAPS_S = (0.3, 0.1, 0.03)
SPOKEN = ((Level.AGREED,), (Level.SAFE,), (Level.AGREED, Level.FIFO), (Level.CAUSAL, Level.AGREED, Level.SAFE))
"""Levels of what a participant says, in turn."""


class Case(Struct, frozen=True):
    """What to run, and who must converge."""

    table: dict[str, Any]
    core: tuple[int, ...]
    waiting: tuple[Aim | Leaving, ...]
    """What no scenario can say."""
    retained_positions: int
    luck: int
    people: tuple[Person, ...] = ()
    """Participants with sessions."""
    hosts_keep_history: bool = False

    def chooser(self) -> Chooser:
        """Decides what the case leaves open: each delay, each message that is lost."""
        return SeededChooser(f"luck {self.luck}")


class Draw:
    """Draws one case from a chooser."""

    def __init__(self, chooser: Chooser, protocol: str | None = None) -> None:
        recording = RecordingChooser(chooser)
        self._picks = recording.picks
        self._pick = recording.pick
        self._faults = FaultDraw(recording)
        self._starts_of_changes: list[int] = []
        self._protocol: dict[str, Any] = {"name": "", "stack": "full", "tickets": "flush", "resilience": 0}
        self._policy = "restless"
        self._asked_for = {} if protocol is None else {"name": protocol}
        self._names: list[str] = []
        self._core: list[int] = []
        self._shape, self._matrix = 0, 0
        self._delay_ms, self._spread = DELAYS_MS[0], VARIANCES[0]
        self._load: dict[str, Any] = {
            "rate": RATES[0],
            "level": LEVELS[0],
            "source": SOURCES[0],
            "size_bytes": SIZES_BYTES[0],
        }
        self._more: list[dict[str, Any]] = []
        """What some sites send beside."""
        self._duration_s = 4.0
        self._retained_positions = RETAINED[0]
        self._people: list[Person] = []
        self._hosts_keep_history = False
        self._plans: list[dict[str, Any]] = []
        """At which moment of the run, and what."""

    def case(self) -> Case:
        """A whole case."""
        self._names = [chr(ord("A") + index) for index in range(2 + self._pick(SITES_MAX - 1))]
        self._core = list(range(len(self._names)))
        self._protocol["name"] = self._one(tuple(PROTOCOLS))
        luck = self._pick(LUCKS)
        changes = self._changes()
        self._starts_of_changes.append(len(self._picks))
        while change := self._pick(len(changes) + 1):
            changes[change - 1]()
            self._starts_of_changes.append(len(self._picks))
        core = tuple(self._core)
        table = {
            **self._network(),
            "protocol": self._ordering(),
            "duration_s": self._duration_s,
            "traffic": [{"sites": self._names, **self._load}, *({**self._load, **entry} for entry in self._more)],
            "fault": self._faults.all(self._names, core, self._duration_s),
            "change": [self._plan(**plan) for plan in self._plans],
        }
        waiting, people = tuple(self._faults.waiting), tuple(self._people)
        return Case(table, core, waiting, self._retained_positions, luck, people, self._hosts_keep_history)

    def drawn(self) -> Drawn:
        """What has been picked for `case`, thing by thing; a pick too large for its question as it was taken."""
        return Drawn.split(self._picks, self._starts_of_changes, self._faults.starts)

    def _changes(self) -> tuple[Callable[[], None], ...]:
        """Whatever may be made different. New ones go to the end, so that pinned lists of picks keep their meaning."""
        return (
            self._change_delay,
            self._change_load,
            self._change_level,
            self._add_traffic,
            self._shrink_core,
            self._change_duration,
            self._change_shape,
            self._change_spread,
            self._change_tickets,
            self._change_resilience,
            self._change_size,
            self._change_source,
            self._change_retained,
            self._change_policy,
            self._add_person,
            self._change_history,
            self._add_change,
        )

    def _ordering(self) -> dict[str, Any]:
        """As a scenario names it. Where roles can change they do so all the time, if nothing else is said."""
        protocol = {**self._protocol, **self._asked_for}
        if "policy" in PROTOCOLS[protocol["name"]].options:
            protocol["options"] = {"policy": self._policy}
        return protocol

    def _one(self, options: tuple[Any, ...]) -> Any:
        """One of several, the first being the tamest."""
        return options[self._pick(len(options))]

    def _change_tickets(self) -> None:
        self._protocol["tickets"] = self._one(("flush", "piggyback"))

    def _change_resilience(self) -> None:
        """It says when safe messages are delivered, so there should be some."""
        self._protocol["resilience"] = self._pick(3)
        if self._protocol["resilience"]:
            self._load["level"] = "safe"

    def _change_policy(self) -> None:
        self._policy = self._one(("pairwise", "least-latency"))

    def _change_duration(self) -> None:
        self._duration_s = float(4 + self._pick(7))

    def _change_retained(self) -> None:
        self._retained_positions = self._one(RETAINED)

    def _change_history(self) -> None:
        """Members that have been away get old entries from a host's log instead of a snapshot."""
        self._retained_positions, self._hosts_keep_history = self._one(RETAINED[1:]), True

    def _add_change(self) -> None:
        """The group goes over to another ordering protocol while it runs."""
        name, step = self._one(tuple(PROTOCOLS)), self._pick(AT_STEPS)
        options: dict[str, Any] = {}
        if "policy" in PROTOCOLS[name].options:
            options["policy"] = self._policy
        elif "site" in PROTOCOLS[name].options:
            options["site"] = self._one(tuple(self._names))
        self._plans.append({"at_step": step, "protocol": name, "options": options})

    def _plan(self, at_step: int, **plan: Any) -> dict[str, Any]:
        """As a scenario says it: how long all of it takes may be drawn later."""
        return {"at_s": round(self._duration_s * at_step / AT_STEPS, 4), **plan}

    def _shrink_core(self) -> None:
        """The core is a majority: everybody, less a few."""
        if 2 * (len(self._core) - 1) > len(self._names):
            self._core.remove(self._core[-1 - self._pick(len(self._core))])

    # --- what is sent ---

    def _change_load(self) -> None:
        self._load["rate"] = self._one(RATES)

    def _change_level(self) -> None:
        self._load["level"] = self._one(LEVELS)

    def _change_source(self) -> None:
        self._load["source"] = self._one(SOURCES)

    def _change_size(self) -> None:
        self._load["size_bytes"] = self._one(SIZES_BYTES)

    def _add_traffic(self) -> None:
        """One site sends something beside what all send, at a rate and a level of its own."""
        name = self._one(tuple(self._names))
        self._more.append({"sites": [name], "rate": self._one(RATES), "level": self._one(LEVELS)})

    def _add_person(self) -> None:
        """A participant with a session, who goes on through another site, or through the same one."""
        sites = (self._pick(len(self._names)), self._pick(len(self._names)))
        moves_s, until_s = (self._duration_s * share for share in self._one(TURNS))
        gap_s, count = self._one(GAPS_S), 1 + self._pick(3)
        levels, leaves = self._one(SPOKEN), self._pick(2) == 1
        session = 1 + len(self._people)
        self._people.append(Person(session, sites, 0.5, moves_s, until_s, gap_s, count, levels, leaves))

    # --- the network ---

    def _change_delay(self) -> None:
        self._delay_ms = self._one(DELAYS_MS)

    def _change_spread(self) -> None:
        self._spread = self._one(VARIANCES)

    def _change_shape(self) -> None:
        self._shape = self._pick(3)
        if self._shape == 2:
            self._matrix = self._pick(LUCKS)

    def _network(self) -> dict[str, Any]:
        """One LAN, two joined by a slow link, or a random matrix."""
        names, delay_ms, variance = self._names, self._delay_ms, self._spread * self._delay_ms**2
        if self._shape == 2:
            pick = SeededChooser(f"delays {self._matrix}").pick
            rows = [[0.0 if a == b else DELAYS_MS[pick(len(DELAYS_MS))] for b in names] for a in names]
            return {"delays": {"sites": names, "one_way_ms": rows}}
        if self._shape == 0 or len(names) < 3:
            return {"lan": [{"name": "only", "sites": names, "delay_ms": delay_ms, "variance": variance}]}
        half = len(names) // 2
        lans = [
            {"name": "west", "sites": names[:half], "delay_ms": 2.0},
            {"name": "east", "sites": names[half:], "delay_ms": 2.0},
        ]
        return {"lan": lans, "wan": [{"between": ["west", "east"], "delay_ms": delay_ms, "variance": variance}]}


def drawn_from(picks: list[int]) -> Drawn:
    """What a list of picks draws."""
    draw = Draw(ReplayingChooser(picks))
    draw.case()
    return draw.drawn()
