"""What follows what has been retracted waits for it, and nothing waits for ever."""

from __future__ import annotations

from typing import Any

import pytest

from ordercast.core.deliveries import Delivered, Retracted
from ordercast.core.effects import Effects, Multicast
from ordercast.core.events import Event, FromAbove, FromBelow, Now, TimerFired
from ordercast.core.ids import MessageId, origin_of
from ordercast.core.layer import Waiting
from ordercast.core.messages import Bundle, Level
from ordercast.protocols.groups import alignment
from ordercast.protocols.groups.causal import Causal
from ordercast.protocols.groups.finality import Finality
from ordercast.protocols.groups.messages import Ordering, Unordered
from ordercast.protocols.groups.site_group import SiteGroup
from ordercast.protocols.groups.taken_back import TakenBack
from ordercast.protocols.membership.messages import Adopted
from tests.protocols.groups.live import Fault, LiveGroup, crash, cut, messages_of, recover
from tests.protocols.groups.made import VIEW, A, B, C, bundle
from tests.protocols.groups.test_lives import group_of_a_new_life

NEAR_MS, FAR_MS = 5.0, 60.0
DELAYS_MS = [
    [0 if one == to else FAR_MS if "D" in (one, to) and "E" not in (one, to) else NEAR_MS for to in "ABCDE"]
    for one in "ABCDE"
]
"""D is far from all but E."""

ORDERED_BY_D: tuple[dict[str, Any], ...] = (
    {"name": "token-site", "options": {"site": "D"}},
    {"name": "hybrid", "options": {"active": ["D"]}},
    {"name": "dynamic-hybrid", "options": {"active": ["D"]}},
)


def cut_off_together(*faults: Fault, protocol: dict[str, Any] = ORDERED_BY_D[0], **more: Any) -> LiveGroup:
    """D and E are cut off for two seconds, deliver each other's messages, and answer them."""
    return LiveGroup(cut(2, 4, "D", "E"), *faults, sites="ABCDE", protocol=protocol, one_way_ms=DELAYS_MS, **more)


def before_their_question(group: LiveGroup, until_s: float = 4) -> list[tuple[MessageId, MessageId]]:
    """Messages of D that E had delivered when it multicast another, which has come up before them."""
    place = {message: index for index, message in enumerate(messages_of(group.log("A")))}
    given = [
        (at_s, event.bundle.id)
        for at_s, site, event in group.diary.told
        if site == 4 and isinstance(event, Delivered) and event.position is not None and event.bundle.origin == 3
    ]
    return [
        (question, answer)
        for asked_s, answer in group.diary.multicasts
        for given_s, question in given
        if origin_of(answer) == 4 and given_s < asked_s < until_s
        if answer in place and (question not in place or place[answer] < place[question])
    ]


@pytest.mark.parametrize("protocol", ORDERED_BY_D, ids=lambda protocol: protocol["name"])
def test_an_answer_to_what_is_retracted_comes_up_after_it(protocol: dict[str, Any]) -> None:
    group = cut_off_together(protocol=protocol).run()
    assert group.told("E", Retracted)
    assert before_their_question(group) == []
    back = group.site("E").group.taken_back
    assert (back.voids, back.held, back.marks) == ([], [], [])


def test_nobody_waits_for_a_life_that_is_over() -> None:
    for faults in ([crash(3, "D")], [crash(3, "D"), recover(3.2, "D")]):
        group = cut_off_together(*faults, core="ABCE").run()
        assert before_their_question(group) != []
        assert set(group.multicast("E")) <= set(messages_of(group.log("A")))


def test_nobody_waits_for_a_site_that_is_away_and_all_do_once_it_is_back() -> None:
    group = cut_off_together(cut(3, 5, "D"), duration_s=8).run()
    order = messages_of(group.log("A"))
    assert before_their_question(group) != []
    since_back = group.multicast("E", from_s=5.5)[0]
    void = [id for id in group.multicast("D", 2, 4) if id in group.shown("E", 2, 4)]
    assert max(map(order.index, void)) < order.index(since_back)


def test_who_leaves_takes_along_nothing_that_waits_for_ever() -> None:
    for leaves_s in (3.9, 4.1, 4.3):
        cut_off_together(leaves=((leaves_s, "E"),), core="ABCD").run()


def test_fifo_and_causal_messages_do_not_wait() -> None:
    group = cut_off_together(level="agreed causal fifo", rate=5).run()
    assert before_their_question(group) == []
    void, back_s = group.multicast("D", 2, 4), 4.2
    first_s = min(
        at_s
        for at_s, site, event in group.diary.told
        if isinstance(event, Delivered) and site == 0 and event.bundle.id in void and event.position is not None
    )
    soon = [event for event in group.told("A", Delivered, back_s, first_s) if event.bundle.origin == 4]
    assert {event.bundle.level for event in soon} == {Level.FIFO, Level.CAUSAL}


def test_who_answers_a_causal_message_follows_what_its_sender_has_retracted() -> None:
    group, void = group_of_a_new_life(), bundle(C, 0)
    do(group, FromBelow(A, Adopted(VIEW, True)))
    group.view, group.causal, group.finality = VIEW, Causal.of(VIEW), Finality.of(VIEW, 0)
    out = Effects()
    alignment.align(group, group.log.whole, group.log.sessions.copy(), Now(0, 0, 0), out)
    causal = bundle(B, 1, Level.CAUSAL, past=(0, 0, 0))
    do(group, FromBelow(B, Unordered(0, causal, (void, bundle(A, 8)))))
    assert ordered(do(group, FromAbove(bundle(A, 20)))) == 0
    assert [each.id for each in group.taken_back.held] == [bundle(A, 20).id]
    assert group.waiting_for() == Waiting("message 0, which is void here, to come up again, of", C)
    group.on_ordered(void, Effects())
    assert ordered(do(group, TimerFired("tell"))) == 1
    assert group.taken_back.held == []


def do(group: SiteGroup[Any], event: Event) -> Effects:
    """Something happens at the site."""
    out = Effects()
    group.handle(event, Now(0, 0, 0), out)
    return out


def ordered(out: Effects) -> int:
    """How many multicasts of the ordering protocol."""
    return sum(isinstance(each, Multicast) and isinstance(each.message, Ordering) for each in out.list)


# --- the record of it ---


def own(seq: int) -> Bundle:
    return bundle(A, seq)


def others(seq: int) -> Bundle:
    return Bundle(bundle(B, seq).id, (b"question",))


def test_own_bundles_wait_for_what_was_in_the_log_when_they_were_accepted() -> None:
    back = TakenBack()
    back.accept(own(0).id, length=11, final=10)
    back.accept(own(1).id, length=12, final=10)
    back.add([(11, others(0)), (13, others(1))], start=11, final=10)
    assert [each.followed_from for each in back.voids] == [own(1).id, own(2).id]
    assert [back.waits_for(own(seq)) is not None for seq in range(3)] == [False, True, True]
    assert (back.hold(own(0)), back.hold(own(1)), back.hold(own(2))) == (False, True, True)
    assert [back.holds(own(seq)) for seq in range(3)] == [False, True, True]
    assert b"question" not in back.voids[0].bundle.bodies


def test_what_takes_the_place_of_what_is_retracted_is_not_followed() -> None:
    back = TakenBack()
    back.accept(own(0).id, length=13, final=10)
    back.add([(12, others(0))], start=12, final=10)
    assert back.marks == [(12, own(0).id)]
    back.add([(11, others(1)), (12, others(2))], start=11, final=10)
    assert {each.bundle.id: each.followed_from for each in back.voids} == {
        others(0).id: own(0).id,
        others(1).id: own(0).id,
        others(2).id: own(1).id,
    }


def test_what_is_retracted_twice_is_followed_by_whoever_followed_it_at_first() -> None:
    back = TakenBack()
    back.accept(own(0).id, length=12, final=10)
    back.add([(11, others(0))], start=11, final=10)
    back.accept(own(1).id, length=12, final=10)
    back.add([(11, others(0))], start=11, final=10)
    assert [each.followed_from for each in back.voids] == [own(0).id]


def test_what_others_tell_before_it_is_retracted_here_is_followed_from_where_it_was_in_the_log() -> None:
    back = TakenBack()
    back.accept(own(0).id, length=12, final=10)
    back.accept(own(1).id, length=13, final=10)
    back.hear([others(2), others(1), others(0)])
    back.add([(11, others(0)), (12, others(1))], start=11, final=10)
    assert [(each.bundle.id, each.followed_from) for each in back.voids] == [
        (others(0).id, own(0).id),
        (others(1).id, own(1).id),
        (others(2).id, own(2).id),
    ]


def test_what_is_final_needs_no_mark() -> None:
    back = TakenBack()
    back.accept(own(0).id, length=10, final=10)
    back.accept(own(1).id, length=12, final=10)
    assert back.marks == [(12, own(1).id)]
    back.settle(12)
    assert back.marks == []


def test_members_are_told_once_in_a_view() -> None:
    back = TakenBack()
    back.add([(11, others(0))], start=11, final=10)
    assert back.tell() == ()
    back.untold = True
    told = back.tell()
    assert ([each.id for each in told], back.tell()) == ([others(0).id], ())
    there = TakenBack()
    there.accept(own(4).id, length=10, final=10)
    there.hear(list(told))
    there.hear(list(told))
    assert [(each.bundle.id, each.followed_from) for each in there.voids] == [(others(0).id, own(5).id)]
