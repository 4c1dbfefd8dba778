"""What a life of a site makes of what earlier ones have left."""

from __future__ import annotations

from typing import Any

import msgspec

from ordercast.core.deliveries import Snapshot
from ordercast.core.effects import Deliver, Effects, Save
from ordercast.core.entries import Entry, RoleChange
from ordercast.protocols.groups import alignment
from ordercast.protocols.groups.building import Recovered, group_over, participants_over
from ordercast.protocols.groups.log import Base, Log, Roles, Sessions
from ordercast.protocols.groups.messages import Beginning
from ordercast.protocols.groups.saved import Saved
from ordercast.protocols.groups.site_group import SiteGroup
from tests.layers import layer_of
from tests.protocols.groups.made import VIEW, A, B, C, bundle

BASE = Base(100, 7, Roles({A: 0, B: 0, C: 0}, (B,)))


def entries_after(base: Base, count: int) -> tuple[Entry, ...]:
    log = Log(base)
    return tuple(log.append(bundle(A, seq)) for seq in range(count))


def come_up(base: Base, entries: tuple[Entry, ...], final: int) -> tuple[SiteGroup[Any], Recovered]:
    saved = {"group": msgspec.msgpack.encode(Saved(base, Sessions(), {}))}
    recovered = Recovered(saved, entries, final)
    return group_over(layer_of("token-site"), A, 0, True, recovered), recovered


def test_entries_get_the_positions_that_they_had() -> None:
    entries = entries_after(BASE, 5)
    group, _ = come_up(BASE, entries, 103)
    assert tuple(group.log.entries) == entries
    assert (group.log.length, group.log.final) == (105, 103)


def test_older_ones_than_what_is_saved_count_as_known() -> None:
    entries = entries_after(Base(), 105)
    group, _ = come_up(BASE, entries, 103)
    assert [entry.position for entry in group.log.entries] == [100, 101, 102, 103, 104]


def test_what_does_not_follow_without_a_gap_gets_no_position() -> None:
    """A host that has begun its log anew with a snapshot, and died before the group could save that."""
    entries = entries_after(BASE, 8)
    group, recovered = come_up(BASE, (*entries[:3], *entries[5:]), 107)
    assert tuple(group.log.entries) == entries[:3]
    assert (group.log.length, group.log.final) == (103, 103), "the others have the rest"
    nothing, _ = come_up(BASE, entries[2:], 107)
    assert (nothing.log.entries, nothing.log.length, nothing.log.final) == ([], 100, 100)
    gap = Recovered(entries=tuple(msgspec.structs.replace(entry, content=VIEW) for entry in entries[5:]), final=107)
    assert participants_over(group, 1, gap).tail == [], "nor does a view behind the gap tell who is in"
    assert participants_over(group, 1, recovered).final == 103


def test_a_snapshot_is_saved_as_the_host_begins_its_log_anew() -> None:
    """So that entries that come after it, and before the next view, have somewhere to follow in a new life."""
    group, _ = come_up(Base(), entries_after(Base(), 5), 5)
    out = Effects()
    begin = Beginning(Snapshot(100, b""), BASE.digest, BASE.roles, Sessions(), BASE)
    alignment.take_snapshot(group, begin, out)
    told, kept = out.list[-2:]
    assert isinstance(told, Deliver)
    assert told.message == begin.snapshot
    assert isinstance(kept, Save)
    assert msgspec.msgpack.decode(kept.value, type=Saved).base == BASE


def test_the_rule_for_the_start_is_that_of_the_protocol_unless_an_earlier_life_has_had_another() -> None:
    hybrid = layer_of("dynamic-hybrid", active=(B, C))
    first = group_over(hybrid, A, 0, True, Recovered())
    first.log.append(VIEW)
    assert first.log.roles.actives == (B, C)
    first.log.append(RoleChange(C, active=False))
    saved = {"group": msgspec.msgpack.encode(Saved(first.log.base, Sessions(), {}))}
    again = group_over(layer_of("dynamic-hybrid", active=(A,)), A, 0, True, Recovered(saved, tuple(first.log.entries)))
    assert again.log.roles == first.log.roles
