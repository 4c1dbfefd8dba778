"""The explorer: what it runs through, what it leaves out, and what it says."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from msgspec import Struct
from msgspec.structs import replace

from ordercast.core.effects import Out
from ordercast.core.events import Event, FromAbove, FromBelow, Now, TimerFired
from ordercast.core.layer import Layer, Waiting
from ordercast.core.messages import Bundle
from ordercast.protocols.ordering.setup import Setup
from ordercast.verify.explorer import explore
from ordercast.verify.goals import APART
from ordercast.verify.judges import FullJudge
from ordercast.verify.scopes import SCOPES, Scope
from ordercast.verify.system import State
from tests.verify.bugs.catalogue import BUGS
from tests.verify.scope_pins import parameters

PINNED = {
    "token-site-3x2": (533175, 1172468, 1),
    "token-site-2x3": (610, 819, 1),
    "migrating-token-3x2": (1774838, 3884311, 6),
    "migrating-token-2x3": (777, 1103, 4),
    "migrating-token-2x3-back": (8074, 13609, 19),
    "symmetric-3x2": (46101, 106506, 5),
    "symmetric-3x2-flush": (1597384, 3696586, 5),
    "symmetric-2x3": (320, 447, 4),
    "symmetric-2x3-flush": (318, 464, 4),
    "rs-symmetric-3x2": (70191, 155424, 40),
    "rs-symmetric-3x2-flush": (4129454, 9294524, 52),
    "rs-symmetric-2x3": (732, 856, 47),
    "rs-symmetric-2x3-flush": (1556, 1910, 67),
    "hybrid-3x2": (102404, 220436, 69),
    "hybrid-3x2-flush": (1895864, 4217852, 50),
    "hybrid-3x2-one-active": (76707, 166328, 38),
    "hybrid-3x2-one-active-flush": (581382, 1271230, 38),
    "hybrid-2x3": (812, 957, 49),
    "hybrid-2x3-flush": (1382, 1694, 49),
    "dynamic-hybrid-3x1-to-active": (3163, 6286, 7),
    "dynamic-hybrid-3x1-to-active-flush": (32002, 67748, 4),
    "dynamic-hybrid-3x1-to-passive": (8405, 15465, 85),
    "dynamic-hybrid-3x1-to-passive-flush": (46904, 96744, 178),
    "dynamic-hybrid-3x1-change-sequencer": (1413, 2826, 13),
    "dynamic-hybrid-3x1-change-sequencer-flush": (6788, 16001, 7),
    "dynamic-hybrid-3x2-change-sequencer": (413240, 943498, 78),
    "dynamic-hybrid-3x1-all-to-passive": (63696, 131771, 372),
    "dynamic-hybrid-3x1-all-to-passive-flush": (294569, 645462, 644),
    "dynamic-hybrid-3x1-to-active-as-sequencer-leaves": (27776, 55661, 168),
    "dynamic-hybrid-3x1-to-active-as-sequencer-leaves-flush": (451384, 983098, 490),
    "dynamic-hybrid-2x2-back-and-forth": (92943, 154623, 2284),
    "dynamic-hybrid-2x2-back-and-forth-flush": (252551, 408214, 5271),
    "dynamic-hybrid-2x3-all-at-once": (21672, 29341, 466),
    "dynamic-hybrid-2x3-all-at-once-flush": (71614, 96820, 1189),
    "hybrid-2x2-disorder": (182, 296, 13),
}
"""(states, transitions, terminal states). A change of a protocol's state or messages changes these, and nothing else
should: look at what has changed before the new numbers go in here."""


def test_every_scope_is_pinned() -> None:
    assert list(PINNED) == list(SCOPES)


@pytest.mark.parametrize("name", parameters(PINNED, states_quick=200_000))
def test_every_interleaving_of_a_scope(name: str) -> None:
    exploration = explore(SCOPES[name])
    assert exploration.counterexample is None
    assert exploration.missed == []
    assert (exploration.states, exploration.transitions, exploration.terminal_states) == PINNED[name]


# --- what is left out makes no difference ---

TINY = [replace(scope, messages=1) if scope.sites == 3 else scope for scope in SCOPES.values()]


def final_histories(scope: Scope, *, reduce: bool) -> set[Any]:
    """How a run of the scope can have gone, as seen by the sites: all their histories."""
    judge = FullJudge()
    system = scope.system(judge=judge, reduce=reduce)
    seen: set[State] = {system.start()}
    stack, ends = list(seen), set()
    while stack:
        state = stack.pop()
        after = [each for _, each in system.successors(state)]
        ends.update([] if after else [system.record(state)])
        stack += [each for each in after if each not in seen]
        seen.update(after)
    return ends


@pytest.mark.parametrize("scope", TINY, ids=[scope.name for scope in TINY])
def test_the_reduction_loses_no_history_that_sites_can_tell_apart(scope: Scope) -> None:
    reduced, full = (final_histories(scope, reduce=reduce) for reduce in (True, False))
    assert reduced == full
    assert len(full) > 10


@pytest.mark.parametrize("scope", TINY, ids=[scope.name for scope in TINY])
def test_the_compact_judge_keeps_no_more_states_than_the_full_one(scope: Scope) -> None:
    compact, full = explore(scope), explore(scope, judge=FullJudge())
    assert compact.counterexample is full.counterexample is None
    assert compact.states <= full.states
    assert compact.goals[APART] == full.goals[APART]


def test_the_reduction_saves_something() -> None:
    scope = SCOPES["symmetric-2x3"]
    assert 2 * explore(scope).transitions < explore(scope, reduce=False).transitions


def test_exploring_twice_gives_the_same_numbers() -> None:
    scope = SCOPES["hybrid-2x3"]
    assert replace(explore(scope), seconds=0) == replace(explore(scope), seconds=0)


# --- goals ---


def test_a_scope_that_shows_nothing_fails() -> None:
    """The sites send nothing, so nothing can go wrong, and that proves nothing."""
    exploration = explore(replace(SCOPES["symmetric-2x3"], messages=0))
    assert exploration.counterexample is None
    assert exploration.missed == list(exploration.goals)
    assert not exploration.good


def test_the_token_does_not_move_between_sites_of_equal_rates() -> None:
    scope = SCOPES["migrating-token-2x3"]
    exploration = explore(replace(scope, gaps_us=(scope.gaps_us[0],) * 2))
    assert exploration.missed == ["the token moved"]


# --- timers ---


class Word(Struct, frozen=True, array_like=True, tag="word"):
    """A toy message."""

    bundle: Bundle


class Hesitant(Struct):
    """Multicasts each message once a timer of its own has run out, and delivers at once. Orders nothing."""

    WIRE: ClassVar = Word

    waiting: list[Bundle] = []

    def handle(self, event: Event, now: Now, out: Out) -> None:
        match event:
            case FromAbove(message=bundle):
                self.waiting.append(bundle)
                out.set_timer(("send", len(self.waiting)), 1000)
            case TimerFired(key=(_, int(number))):
                out.multicast(Word(self.waiting[number - 1]))
            case FromBelow(sender=sender, message=Word(bundle=bundle)):
                out.deliver(sender, bundle)

    def waiting_for(self) -> Waiting | None:
        return None


class Gathering(Hesitant):
    """Waits for a second message, but not for ever: whatever comes first, the second message or the timer."""

    def handle(self, event: Event, now: Now, out: Out) -> None:
        match event:
            case FromAbove(message=bundle) if self.waiting:
                out.cancel("send")
                self.send([*self.waiting, bundle], out)
            case FromAbove(message=bundle):
                self.waiting.append(bundle)
                out.set_timer("send", 1000)
            case TimerFired():
                assert self.waiting, "this timer was cancelled"
                self.send(self.waiting, out)
            case _:
                super().handle(event, now, out)

    def send(self, bundles: list[Bundle], out: Out) -> None:
        for bundle in bundles:
            out.multicast(Word(bundle))
        self.waiting = []


def hesitant(setup: Setup) -> Layer:
    return Hesitant()


def gathering(setup: Setup) -> Layer:
    return Gathering()


ALONE = replace(SCOPES["symmetric-2x3"], name="alone", sites=1, messages=2, gaps_us=(((0, 1.0),),), goals=())


def test_timers_fire_in_every_order() -> None:
    """So the second message can leave before the first."""
    counterexample = explore(ALONE, build=hesitant).counterexample
    assert counterexample is not None
    assert counterexample.steps[:2] == [
        "A is given message 0 of A to multicast, and sets its timer ('send', 1)",
        "A is given message 1 of A to multicast, and sets its timer ('send', 2)",
    ]
    assert counterexample.steps[2].startswith("A finds its timer ('send', 2) run out, and multicasts Word(")
    assert counterexample.steps[2].endswith(", and delivers message 1 of A")


def test_a_cancelled_timer_does_not_fire() -> None:
    exploration = explore(ALONE, build=gathering)
    assert exploration.counterexample is None
    assert exploration.terminal_states == 1
    assert exploration.transitions >= exploration.states, "there is more than one way to the end"


# --- counter-examples ---


def test_a_counterexample_can_be_read() -> None:
    (bug,) = (bug for bug in BUGS if bug.name == "hybrid tickets backwards")
    counterexample = explore(bug.scope, build=bug.build).counterexample
    assert counterexample is not None
    assert counterexample.violations[0] == (
        "FIFO order: A, as its entry 0, delivers message 1 of B without message 0 of B"
    )
    assert counterexample.steps[-1] == (
        "A is given message 0 of A to multicast, and multicasts message 0 of A with ticket 66, "
        "1 for message 1 of B, 2 for message 0 of B, and delivers message 1 of B, and delivers message 0 of B, "
        "and delivers message 0 of A"
    )
