"""Who is active as a view begins: the order says it, from the start of the group on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import msgspec
import pytest

from ordercast.core.deliveries import Snapshot
from ordercast.core.entries import RoleChange
from ordercast.core.ids import SiteId, ViewId, pack_message_id
from ordercast.core.messages import UNNUMBERED, Act, Author, Bundle
from ordercast.core.plans import ChangeOrdering
from ordercast.core.views import View
from ordercast.protocols.groups.log import Roles
from ordercast.protocols.ordering import deciding
from tests.protocols.groups.live import LiveGroup, crash, recover
from tests.protocols.groups.made import A, B, C

ABC = View(ViewId(1), (A, B, C))


def plan(**options: Any) -> Bundle:
    body = msgspec.msgpack.encode(ChangeOrdering("dynamic-hybrid", options))
    return Bundle(pack_message_id(A, 0, 0), (body,), author=Author("", "", 0, UNNUMBERED, Act.PLANS))


def view(number: int, lives: dict[SiteId, int]) -> View:
    return View(ViewId(number), tuple(lives), tuple(lives.values()))


def test_a_group_starts_with_those_given_or_with_everybody() -> None:
    assert Roles(given=(C, A)).after(ABC).actives == (A, C)
    assert Roles(given=(C,)).after(view(1, {A: 0, B: 0})).actives == (A, B), "none of those given is a member"
    assert Roles().after(ABC).actives == (A, B, C)


def test_members_that_go_on_keep_their_roles_and_new_ones_are_passive() -> None:
    roles = Roles(given=(A, B)).after(ABC).after(RoleChange(A, active=False))
    assert roles.after(view(2, {A: 0, B: 0})).actives == (B,)
    assert roles.after(view(2, {A: 0, B: 0})).after(view(3, {A: 0, B: 0, C: 1})).actives == (B,)


def test_where_the_last_active_is_gone_the_highest_member_that_goes_on_takes_over() -> None:
    roles = Roles(given=(A,)).after(ABC)
    assert roles.after(view(2, {B: 0, C: 0})).actives == (C,)
    assert roles.after(view(2, {A: 1, B: 0, C: 1})).actives == (B,), "a new life is a new member"


def test_where_nobody_goes_on_the_group_starts_anew() -> None:
    roles = Roles(given=(A,)).after(ABC).after(RoleChange(B, active=True)).after(RoleChange(A, active=False))
    assert roles.after(view(2, {A: 1, B: 1})).actives == (A,)
    kept = msgspec.msgpack.decode(msgspec.msgpack.encode(roles), type=Roles)
    assert kept.after(view(2, {A: 1, B: 1})).actives == (A,)


def test_a_change_of_the_ordering_starts_anew_by_its_own_rule() -> None:
    roles = Roles(given=(A,)).after(ABC).after(plan(active=(B, C)))
    assert roles.actives == (B, C)
    assert roles.after(view(2, {A: 0, C: 0})).actives == (C,)
    assert roles.after(view(2, {A: 1, B: 1, C: 1})).actives == (B, C)
    assert roles.after(plan()).actives == (A, B, C)


# --- in a live group ---


@pytest.fixture
def nobody_changes_its_role() -> Iterator[None]:
    def no_decision(*_: Any) -> None:
        pass

    with patch.object(deciding, "consider", no_decision):
        yield


def hybrid(*faults: dict[str, Any], active: str, **more: Any) -> LiveGroup:
    protocol = {"name": "dynamic-hybrid", "options": {"active": list(active)}}
    return LiveGroup(*faults, protocol=protocol, sites="ABCD", **more).run()


def actives(group: LiveGroup, *names: str) -> set[str]:
    """Who is active, by the order and by the ordering protocol of each of these sites."""
    found = [group.site(name).group for name in names]
    each = [side for site in found for side in (site.log.roles.actives, site.ordering.configuration.actives)]
    return {"".join("ABCD"[active] for active in side) for side in each}


@pytest.mark.usefixtures("nobody_changes_its_role")
@pytest.mark.parametrize(("victim", "left"), [("C", "AB"), ("A", "B"), ("D", "AB")])
def test_a_change_of_view_changes_no_roles(victim: str, left: str) -> None:
    group = hybrid(crash(2, victim), active="AB")
    assert actives(group, *sorted({*"ABCD"} - {victim})) == {left}


@pytest.mark.usefixtures("nobody_changes_its_role")
def test_when_the_only_active_crashes_one_takes_over() -> None:
    group = hybrid(crash(2, "B"), recover(4, "B"), active="B")
    assert actives(group, *"ABCD") == {"D"}


@pytest.mark.usefixtures("nobody_changes_its_role")
def test_the_rule_for_the_start_outlasts_snapshots_and_restarts() -> None:
    faults = crash(1.5, "D"), recover(3, "D"), crash(5, *"ABCD"), recover(5.5, *"ABCD")
    group = hybrid(*faults, active="BC", rate=30, retained_positions=10, duration_s=7)
    assert group.told("D", Snapshot)
    assert actives(group, *"ABCD") == {"BC"}
