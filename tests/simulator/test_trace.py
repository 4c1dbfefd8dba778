"""A run on disk: the same that the observers saw, record by record."""

from __future__ import annotations

from pathlib import Path

import pytest

from ordercast.core.ids import SiteId
from ordercast.core.trace import Kind, TraceRecord
from ordercast.protocols.ordering.catalogue import PROTOCOLS
from ordercast.records.traces import read_traces
from ordercast.simulator.scenario import Fault, from_table
from ordercast.simulator.simulation import Simulation
from ordercast.simulator.trace import TraceObserver
from tests.simulator.small import Diary, scenario

A, B = SiteId(0), SiteId(1)


def traced(directory: Path, protocol: str = "hybrid") -> tuple[Diary, list[TraceRecord]]:
    load = scenario(protocol, fault=(Fault(kind="crash", at_s=1.7, sites=["C"]),))
    diary = Diary()
    Simulation(load, [TraceObserver("one", directory), diary]).run()
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
    happened = [(each.at_us, each.site, each.kind, each.message) for each in records if each.kind is not Kind.END]
    assert happened == expected
    assert {each.kind for each in records} == {
        Kind.VIEW,
        Kind.MULTICAST,
        Kind.TICKET,
        Kind.DELIVER,
        Kind.CRASH,
        Kind.END,
    }


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
    assert all(each.position is None for each in records)
    assert all(each.final is None for each in records if each.kind is not Kind.END)


def test_the_file_is_there_when_the_run_has_ended(tmp_path: Path) -> None:
    load = scenario()
    observer = TraceObserver("r", tmp_path)
    simulation = Simulation(load, [observer])
    assert not observer.path.exists()
    simulation.run()
    assert observer.path.exists()
    observer.close()


def test_a_run_that_breaks_leaves_no_trace(tmp_path: Path) -> None:
    def break_off() -> None:
        with TraceObserver("r", tmp_path):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        break_off()
    assert list(tmp_path.iterdir()) == []


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("first", "second"):
        traced(tmp_path / name)
    assert (tmp_path / "first" / "one.parquet").read_bytes() == (tmp_path / "second" / "one.parquet").read_bytes()


# --- a live group ---


def group_records(directory: Path) -> list[TraceRecord]:
    """Three sites; one crashes, comes back and has its log from the others."""
    table = {
        "lan": [{"name": "only", "sites": ["A", "B", "C"], "delay_ms": 2}],
        "protocol": {"name": "symmetric", "tickets": "flush"},
        "duration_s": 3,
        "traffic": [{"sites": ["A", "B", "C"], "rate": 20}, {"sites": ["A"], "rate": 5, "level": "causal"}],
        "fault": [
            {"kind": "crash", "at_s": 1, "sites": ["C"]},
            {"kind": "recover", "at_s": 2, "sites": ["C"]},
        ],
    }
    Simulation(from_table(table), [TraceObserver("group", directory)]).run()
    return list(read_traces(directory))


def test_a_life_of_a_site_has_an_index_of_its_own(tmp_path: Path) -> None:
    records = group_records(tmp_path)
    lives = dict.fromkeys((each.site, each.incarnation) for each in records)
    assert sorted(lives) == [(0, 0), (1, 0), (2, 0), (2, 1)]
    for life in lives:
        own = [each for each in records if (each.site, each.incarnation) == life]
        assert [each.index for each in own] == list(range(len(own)))
        counted = [each.delivery_index for each in own if each.delivery_index is not None]
        assert counted == list(range(len(counted)))
    last = [[each for each in records if (each.site, each.incarnation) == life][-1] for life in sorted(lives)]
    assert [each.kind for each in last] == [Kind.END, Kind.END, Kind.CRASH, Kind.END]
    assert all(each.final for each in last if each.kind is Kind.END)


def test_positions_are_the_same_at_every_site(tmp_path: Path) -> None:
    records = group_records(tmp_path)
    placed = [each for each in records if each.delivery_index is not None]
    order = {each.position: (each.kind, each.message, each.view) for each in placed if each.site == 0}
    assert sorted(order, key=lambda position: position or 0) == list(range(len(order)))
    recovered = next(each for each in records if each.kind is Kind.RECOVER)
    again = [each for each in placed if (each.site, each.incarnation) == (2, 1)]
    assert again[0].position == recovered.position
    assert len(again) == len(order) - (recovered.position or 0)
    assert all(order[each.position][:2] == (each.kind, each.message) for each in placed)
    views = {each.view for each in placed if each.kind is Kind.VIEW}
    assert len(views) == 3


def test_causal_messages_have_no_position_and_tell_what_precedes_them(tmp_path: Path) -> None:
    records = group_records(tmp_path)
    causal = [each for each in records if each.level == "causal"]
    assert {each.kind for each in causal} == {Kind.MULTICAST, Kind.DELIVER}
    assert all(each.position is None for each in causal)
    told = [each.depends for each in records if each.kind is Kind.MULTICAST and each.site == 1 and each.depends]
    assert told
    assert all(message in {each.message for each in causal} for depends in told for message in depends or ())
