"""What a site tells, as records: columns, counting, lives."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ordercast.core.deliveries import (
    Delivered,
    Delivery,
    Entered,
    Finalized,
    GroupBlocked,
    GroupLeft,
    Logged,
    Retracted,
    RoleChanged,
    Snapshot,
    SnapshotWanted,
    Truncated,
    ViewChanged,
)
from ordercast.core.effects import Note
from ordercast.core.entries import Entry, RoleChange
from ordercast.core.ids import MessageId, SiteId, ViewId, pack_message_id
from ordercast.core.messages import Author, Bundle, Level
from ordercast.core.recorder import Recorder
from ordercast.core.trace import CONTINUES, JOINS, Kind, TraceRecord
from ordercast.core.views import View

A, B = SiteId(0), SiteId(1)
VIEW = View(ViewId(3), (A, B, SiteId(4)))


class Records:
    """A sink that keeps single records and, by themselves, what comes for bundles."""

    def __init__(self) -> None:
        self.records: list[TraceRecord] = []
        self.bundles: list[tuple[TraceRecord, list[int]]] = []

    def write(self, record: TraceRecord) -> None:
        self.records.append(record)

    def write_bundle(self, first: TraceRecord, sizes: Sequence[int]) -> None:
        self.bundles.append((first, list(sizes)))


class Telling:
    """A recorder, and what has come of it."""

    def __init__(self, resilience: int = 0) -> None:
        self.sink = Records()
        self.recorder = Recorder("r", B, 2, self.sink, resilience)
        self.at_us = 0

    def tells(self, *events: Delivery) -> list[TraceRecord]:
        """What is recorded of these events."""
        before = len(self.sink.records)
        for event in events:
            self.at_us += 1
            self.recorder.on_group(self.at_us, event)
        return self.sink.records[before:]

    def multicasts(self, bundle: Bundle) -> TraceRecord:
        """The record of a bundle of one message."""
        self.recorder.on_multicast(self.at_us, bundle)
        return self.sink.records[-1]


def message(seq: int, level: Level = Level.AGREED, origin: SiteId = A, count: int = 1) -> Bundle:
    return Bundle(pack_message_id(origin, 0, seq), (b"xy",) * count, level)


def test_every_record_names_its_life_and_counts() -> None:
    records = Telling().tells(Entered(VIEW, False), GroupBlocked(), Finalized(4), GroupLeft())
    assert [(each.run, each.site, each.incarnation, each.index, each.at_us) for each in records] == [
        ("r", 1, 2, 0, 1),
        ("r", 1, 2, 1, 2),
        ("r", 1, 2, 2, 3),
        ("r", 1, 2, 3, 4),
    ]
    assert [each.kind for each in records] == [Kind.VIEW, Kind.BLOCK, Kind.FINALIZE, Kind.LEAVE]


@pytest.mark.parametrize(("continuing", "word"), [(True, CONTINUES), (False, JOINS)])
def test_a_view_is_installed(continuing: bool, word: str) -> None:
    (record,) = Telling(resilience=1).tells(Entered(VIEW, continuing))
    assert (record.view, record.members, record.size, record.detail) == (3, (0, 1, 4), 2, word)
    assert (record.position, record.delivery_index) == (None, None)


@pytest.mark.parametrize(("resilience", "needed"), [(0, 2), (1, 2), (2, 3), (5, 3)])
def test_a_view_says_how_many_must_hold_what_is_safe(resilience: int, needed: int) -> None:
    (record,) = Telling(resilience).tells(Entered(VIEW, True))
    assert record.size == needed


def test_what_comes_up_in_the_order_is_counted() -> None:
    role = RoleChanged(RoleChange(SiteId(4), True), 9)
    tells = Telling().tells
    records = tells(Entered(VIEW, True), ViewChanged(VIEW, 7), Delivered(message(0), 8, True), role)
    assert [(each.kind, each.view, each.position, each.delivery_index) for each in records[1:]] == [
        (Kind.VIEW, 3, 7, 0),
        (Kind.DELIVER, 3, 8, 1),
        (Kind.ROLE, 3, 9, 2),
    ]
    assert (records[2].message, records[2].level, records[2].size, records[2].final) == (0, "agreed", 2, True)
    assert (records[3].origin, records[3].detail) == (4, "active")


def test_fifo_and_causal_messages_have_no_place() -> None:
    records = Telling().tells(Entered(VIEW, True), Delivered(message(0, Level.FIFO), None, True))
    assert (records[1].view, records[1].level) == (3, "fifo")
    assert (records[1].position, records[1].delivery_index) == (None, None)


def test_an_ordered_message_belongs_to_the_view_that_it_follows_in_the_order() -> None:
    later = View(ViewId(4), (A, B))
    records = Telling().tells(
        Delivered(message(0), 6, False), ViewChanged(VIEW, 7), Entered(later, True), Delivered(message(1), 8, False)
    )
    assert [(each.kind, each.view) for each in records] == [
        (Kind.DELIVER, None),
        (Kind.VIEW, 3),
        (Kind.VIEW, 4),
        (Kind.DELIVER, 3),
    ]


def test_a_bundle_is_written_at_once_and_counted_in_full() -> None:
    telling = Telling()
    telling.tells(Delivered(message(5, count=3), 10, False), Finalized(13), Delivered(message(8), 13, False))
    (first, sizes), (finalize, last) = telling.sink.bundles[0], telling.sink.records
    assert (first.index, first.message, first.seq, first.position, first.delivery_index) == (0, 5, 5, 10, 0)
    assert sizes == [2, 2, 2]
    assert (finalize.index, finalize.position) == (3, 13)
    assert (last.index, last.delivery_index) == (4, 3)


def test_what_is_void_keeps_its_position_and_is_not_delivered() -> None:
    bundle = Bundle(MessageId(5), (b"a", b"bb"), author=Author("g", "me", 1, 0), void=(0,))
    records = Telling().tells(Delivered(bundle, 10, False))
    assert [(each.kind, each.message, each.position, each.delivery_index, each.group) for each in records] == [
        (Kind.ORDER, 5, 10, 0, "g"),
        (Kind.DELIVER, 6, 11, 1, "g"),
    ]


def test_only_what_is_safe_is_recorded_when_it_is_logged() -> None:
    entries = [Entry(4, 5, message(0, Level.SAFE), 0), Entry(5, 6, message(1), 0), Entry(6, 7, VIEW, 0)]
    records = Telling().tells(*(Logged(entry) for entry in entries), Truncated(3), SnapshotWanted(2))
    assert [(each.kind, each.position, each.delivery_index) for each in records] == [(Kind.ORDER, 4, None)]


def test_deliveries_go_on_elsewhere() -> None:
    records = Telling().tells(ViewChanged(VIEW, 2), Retracted(3), Snapshot(50, b""), Delivered(message(0), 50, True))
    assert [(each.kind, each.position, each.view) for each in records[1:]] == [
        (Kind.RETRACT, 3, None),
        (Kind.RECOVER, 50, None),
        (Kind.DELIVER, 50, None),
    ]


def test_the_last_records_of_a_life() -> None:
    telling = Telling()
    telling.recorder.on_recover(1, 12)
    telling.recorder.on_end(2, True)
    telling.recorder.on_crash(3)
    records = telling.sink.records
    assert [(each.kind, each.position, each.final) for each in records] == [
        (Kind.RECOVER, 12, None),
        (Kind.END, None, True),
        (Kind.CRASH, None, None),
    ]


def test_recording_goes_on_in_the_midst_of_a_life() -> None:
    telling = Telling()
    telling.tells(Entered(VIEW, True), ViewChanged(VIEW, 2), Delivered(message(0, Level.FIFO), None, True))
    telling.recorder.on_resume(5)
    (after,) = telling.tells(Delivered(message(1), 9, False))
    resumed = telling.sink.records[3]
    assert (resumed.kind, resumed.position, resumed.view, resumed.index) == (Kind.RECOVER, None, None, 3)
    assert (after.index, after.delivery_index, after.view) == (4, 1, None)
    assert telling.multicasts(message(0, Level.CAUSAL, B)).depends is None


def test_a_note_of_a_kind_that_no_record_has_is_left_out() -> None:
    telling = Telling()
    telling.recorder.on_note(1, Note("bad-bytes"))
    telling.recorder.on_note(2, Note("ticket", MessageId(7)))
    assert [(each.kind, each.message, each.index) for each in telling.sink.records] == [(Kind.TICKET, 7, 0)]


# --- what precedes ---


def test_a_message_tells_what_its_site_has_delivered_since_its_last_causal_one() -> None:
    telling = Telling()
    first, second = message(0, Level.FIFO), message(1, Level.CAUSAL, SiteId(4))
    telling.tells(Delivered(first, None, True), Delivered(second, None, True))
    assert telling.multicasts(message(0, Level.FIFO, B)).depends is None
    assert telling.multicasts(message(1, Level.AGREED, B)).depends == (first.id, second.id)
    assert telling.multicasts(message(2, Level.CAUSAL, B)).depends == (first.id, second.id)
    assert telling.multicasts(message(3, Level.CAUSAL, B)).depends is None


def test_of_each_origin_the_newest_message_is_told() -> None:
    telling = Telling()
    telling.tells(*(Delivered(message(seq, Level.FIFO), None, True) for seq in range(3)))
    assert telling.multicasts(message(0, Level.SAFE, B)).depends == (2,)
