"""What a participant multicasts again is recognised by session and number, as the order alone tells."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordercast.core.canonical import encode
from ordercast.core.deliveries import Delivered
from ordercast.core.events import FromAbove
from ordercast.core.messages import UNNUMBERED, Act, Author, Bundle, Level
from ordercast.core.participants import Speak
from ordercast.protocols.groups.authors import FORGOTTEN_AFTER, GAPS_LEFT_MAX, GAPS_MAX, SWEEP_EVERY, Authors
from ordercast.protocols.groups.log import Log
from tests.protocols.groups.live import LiveGroup, crash, cut, recover
from tests.protocols.groups.made import A, B, C, authored

SESSIONS = st.integers(1, 3)
SPOKEN = st.lists(st.tuples(SESSIONS, st.integers(0, 12), st.integers(1, 5)), max_size=60)


def log_of(spoken: list[tuple[int, int, int]], retained_positions: int = 10_000) -> Log:
    """A log into which bundles of (session, number, count) have been put, each under an id of its own."""
    log = Log(retained_positions=retained_positions)
    for seq, (session, number, count) in enumerate(spoken):
        append(log, authored(A, seq * 10, session, number, bodies=count))
    return log


def append(log: Log, bundle: Bundle) -> Bundle:
    """A bundle of a new id comes up; returns it as it stands in the log."""
    admitted = log.admit(bundle)
    assert admitted is not None
    log.append(admitted)
    return admitted


def come_up(log: Log) -> list[tuple[int, int]]:
    """Session and number of each message that is not void, in order."""
    return [
        (author.session, author.number + index)
        for entry in log.entries
        if (author := entry.content.author) is not None  # type: ignore[union-attr]
        for index in range(len(entry.content.bodies))  # type: ignore[union-attr]
        if index not in entry.content.void  # type: ignore[union-attr]
    ]


@given(SPOKEN)
def test_each_message_of_a_session_comes_up_once_however_often_it_is_multicast(
    spoken: list[tuple[int, int, int]],
) -> None:
    up = come_up(log_of(spoken))
    assert len(up) == len(set(up))
    asked = {(session, number + index) for session, number, count in spoken for index in range(count)}
    assert set(up) == asked


@given(SPOKEN, st.integers(0, 100), st.integers(1, 9))
def test_a_site_that_begins_at_a_base_decides_the_same(
    spoken: list[tuple[int, int, int]], below: int, retained_positions: int
) -> None:
    whole, trimmed = log_of(spoken), log_of(spoken, retained_positions)
    ends = [0, *(entry.end for entry in trimmed.entries)]
    trimmed.finalize(max(end for end in ends if end <= below))
    later = Log()
    later.restart_at(trimmed.base, trimmed.sessions_at_base.copy())
    for entry in trimmed.entries:
        later.append(entry.content)
    assert encode(later.sessions) == encode(whole.sessions)
    assert encode(trimmed.sessions) == encode(whole.sessions)


def test_of_a_bundle_that_is_new_in_part_the_rest_is_void_and_keeps_its_positions() -> None:
    log = log_of([(1, 0, 3), (1, 1, 4)])
    first, second = log.entries
    assert (first.content.void, second.content.void) == ((), (0, 1))  # type: ignore[union-attr]
    assert (second.position, second.end) == (3, 7)


def test_a_bundle_of_which_nothing_is_new_takes_its_positions_all_the_same() -> None:
    log = log_of([(1, 0, 3), (1, 0, 3), (1, 1, 2), (2, 0, 1)])
    assert [entry.content.void for entry in log.entries] == [(), (0, 1, 2), (0, 1), ()]  # type: ignore[union-attr]
    assert log.length == 9


def test_a_bundle_that_has_come_up_does_not_come_up_again_under_its_own_id() -> None:
    log = log_of([(1, 0, 3)])
    assert log.admit(authored(A, 0, 1, 0, bodies=3)) is None


def test_numbers_that_are_left_out_can_come_later() -> None:
    """Fifo and causal messages are counted, too, and are not ordered."""
    assert come_up(log_of([(1, 4, 2), (1, 9, 1), (1, 2, 1), (1, 6, 2), (1, 0, 12)])) == [
        (1, number) for number in (4, 5, 9, 2, 6, 7, 0, 1, 3, 8, 10, 11)
    ]


def leaving(gaps: int) -> Authors:
    """Of a session of which every second message has come up."""
    authors = Authors()
    for number in range(gaps):
        authors.take(Author("g", "n", 1, 2 * number + 1), 1, number)
    return authors


def test_so_many_gaps_are_remembered_and_what_is_older_counts_as_come_up() -> None:
    authors = leaving(GAPS_MAX + 1)
    assert len(authors.known[1].gaps) == GAPS_MAX
    assert authors.admit(authored(B, 0, 1, 0), GAPS_MAX + 1).void == (0,)
    assert authors.admit(authored(B, 0, 1, 2), GAPS_MAX + 1).void == ()


def test_a_session_has_no_room_for_new_messages_long_before_a_gap_is_forgotten() -> None:
    authors = leaving(GAPS_LEFT_MAX)
    old, new = Author("g", "n", 1, 6), Author("g", "n", 1, 2 * GAPS_LEFT_MAX)
    assert [authors.has_room(each) for each in (old, new)] == [True, False]
    assert authors.has_room(Author("g", "n", 2, 5))
    authors.take(old, 1, GAPS_LEFT_MAX)
    assert authors.has_room(new)


@pytest.mark.parametrize("act", [Act.JOINS, Act.LEAVES])
def test_whoever_joins_or_leaves_after_having_said_something_later_does_not(act: Act) -> None:
    log = log_of([(1, 0, 1), (1, 5, 1)])
    assert append(log, authored(B, 0, 1, 3, act=act)).void == (0,)
    assert append(log, authored(B, 1, 1, 6, act=act)).void == ()


def test_what_a_site_says_of_a_session_is_not_one_of_its_messages() -> None:
    log = log_of([(1, 0, 1), (1, 5, 1)])
    before = encode(log.sessions.authors)
    for seq in range(2):
        assert append(log, authored(B, seq, 1, UNNUMBERED, act=Act.JOINS)).void == ()
    assert encode(log.sessions.authors) == before


def test_what_was_void_when_it_was_retracted_is_judged_anew() -> None:
    again = authored(B, 0, 1, 0, void=(0,))
    admitted = Log().admit(again)
    assert admitted is not None
    assert admitted.void == ()


# --- bounded memory ---


def test_a_session_is_unknown_again_once_its_newest_message_lies_far_back() -> None:
    authors = Authors()
    author = Author("g", "n", 1, 7)
    authors.take(author, 1, 10)
    assert authors.admit(authored(A, 0, 1, 7), 10 + FORGOTTEN_AFTER).void == (0,)
    assert authors.admit(authored(A, 0, 1, 7), 11 + FORGOTTEN_AFTER).void == ()


def test_sessions_that_are_unknown_again_leave_memory() -> None:
    authors, position = Authors(), 0
    for session in range(500):
        authors.take(Author("g", "n", session, 0), 1, position)
        position += SWEEP_EVERY // 4
    assert len(authors.known) <= 4 * (FORGOTTEN_AFTER // SWEEP_EVERY + 2)


# --- in a group ---


def speak(group: LiveGroup, at_s: float, name: str, number: int, count: int = 1, session: int = 77) -> None:
    """A participant multicasts through a site."""
    author = Author("orders", "alice", session, number)

    def do() -> None:
        bodies = tuple(b"%d" % (number + index) for index in range(count))
        group.site(name).participant_says(Speak(bodies, Level.AGREED, author))

    group.at(at_s, do)


def bodies_at(group: LiveGroup, name: str) -> list[bytes]:
    """What of the session a site's participants have got."""
    return [
        body
        for event in group.told(name, Delivered)
        if event.bundle.author is not None
        for index, body in enumerate(event.bundle.bodies)
        if index not in event.bundle.void
    ]


def test_the_same_messages_through_two_sites_come_up_once_at_every_site() -> None:
    group = LiveGroup(cut(2, 4, "C"))
    for number in range(0, 12, 3):
        speak(group, 1.9 + number / 20, "C", number, 3)
    for number in range(12):
        speak(group, 2.5 + number / 10, "A", number)
    group.run()
    for name in "ABC":
        assert sorted(bodies_at(group, name), key=int) == [b"%d" % number for number in range(12)]
    assert group.log("A") == group.log("B") == group.log("C")


def test_the_site_is_told_that_all_of_a_bundle_had_come_up_before() -> None:
    group = LiveGroup()
    speak(group, 2, "A", 0, 2)
    speak(group, 3, "B", 0, 2)
    speak(group, 3, "B", 1, 2)
    group.run()
    for name in "AB":
        told = [event.bundle for event in group.told(name, Delivered) if event.bundle.author is not None]
        assert [(bundle.author.number, bundle.void) for bundle in told if bundle.author is not None] == [
            (0, ()),
            (0, (0, 1)),
            (1, (0,)),
        ]


def test_a_new_life_still_knows_and_so_does_one_that_begins_with_a_snapshot() -> None:
    group = LiveGroup(crash(2, "C"), recover(4, "C"), rate=30, retained_positions=10)
    speak(group, 1, "C", 0, 5)
    speak(group, 5, "C", 0, 5)
    speak(group, 5.5, "A", 4, 2)
    group.run()
    assert bodies_at(group, "A") == [b"%d" % number for number in range(6)]
    (again,) = [event.bundle for event in group.told("C", Delivered, from_s=5) if event.bundle.void == (0, 1, 2, 3, 4)]
    assert again.origin == C


def test_all_know_after_a_restart_of_all() -> None:
    group = LiveGroup(crash(3, *"ABC"), recover(3.5, *"ABC"))
    speak(group, 1, "C", 0, 5)
    speak(group, 5, "B", 0, 6)
    group.run()
    (last,) = [event for event in group.told("A", Delivered, from_s=4) if event.bundle.author is not None]
    assert last.bundle.void == (0, 1, 2, 3, 4)


def test_a_bundle_given_by_the_host_keeps_its_id() -> None:
    group = LiveGroup(rate=0.01)
    site = group.site("A")
    made = authored(A, 40, 1, 0)

    def multicast() -> None:
        group.simulation.observe_multicast(A, made)
        site.handle(FromAbove(made))
        site.participant_multicasts(b"")

    group.at(1, multicast)
    group.run()
    assert group.shown("B") == [made.id, made.id + 1]
