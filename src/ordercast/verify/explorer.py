"""Runs a small group through every interleaving of what can happen in it, on the layers that ship.

What can happen is for the scope to say. On the ideal stack: at each moment any site may multicast its next message,
the first message of any channel may arrive, any timer that is set may fire; when nothing more can happen, all sites
flush, and all interleavings of what that sets off are run through, too. In a live group (`verify.views`) sites also
suspect each other, crash and come back. The properties are checked at every step, and in the end that everybody has
got everything.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from hashlib import blake2b
from struct import Struct as Packed
from typing import Protocol

from msgspec import Struct

from ordercast.simulator.simulation import BuildLayer
from ordercast.verify.counterexample import Counterexample, tell
from ordercast.verify.goals import APART, Goal
from ordercast.verify.judges import Judge
from ordercast.verify.reactions import Step
from ordercast.verify.system import Move, State, System

PROGRESS_EVERY = 1 << 16
"""States between two reports of progress."""


class Explorable(Protocol):
    """A small group, with what must be seen to happen in it."""

    @property
    def name(self) -> str: ...

    @property
    def protocol(self) -> str: ...

    def wanted(self) -> dict[str, Goal]:
        """What must be seen to happen, by name."""

    def system(
        self,
        *,
        build: BuildLayer | None = None,
        judge: Judge | None = None,
        reduce: bool = True,
        watch: Callable[[Step], None] = lambda step: None,
    ) -> System:
        """The group; `build` replaces the protocol, so that tests can plant bugs; `watch` sees every new step."""


class Exploration(Struct, frozen=True, kw_only=True):
    """What an exploration has found."""

    scope: str
    protocol: str
    states: int
    """Different states of the whole group."""
    transitions: int
    terminal_states: int
    """States in which all is over."""
    goals: dict[str, bool]
    """What had to happen at least once, and whether it did."""
    counterexample: Counterexample | None
    seconds: float

    @property
    def missed(self) -> list[str]:
        """The goals that were not met. Where a counter-example ended the exploration, that says nothing."""
        return [] if self.counterexample else [goal for goal, met in self.goals.items() if not met]

    @property
    def good(self) -> bool:
        """Whether nothing was violated and every goal was met."""
        return self.counterexample is None and not self.missed


def explore(
    scope: Explorable,
    *,
    build: BuildLayer | None = None,
    judge: Judge | None = None,
    reduce: bool = True,
    progress: Callable[[int], None] | None = None,
) -> Exploration:
    """Look at every state; stop at the first violation and tell the shortest way to one."""
    began_s = time.process_time()
    goals = _Goals(scope.wanted())
    system = scope.system(build=build, judge=judge, reduce=reduce, watch=goals.watch)
    search = _Search(system, progress)
    counterexample = tell(system, shortest_way(system)) if search.finds_violation() else None
    return Exploration(
        scope=scope.name,
        protocol=scope.protocol,
        states=len(search.seen),
        transitions=search.transitions,
        terminal_states=search.terminal_states,
        goals={**goals.met, APART: system.apart},
        counterexample=counterexample,
        seconds=round(time.process_time() - began_s, 3),
    )


class _Goals:
    """Which of a scope's goals have been met."""

    def __init__(self, wanted: dict[str, Goal]) -> None:
        self.met = dict.fromkeys(wanted, False)
        self._wanted = wanted

    def watch(self, step: Step) -> None:
        for name, met in self.met.items():
            if not met and self._wanted[name](step):
                self.met[name] = True


class _Search:
    """Depth first, with a fingerprint of each state seen."""

    def __init__(self, system: System, progress: Callable[[int], None] | None) -> None:
        self.seen: set[bytes] = set()
        self.transitions = 0
        self.terminal_states = 0
        self._system = system
        self._progress = progress

    def finds_violation(self) -> bool:
        """Go through all states, or up to the first violation."""
        system, seen = self._system, self.seen
        start = system.start()
        pack = Packed(f"<{len(start)}i").pack
        seen.add(blake2b(pack(*start), digest_size=16).digest())
        stack = [start]
        while stack:
            state = stack.pop()
            if system.broken(state):
                return True
            successors = system.successors(state)
            if not successors:
                self.terminal_states += 1
                if not system.complete(state):
                    return True
            self.transitions += len(successors)
            for _, after in successors:
                fingerprint = blake2b(pack(*after), digest_size=16).digest()
                if fingerprint not in seen:
                    seen.add(fingerprint)
                    stack.append(after)
                    if self._progress is not None and not len(seen) % PROGRESS_EVERY:
                        self._progress(len(seen))
        return False


def shortest_way(system: System) -> list[tuple[State, Move | None]]:
    """The states on the way to the nearest violation, each with the move that leads on from it."""
    start = system.start()
    came_from: dict[State, tuple[State, Move] | None] = {start: None}
    queue = deque([start])
    while queue:
        state = queue.popleft()
        successors = [] if system.broken(state) else system.successors(state)
        if system.broken(state) or (not successors and not system.complete(state)):
            return _way_back(came_from, state)
        for move, after in successors:
            if after not in came_from:
                came_from[after] = (state, move)
                queue.append(after)
    raise AssertionError("there is no violation to be found")


def _way_back(came_from: dict[State, tuple[State, Move] | None], end: State) -> list[tuple[State, Move | None]]:
    way: list[tuple[State, Move | None]] = [(end, None)]
    while (step := came_from[way[-1][0]]) is not None:
        way.append(step)
    return way[::-1]
