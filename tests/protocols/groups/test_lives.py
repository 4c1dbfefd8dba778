"""What a site may conclude by itself, and what it tells others, before it holds the whole order."""

from __future__ import annotations

from typing import Any

from ordercast.core.deliveries import Finalized
from ordercast.core.effects import Deliver, Effects, Multicast
from ordercast.core.entries import Entry
from ordercast.core.events import FromBelow, Now
from ordercast.core.messages import Level
from ordercast.protocols.groups import alignment
from ordercast.protocols.groups.building import Recovered, group_over
from ordercast.protocols.groups.log import Base, Log, Sessions
from ordercast.protocols.groups.messages import Unordered
from ordercast.protocols.groups.site_group import SiteGroup
from ordercast.protocols.membership.messages import Adopted
from tests.layers import layer_of
from tests.protocols.groups.made import VIEW, A, B, bundle

RETAINED = 2
B_ONCE_THEN_A = (bundle(B, 0), *(bundle(A, seq) for seq in range(9)))


def group_of_a_new_life() -> SiteGroup[Any]:
    """Its log holds ten bundles, none of which is final."""
    log = Log()
    entries: list[Entry] = [log.append(content) for content in B_ONCE_THEN_A]
    recovered = Recovered(entries=tuple(entries), retained_positions=RETAINED)
    return group_over(layer_of("token-site"), A, 0, True, recovered)


def test_a_life_that_has_not_been_in_a_view_makes_nothing_final() -> None:
    """Finding 18: an earlier life of the site is a member, and this one is a majority of itself."""
    group, out = group_of_a_new_life(), Effects()
    group.handle(FromBelow(A, Adopted(VIEW, True)), Now(0, 0, 0), out)
    assert group.log.length == len(B_ONCE_THEN_A) + 1
    assert group.log.final == 0
    assert not any(isinstance(each, Deliver) and isinstance(each.message, Finalized) for each in out.list)


def test_who_has_sent_what_is_known_though_the_log_begins_later_than_the_view() -> None:
    """Found with finding 16: what B has sent is not in the log any more."""
    group = group_of_a_new_life()
    group.log.finalize(group.log.length)
    assert group.log.base.position > group.start_of_view.position
    assert alignment.sessions_at(group, group.log.length).ordered == group.log.sessions.ordered


def test_a_log_with_a_hole_tells_others_nothing() -> None:
    group = group_of_a_new_life()
    group.aligned = False
    assert group.tell_length() == 0
    group.aligned = True
    assert group.tell_length() == len(B_ONCE_THEN_A)


def test_what_the_view_that_went_on_without_this_site_may_have_lost_is_multicast_again() -> None:
    group, out = group_of_a_new_life(), Effects()
    group.view = VIEW
    lost = bundle(A, 20, Level.FIFO)
    group.unstable = [(1, lost)]
    alignment.align(group, Base(group.log.length, group.log.digest), Sessions(), Now(0, 0, 0), out)
    sent = [each.message for each in out.list if isinstance(each, Multicast)]
    assert [message.bundle.id for message in sent if isinstance(message, Unordered)] == [lost.id]
