"""Fifo and causal bundles in one view, and what they tell of agreed ones."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ordercast.core.ids import SiteId
from ordercast.core.messages import Bundle, Level
from ordercast.protocols.groups.causal import Causal
from tests.protocols.groups.made import VIEW, A, B, C, bundle


def test_a_causal_bundle_waits_for_what_its_sender_had_delivered() -> None:
    causal = Causal.of(VIEW)
    question = bundle(A, 0, Level.CAUSAL)
    answer = bundle(B, 0, Level.CAUSAL, past=(1, 0, 0))
    assert causal.receive(B, answer) == []
    assert causal.receive(A, question) == [question, answer]


def test_a_fifo_bundle_waits_for_nobody_else() -> None:
    causal = Causal.of(VIEW)
    assert causal.receive(B, bundle(B, 0, Level.FIFO)) == [bundle(B, 0, Level.FIFO)]


def test_but_it_stays_behind_a_causal_one_of_its_sender() -> None:
    causal = Causal.of(VIEW)
    first, second = bundle(B, 0, Level.CAUSAL, past=(1, 0, 0)), bundle(B, 1, Level.FIFO)
    assert causal.receive(B, first) == []
    assert causal.receive(B, second) == []
    assert causal.receive(A, bundle(A, 0, Level.FIFO))[1:] == [first, second]


def test_a_group_without_fifo_and_causal_bundles_carries_nothing() -> None:
    causal = Causal.of(VIEW)
    causal.on_submit(A)
    assert (causal.past(), causal.ordered_past()) == ((), ())


class Member:
    """Receives from each other member over a FIFO link."""

    def __init__(self, site: SiteId) -> None:
        self.site = site
        self.causal = Causal.of(VIEW)
        self.received = dict.fromkeys(VIEW.members, 0)
        self.delivered: list[Bundle] = []

    def catch_up(self, sent: dict[SiteId, list[Bundle]], sender: SiteId) -> None:
        """All that the sender has multicast arrives."""
        for causal in sent[sender][self.received[sender] :]:
            self.received[sender] += 1
            self.delivered += self.causal.receive(sender, causal)


@given(st.lists(st.tuples(st.sampled_from([A, B, C]), st.lists(st.sampled_from([A, B, C])))))
def test_any_arrival_gives_a_causal_order(steps: list[tuple[SiteId, list[SiteId]]]) -> None:
    """In each step one member first receives all that some others have sent so far, and then multicasts."""
    members = [Member(site) for site in VIEW.members]
    sent: dict[SiteId, list[Bundle]] = {site: [] for site in VIEW.members}
    precede: dict[int, list[int]] = {}
    for number, (site, heard) in enumerate(steps):
        member = members[site]
        for sender in heard:
            member.catch_up(sent, sender)
        causal = bundle(site, number, Level.CAUSAL, past=member.causal.past())
        precede[causal.id] = [each.id for each in member.delivered]
        sent[site].append(causal)
        member.catch_up(sent, site)
    for member in members:
        for sender in reversed(VIEW.members):
            member.catch_up(sent, sender)
        order = [each.id for each in member.delivered]
        assert sorted(order) == sorted(precede)
        for index, id in enumerate(order):
            assert set(precede[id]) <= set(order[:index])


# --- agreed bundles that follow each other by way of causal ones (finding 5) ---


def test_what_is_multicast_after_a_causal_bundle_follows_the_agreed_ones_that_it_followed() -> None:
    at_b = Causal.of(VIEW)
    at_b.receive(A, bundle(A, 1, Level.CAUSAL, past=(0, 0, 0), ordered_past=(1, 0, 0)))
    at_b.on_submit(B)
    assert at_b.ordered_past() == (1, 1, 0)


def test_an_agreed_bundle_waits_in_the_order_for_those_that_it_follows() -> None:
    causal = Causal.of(VIEW)
    follower = bundle(B, 0, ordered_past=(1, 0, 0))
    assert not causal.follows_delivered(follower)
    causal.on_ordered(bundle(A, 0))
    assert causal.follows_delivered(follower)


def test_what_comes_up_in_the_order_precedes_what_is_multicast_next() -> None:
    causal = Causal.of(VIEW)
    causal.any = True
    causal.on_ordered(bundle(C, 0))
    assert causal.ordered_past() == (0, 0, 1)
