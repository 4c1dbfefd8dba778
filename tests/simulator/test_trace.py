"""A run on disk: the same that the observers saw, record by record."""

from __future__ import annotations

from pathlib import Path

import pytest

from ordercast.core.ids import MessageId, SiteId, pack_message_id
from ordercast.core.messages import Bundle, Level
from ordercast.core.trace import Kind, TraceRecord
from ordercast.protocols.ordering.catalogue import PROTOCOLS
from ordercast.records.traces import read_traces
from ordercast.simulator.scenario import Fault
from ordercast.simulator.simulation import Simulation
from ordercast.simulator.trace import TraceObserver
from tests.simulator.small import Diary, scenario, topology

A, B = SiteId(0), SiteId(1)


def traced(directory: Path, protocol: str = "hybrid") -> tuple[Diary, list[TraceRecord]]:
    load = scenario(protocol, fault=(Fault(kind="crash", at_s=1.7, sites=["C"]),))
    diary = Diary()
    Simulation(load, [TraceObserver("one", load.topology(), directory), diary]).run()
    return diary, list(read_traces(directory))


@pytest.mark.parametrize("protocol", sorted(PROTOCOLS))
def test_every_event_is_recorded_once_and_in_order(tmp_path: Path, protocol: str) -> None:
    diary, records = traced(tmp_path, protocol)
    expected = []
    for at_us, site, what, thing in diary.events:
        if site is not None:
            message = {"multicast": "id", "deliver": "id", "note": "message"}.get(what)
            kind = thing.kind if what == "note" else what
            expected.append((at_us, site, kind, getattr(thing, message) if message else None))
    assert [(each.at_us, each.site, each.kind, each.message) for each in records] == expected
    assert {each.kind for each in records} == {Kind.VIEW, Kind.MULTICAST, Kind.TICKET, Kind.DELIVER, Kind.CRASH}


def test_records_are_counted_by_site_and_deliveries_too(tmp_path: Path) -> None:
    _, records = traced(tmp_path)
    for site in range(3):
        own = [each for each in records if each.site == site]
        assert [each.index for each in own] == list(range(len(own)))
        deliveries = [each.delivery_index for each in own if each.kind is Kind.DELIVER]
        assert deliveries == list(range(len(deliveries)))
        assert deliveries
    assert all(each.delivery_index is None for each in records if each.kind is not Kind.DELIVER)


def test_the_run_the_view_and_the_first_life_are_on_every_record(tmp_path: Path) -> None:
    _, records = traced(tmp_path)
    assert {(each.run, each.incarnation, each.view) for each in records} == {("one", 0, 1)}
    assert {each.members for each in records if each.kind is Kind.VIEW} == {(0, 1, 2)}
    assert {each.members for each in records if each.kind is not Kind.VIEW} == {None}


def test_nothing_on_the_ideal_stack_has_a_position(tmp_path: Path) -> None:
    _, records = traced(tmp_path)
    assert all(each.position is None and each.final is None for each in records)


def test_a_bundle_is_as_many_records_as_it_has_messages(tmp_path: Path) -> None:
    observer = TraceObserver("r", topology("AB"), tmp_path)
    first = Bundle(MessageId(pack_message_id(B, 0, 5)), (b"one", b"", b"three"), Level.CAUSAL)
    second = Bundle(MessageId(pack_message_id(A, 2, 0)), (b"x",))
    observer.on_multicast(10, B, first)
    observer.on_deliver(20, A, first)
    observer.on_deliver(30, A, second)
    observer.close()
    records = list(read_traces(tmp_path))
    columns = [(each.site, each.kind.value, each.seq, each.size, each.index, each.delivery_index) for each in records]
    assert columns == [
        (1, "multicast", 5, 3, 0, None),
        (1, "multicast", 6, 0, 1, None),
        (1, "multicast", 7, 5, 2, None),
        (0, "deliver", 5, 3, 0, 0),
        (0, "deliver", 6, 0, 1, 1),
        (0, "deliver", 7, 5, 2, 2),
        (0, "deliver", 0, 1, 3, 3),
    ]
    assert [each.message for each in records[:3]] == [first.id, first.id + 1, first.id + 2]
    assert {(each.origin, each.origin_incarnation, each.level) for each in records[:6]} == {(1, 0, "causal")}
    assert (records[6].origin, records[6].origin_incarnation, records[6].level) == (0, 2, "agreed")


def test_the_file_is_there_when_the_run_has_ended(tmp_path: Path) -> None:
    load = scenario()
    observer = TraceObserver("r", load.topology(), tmp_path)
    simulation = Simulation(load, [observer])
    assert not observer.path.exists()
    simulation.run()
    assert observer.path.exists()
    observer.close()


def test_a_run_that_breaks_leaves_no_trace(tmp_path: Path) -> None:
    def break_off() -> None:
        with TraceObserver("r", topology(), tmp_path):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        break_off()
    assert list(tmp_path.iterdir()) == []


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("first", "second"):
        traced(tmp_path / name)
    assert (tmp_path / "first" / "one.parquet").read_bytes() == (tmp_path / "second" / "one.parquet").read_bytes()
