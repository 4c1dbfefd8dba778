"""Who is a member of which participants' group: by the order alone, the same at every site."""

from __future__ import annotations

from typing import Any

import pytest

from ordercast.core.deliveries import (
    Delivered,
    Delivery,
    Finalized,
    GroupViewChanged,
    Logged,
    Retracted,
    Snapshot,
    SnapshotWanted,
    Taken,
    Truncated,
    ViewChanged,
)
from ordercast.core.effects import Deliver, Effect, Effects, Multicast, Save
from ordercast.core.entries import Entry
from ordercast.core.events import Event, FromAbove, FromBelow, Now, Started
from ordercast.core.ids import ViewId
from ordercast.core.messages import UNNUMBERED, Act, Author, Bundle, Level
from ordercast.core.participants import Attach, Detach, JoinGroup, LeaveGroup, Member, Speak
from ordercast.core.views import View
from ordercast.protocols.groups.participants import SAVE_EVERY, Participants
from tests.protocols.groups.live import LiveGroup, crash, cut, pause, recover
from tests.protocols.groups.made import VIEW, A, B, C, authored, bundle

NOW = Now(0, 0, 0)


class Site:
    """The layer of one site, whose group below the test plays."""

    def __init__(
        self, me: Any = A, saved: bytes | None = None, entries: tuple[Entry, ...] = (), final: int = 0
    ) -> None:
        self.layer = Participants.start(me, 0, saved, entries, final)
        self.log: list[Entry] = list(entries)
        self.effects: list[Effect] = []
        self.do(Started())

    def do(self, event: Event) -> None:
        out = Effects()
        self.layer.handle(event, NOW, out)
        self.effects += out.list

    def ask(self, *asked: Any) -> None:
        for each in asked:
            self.do(FromAbove(each))

    def hear(self, *told: Delivery) -> None:
        for each in told:
            self.do(FromBelow(self.layer.me, each))

    def order(self, *contents: Bundle | View, shown: bool = True) -> None:
        """These come up at the next positions."""
        for content in contents:
            position = self.log[-1].end if self.log else 0
            entry = Entry(position, position + (len(content.bodies) if isinstance(content, Bundle) else 1), content, 0)
            self.log.append(entry)
            self.hear(Logged(entry))
            if shown:
                self.show(entry)

    def show(self, entry: Entry) -> None:
        content = entry.content
        if isinstance(content, Bundle):
            self.hear(Delivered(content, entry.position, False))
        elif isinstance(content, View):
            self.hear(ViewChanged(content, entry.position))

    def retract(self, position: int) -> None:
        self.log = [entry for entry in self.log if entry.position < position]
        self.hear(Truncated(position), Retracted(position))

    def told(self) -> list[str]:
        """What the host has been told of groups, in short: "orders@5 p1 p2 +p2 -p3"."""
        return [in_short(each.message) for each in self.effects if is_told(each)]  # type: ignore[union-attr]

    def multicast(self) -> list[Bundle]:
        """The bundles that it has given to the group."""
        sent = [each.message for each in self.effects if isinstance(each, Multicast)]
        return [each for each in sent if isinstance(each, Bundle)]

    def saved(self) -> bytes:
        """What it has saved last."""
        return [each.value for each in self.effects if isinstance(each, Save)][-1]


def is_told(effect: Effect) -> bool:
    return isinstance(effect, Deliver) and isinstance(effect.message, GroupViewChanged)


def in_short(told: GroupViewChanged) -> str:
    words = [f"{told.group}@{told.position}", *(member.name for member in told.members)]
    words += [f"+{member.name}" for member in told.joined] + [f"-{member.name}" for member in told.left]
    return " ".join(words)


def joins(origin: Any, seq: int, session: int, number: int = 0, life: int = 0, group: str = "orders") -> Bundle:
    return authored(origin, seq, session, number, act=Act.JOINS, life=life, group=group)


def leaves(origin: Any, seq: int, session: int, number: int = 9, life: int = 0) -> Bundle:
    return authored(origin, seq, session, number, act=Act.LEAVES, life=life)


def view(*members: Any, id: int = 2, lives: tuple[int, ...] = ()) -> View:
    return View(ViewId(id), members, lives)


# --- members by the order ---


def test_members_come_and_go_at_the_places_of_their_bundles() -> None:
    site = Site()
    site.order(VIEW, joins(A, 0, 1), joins(B, 0, 2), bundle(C, 0), leaves(A, 1, 1))
    assert site.told() == ["orders@1 p1 +p1", "orders@2 p1 p2 +p2", "orders@4 p2 -p1"]


def test_deliveries_pass_unchanged_and_what_they_change_is_told_behind_them() -> None:
    site = Site()
    site.order(VIEW, joins(A, 0, 1))
    kinds = [type(each.message).__name__ for each in site.effects if isinstance(each, Deliver)]
    assert kinds == ["Logged", "ViewChanged", "Logged", "Delivered", "GroupViewChanged"]
    delivered = [each.message for each in site.effects if isinstance(each, Deliver)][3]
    assert delivered == Delivered(joins(A, 0, 1), 1, False)


def test_to_join_twice_changes_nothing_and_to_join_through_another_site_moves_the_member() -> None:
    site = Site()
    site.order(joins(A, 0, 1), joins(A, 1, 1, 5), joins(B, 0, 1, 6))
    assert site.told() == ["orders@0 p1 +p1", "orders@2 p1"]
    assert site.layer.told.of("orders") == (Member(1, "p1", B, 0, 0),)


def test_groups_are_apart() -> None:
    site = Site()
    site.order(joins(A, 0, 1, group="a"), joins(A, 1, 2, group="b"), leaves(A, 2, 2))
    assert site.told() == ["a@0 p1 +p1", "b@1 p2 +p2"]


def test_members_by_way_of_a_site_that_leaves_the_view_are_gone_where_it_comes_up() -> None:
    site = Site()
    site.order(VIEW, joins(A, 0, 1), joins(B, 0, 2), joins(B, 1, 3), joins(B, 2, 4, group="more"), view(A, C))
    assert site.told()[4:] == ["more@5 -p4", "orders@5 p1 -p2 -p3"]


def test_members_by_way_of_an_earlier_life_are_gone() -> None:
    site = Site()
    site.order(VIEW, joins(B, 0, 2), view(A, B, C, lives=(0, 1, 0)), joins(B, 0, 3, life=1))
    assert site.told()[1:] == ["orders@2 -p2", "orders@3 p3 +p3"]


def test_a_site_speaks_only_for_those_who_are_members_by_way_of_itself() -> None:
    """What it says of a participant that has gone on to another site comes too late."""
    site = Site()
    site.order(joins(A, 0, 1), joins(B, 0, 1, 5), leaves(A, 1, 1, UNNUMBERED), joins(A, 2, 1, UNNUMBERED))
    assert site.layer.told.of("orders") == (Member(1, "p1", B, 0, 0),)
    site.order(leaves(B, 1, 1, UNNUMBERED))
    assert site.layer.told.of("orders") == ()


# --- what the host asks for ---


def test_bundles_get_the_next_ids_and_the_host_is_told_of_them() -> None:
    site = Site(B)
    site.ask(bundle(B, 7, bodies=3))
    site.ask(Attach(1, "p1"), JoinGroup(1, "orders", 4), LeaveGroup(1, "orders", 5))
    site.ask(Speak((b"x", b"y"), Level.SAFE, Author("orders", "p1", 1, 6)))
    first, join, leave, spoken = site.multicast()
    assert (first, join, leave) == (bundle(B, 7, bodies=3), joins(B, 10, 1, 4), leaves(B, 11, 1, 5))
    assert (spoken.id, spoken.bodies, spoken.level) == (bundle(B, 12).id, (b"x", b"y"), Level.SAFE)
    taken = [each.message for each in site.effects if isinstance(each, Deliver) and isinstance(each.message, Taken)]
    assert taken == [Taken(each) for each in (join, leave, spoken)]
    assert site.layer.next_message == bundle(B, 14).id


def test_an_id_is_never_given_twice() -> None:
    site = Site()
    site.ask(bundle(A, 7))
    with pytest.raises(AssertionError, match="has been multicast before"):
        site.ask(bundle(A, 7))


def test_whoever_is_gone_leaves_all_groups() -> None:
    site = Site()
    site.ask(Attach(1, "p1"), JoinGroup(1, "a", 0), JoinGroup(1, "b", 1), JoinGroup(1, "c", 2))
    site.ask(LeaveGroup(1, "b", 3), Detach(1))
    said = [each.author for each in site.multicast()[4:]]
    assert [(each.group, each.number, each.act) for each in said if each] == [
        ("a", UNNUMBERED, Act.LEAVES),
        ("c", UNNUMBERED, Act.LEAVES),
    ]


def test_a_site_that_is_back_says_again_who_is_connected() -> None:
    site = Site(B)
    site.ask(*(Attach(session, f"p{session}") for session in (1, 2, 3)))
    site.ask(*(JoinGroup(session, "orders", 0) for session in (1, 2, 3)))
    site.order(VIEW, *site.multicast())
    site.ask(Detach(2))
    site.ask(LeaveGroup(3, "orders", 1))
    before = len(site.multicast())
    site.order(view(A, C))
    assert len(site.multicast()) == before
    site.order(view(A, B, C, id=3))
    (again,) = site.multicast()[before:]
    assert again == joins(B, again.id & 0xFF, 1, UNNUMBERED)
    site.order(again, view(A, B, id=4))
    assert len(site.multicast()) == before + 1
    assert site.told()[-2:] == ["orders@4 -p1 -p2 -p3", "orders@6 p1 +p1"]


# --- what is retracted ---


def test_what_is_retracted_is_told_and_what_is_left_stays() -> None:
    site = Site()
    site.order(VIEW, joins(A, 0, 1))
    site.hear(Finalized(2))
    site.order(joins(A, 1, 2), joins(B, 0, 3), leaves(A, 2, 1))
    site.retract(3)
    assert site.told()[-1] == "orders@3 p1 p2 +p1 -p3"
    site.order(joins(C, 0, 4))
    assert site.told()[-1] == "orders@3 p1 p2 p4 +p4"


def test_a_retraction_of_what_has_not_been_delivered_tells_nothing() -> None:
    """Behind a safe bundle that is not held by enough members."""
    site = Site()
    site.order(joins(A, 0, 1))
    site.order(joins(A, 1, 2), shown=False)
    site.retract(1)
    assert site.told() == ["orders@0 p1 +p1"]


def test_what_is_final_before_it_is_delivered_counts_once() -> None:
    site = Site()
    site.order(joins(A, 0, 1), joins(A, 1, 2), shown=False)
    site.hear(Finalized(2))
    assert site.told() == []
    for entry in site.log:
        site.show(entry)
    assert site.told() == ["orders@0 p1 +p1", "orders@1 p1 p2 +p2"]
    assert site.layer.members == site.layer.told
    assert site.layer.tail == []


# --- snapshots and new lives ---


def test_a_snapshot_is_of_the_members_at_the_last_final_position() -> None:
    site, late = Site(), Site(B)
    site.order(VIEW, joins(A, 0, 1), joins(C, 0, 2))
    site.hear(Finalized(2), SnapshotWanted(2))
    snapshot = next(each.message for each in site.effects if isinstance(each, Multicast))
    late.order(joins(C, 7, 5))
    late.hear(snapshot)
    assert late.told()[-1] == "orders@2 p1 +p1 -p5"
    late.log = site.log[:2]
    late.order(*(entry.content for entry in site.log[2:]))  # type: ignore[arg-type]
    assert late.layer.told == site.layer.told


def test_whoever_is_connected_to_a_site_that_begins_with_a_snapshot_joins_again() -> None:
    site, other = Site(B), Site()
    site.ask(Attach(1, "p1"), JoinGroup(1, "orders", 0))
    site.order(*site.multicast())
    other.order(joins(A, 0, 2))
    other.hear(Finalized(1), SnapshotWanted(1))
    site.hear(next(each.message for each in other.effects if isinstance(each, Multicast)))
    assert site.told()[-1] == "orders@1 p2 +p2 -p1"
    assert site.multicast()[-1] == joins(B, 1, 1, UNNUMBERED)


def test_a_snapshot_is_saved_before_the_host_is_told_of_it() -> None:
    site = Site()
    site.hear(Snapshot(40, b"\x91\x80"))
    save, told = site.effects
    assert isinstance(save, Save)
    assert told == Deliver(A, Snapshot(40, b"\x91\x80"))


@pytest.mark.parametrize("final", [2, 4, 5])
def test_a_new_life_begins_with_what_was_final_and_sees_the_rest_again(final: int) -> None:
    site = Site()
    site.order(VIEW, joins(A, 0, 1))
    site.hear(Finalized(2))
    site.order(view(A, B, id=2), joins(B, 0, 2), leaves(A, 1, 1))
    again = Site(B, site.saved(), tuple(site.log), final)
    assert again.layer.members.of("orders") == again.layer.told.of("orders")
    for entry in site.log:
        if entry.position >= final:
            again.show(entry)
    assert again.layer.told == site.layer.told
    assert again.told()[0] == {2: "orders@2 p1", 4: "orders@4 p1 p2", 5: "orders@5 p2"}[final]


def test_what_is_saved_says_from_where_entries_are_needed_and_that_is_not_far_back() -> None:
    site = Site()
    site.order(VIEW, joins(A, 0, 1))
    before = len(site.effects)
    for below in range(2, 5 * SAVE_EVERY, 7):
        site.hear(Finalized(below))
    saves = [each for each in site.effects[before:] if isinstance(each, Save)]
    assert saves
    assert not any(save.binding for save in saves), "nothing has to wait for it"
    late = Site(B, site.saved(), (), site.layer.final)
    assert late.layer.told == site.layer.told
    assert site.layer.final - late.layer.saved_at < SAVE_EVERY


# --- in a group ---


def people(group: LiveGroup, at_s: float, name: str, *sessions: int, number: int = 0, of: str = "orders") -> None:
    """Participants connect to a site and join a group."""
    for session in sessions:
        group.at(at_s, lambda session=session: group.site(name).participant_says(Attach(session, f"p{session}")))  # type: ignore[misc]
        join = JoinGroup(session, of, number)
        group.at(at_s, lambda join=join: group.site(name).participant_says(join))  # type: ignore[misc]


def last_told(group: LiveGroup, name: str) -> list[str]:
    return [member.name for member in group.told(name, GroupViewChanged)[-1].members]


def test_all_sites_see_the_same_members_at_the_same_positions() -> None:
    group = LiveGroup()
    people(group, 1, "A", 1, 2)
    people(group, 1.001, "B", 3)
    people(group, 2, "C", 4)
    group.at(3, lambda: group.site("A").participant_says(Detach(1)))
    group.at(3, lambda: group.site("B").participant_says(LeaveGroup(3, "orders", 1)))
    group.run()
    told = group.told("A", GroupViewChanged)
    assert len(told) == 6
    assert told == group.told("B", GroupViewChanged) == group.told("C", GroupViewChanged)
    assert last_told(group, "A") == ["p2", "p4"]


def test_a_crash_ends_memberships_and_the_new_life_is_told_who_is_in() -> None:
    group = LiveGroup(crash(2, "B"), recover(4, "B"))
    people(group, 1, "A", 1)
    people(group, 1, "B", 2, 3)
    group.run()
    assert last_told(group, "A") == last_told(group, "B") == last_told(group, "C") == ["p1"]
    (view_at,) = [each.position for each in group.told("A", ViewChanged) if each.view.members == (A, C)]
    assert [each.position for each in group.told("A", GroupViewChanged) if each.left] == [view_at]


@pytest.mark.parametrize(("fault", "late_s"), [(cut(2, 4, "B"), 3), (pause(2, 2.5, "B"), 4.6)])
def test_a_site_that_is_back_brings_its_participants_back(fault: Any, late_s: float) -> None:
    group = LiveGroup(fault)
    people(group, 1, "B", 1, 2)
    people(group, late_s, "B", 3)
    group.run()
    assert sorted(last_told(group, "A")) == sorted(last_told(group, "B")) == ["p1", "p2", "p3"]
    assert any(each.left for each in group.told("A", GroupViewChanged))


def test_members_that_only_a_minority_has_seen_are_taken_back() -> None:
    """The token site itself is cut off: it orders what is multicast there until it notices."""
    group = LiveGroup(cut(2, 4, "C"), protocol={"options": {"site": "C"}})
    people(group, 2.05, "C", 1)
    group.run()
    first, *_ = group.told("C", GroupViewChanged)
    (back,) = [each for each in group.told("C", GroupViewChanged) if not each.members]
    (retracted,) = group.told("C", Retracted)
    assert (first.position >= retracted.from_position, back.position) == (True, retracted.from_position)
    assert last_told(group, "A") == last_told(group, "C") == ["p1"]


def test_a_site_too_far_behind_learns_the_members_from_a_snapshot() -> None:
    group = LiveGroup(crash(1.5, "C"), recover(5, "C"), rate=30, retained_positions=10)
    people(group, 1, "A", 1)
    people(group, 3, "B", 2)
    group.run()
    assert group.told("C", Snapshot)
    assert last_told(group, "C") == ["p1", "p2"]
    assert group.site("C").participants.told == group.site("A").participants.told


def test_after_a_restart_of_all_nobody_is_in() -> None:
    group = LiveGroup(crash(3, *"ABC"), recover(3.5, *"ABC"))
    people(group, 1, "A", 1)
    people(group, 2, "C", 2)
    group.run()
    assert last_told(group, "B") == []
