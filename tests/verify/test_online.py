"""The checks that go on during a run, by themselves and against the plain properties."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordercast.core.ids import MessageId, SiteId, pack_message_id
from ordercast.core.messages import Bundle
from ordercast.verify import properties
from ordercast.verify.history import HistoryCollector
from ordercast.verify.online import VIOLATIONS_MAX, OrderChecker
from tests.verify.histories import message

NAMES = ("A", "B", "C")


class Both:
    """A run that both look at."""

    def __init__(self) -> None:
        self.checker = OrderChecker(NAMES)
        self.collector = HistoryCollector(NAMES)

    def multicast(self, site: int, message: MessageId) -> None:
        for each in (self.checker, self.collector):
            each.on_multicast(0, SiteId(site), Bundle(message, (b"",)))

    def deliver(self, site: int, message: MessageId) -> None:
        for each in (self.checker, self.collector):
            each.on_deliver(0, SiteId(site), Bundle(message, (b"",)))

    def crash(self, site: int) -> None:
        for each in (self.checker, self.collector):
            each.on_crash(0, SiteId(site))

    def end(self) -> tuple[list[str], list[str]]:
        """The names of the properties that each finds violated: plain, online."""
        self.checker.on_end(0)
        plain = [violation.property for violation in properties.check(self.collector.histories)]
        return plain, [violation.split(":")[0] for violation in self.checker.violations]


def play(script: str) -> OrderChecker:
    """`A!a0 B:a0 A:a0` lets A multicast, then B deliver, then A deliver; `A#` is a crash."""
    both = Both()
    for word in script.split():
        site, what, rest = "ABC".index(word[0]), word[1], word[2:]
        if what == "#":
            both.crash(site)
        else:
            (both.multicast if what == "!" else both.deliver)(site, message(rest))
    both.end()
    return both.checker


@pytest.mark.parametrize(
    ("script", "violations"),
    [
        ("A!a0 A:a0 B:a0 C:a0", []),
        ("A:a0 B:a0 C:a0", ["creation: A, as its entry 0, delivers message 0 of A, which nobody has multicast"]),
        (
            "A!a0 A:a0 B:a0 C:a0 A:a0 B:a0 C:a0",
            ["duplication: A, as its entry 1, delivers message 0 of A again"],
        ),
        (
            "A!a0 A!a1 A:a1 A:a0 B:a1 B:a0 C:a1 C:a0",
            [
                "FIFO order: A, as its entry 0, delivers message 1 of A, where its message 0 is next",
                "FIFO order: A, as its entry 1, delivers message 0 of A, where its message 2 is next",
            ],
        ),
        (
            "A!a0 B:a0 A:a0 B!b0 B:b0 A:b0 C:b0 C:a0",
            [
                "total order: C, as its entry 0, delivers message 0 of B, another site message 0 of A",
                "causal order: C, as its entry 0, delivers message 0 of B, whose sender had delivered 1 entries before",
            ],
        ),
        (
            "A!a0 A:a0 A!a1 A:a1 B:a0 B:a0 C:a0 C:a1",
            [
                "total order: B, as its entry 1, delivers message 0 of A, another site message 1 of A",
                "duplication: B, as its entry 1, delivers message 0 of A again",
            ],
        ),
        (
            "A!a0 A:a0 B:b3 C:a0",
            [
                "total order: B, as its entry 0, delivers message 3 of B, another site message 0 of A",
                "creation: B, as its entry 0, delivers message 3 of B, which nobody has multicast",
            ],
        ),
        ("A!a0 A:a0 B:a0", ["validity: C has delivered 0 of 1 entries"]),
        ("A!a0", ["validity: message 0 of A has not been delivered anywhere"]),
        ("A!a0 A#", []),
        ("A!a0 A:a0 A# B:a0", ["validity: C has delivered 0 of 1 entries"]),
    ],
)
def test_what_is_reported(script: str, violations: list[str]) -> None:
    assert play(script).violations == violations


def test_a_site_that_has_left_the_sequence_is_reported_once() -> None:
    run = "A!a0 A!a1 A!a2 A:a0 A:a1 A:a2 B:a1 B:a2 B:a0 C:a0 C:a1 C:a2"
    assert len(play(run).violations) == 1


def test_no_more_violations_than_anybody_reads() -> None:
    both = Both()
    for seq in range(2 * VIOLATIONS_MAX):
        both.deliver(0, pack_message_id(SiteId(0), 0, seq))
    both.end()
    assert len(both.checker.violations) == VIOLATIONS_MAX


def remembered(checker: OrderChecker) -> int:
    return len(checker._sequence) + len(checker._known) + len(checker._outstanding)


def test_what_everybody_has_delivered_is_forgotten() -> None:
    both = Both()
    for seq in range(1000):
        each = pack_message_id(SiteId(0), 0, seq)
        both.multicast(0, each)
        for site in range(3):
            both.deliver(site, each)
    assert remembered(both.checker) == 0


def test_a_crashed_site_and_one_astray_hold_nothing_up() -> None:
    both = Both()
    for seq in range(100):
        both.multicast(0, pack_message_id(SiteId(0), 0, seq))
    both.crash(2)
    for seq in range(100):
        both.deliver(0, pack_message_id(SiteId(0), 0, seq))
    both.deliver(1, pack_message_id(SiteId(0), 0, 50))
    assert remembered(both.checker) == 0


# --- against the plain properties ---

MOVES = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 9)), max_size=60)


def any_run(moves: list[tuple[int, int]], *, wrong_from: int) -> Both:
    """Mostly in order. The higher a move's number, from `wrong_from` on, the stranger what the site does."""
    both = Both()
    order: list[MessageId] = []
    under_way: list[MessageId] = []
    sent, delivered, down = [0, 0, 0], [0, 0, 0], [False] * 3
    for site, move in moves:
        if down[site]:
            continue
        if move <= 2:
            each = pack_message_id(SiteId(site), 0, sent[site])
            sent[site] += 1
            both.multicast(site, each)
            under_way.append(each)
        elif move < wrong_from or not order:
            if delivered[site] == len(order) and under_way:
                order.append(under_way.pop(0))
            if delivered[site] < len(order):
                both.deliver(site, order[delivered[site]])
                delivered[site] += 1
        elif move == 7:
            both.deliver(site, order[(3 * site) % len(order)])
        elif move == 8:
            both.deliver(site, pack_message_id(SiteId((site + 1) % 3), 0, 1000))
        else:
            both.crash(site)
            down[site] = True
    return both


@given(MOVES, st.sampled_from([7, 8, 9, 10]))
def test_both_judge_alike(moves: list[tuple[int, int]], wrong_from: int) -> None:
    """What is reported after the first violation may be no more than its consequence."""
    plain, online = any_run(moves, wrong_from=wrong_from).end()
    assert bool(plain) == bool(online)
    assert set(online[:1]) <= set(plain)
