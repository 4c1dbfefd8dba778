"""The way to a violation, as steps that a person can follow."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ordercast.verify.system import Move, State, System


class Counterexample(Struct, frozen=True):
    """What goes wrong, and how it comes about."""

    violations: list[str]
    steps: list[str]


def tell(system: System, way: Sequence[tuple[State, Move | None]]) -> Counterexample:
    """Go the way once more, and put it into words."""
    passages = [system.plot.opening(system)]
    passages += [system.plot.passage(system, state, move) for state, move in way if move is not None]
    story = [(site, ()) for site in system.members] + [each for passage in passages for each in passage.happenings]
    violations = system.judge.explain(story, drained=not system.broken(way[-1][0]))
    assert violations, "the judge has seen a violation that the properties do not see"
    return Counterexample(violations, [words for passage in passages for words in passage.words])
