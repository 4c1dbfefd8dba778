"""The merge that all ticket protocols share."""

from __future__ import annotations

from ordercast.core.ids import ORIGIN_SHIFT, MessageId, SiteId, Ticket
from ordercast.core.layer import Waiting
from ordercast.protocols.ordering.configuration import Going
from ordercast.protocols.ordering.merge import Merge

A, B, C = SiteId(0), SiteId(1), SiteId(2)


def merge(*issuers: SiteId, me: SiteId = C) -> Merge[str]:
    return Merge.of(me, issuers or (A, B))


def put(to: Merge[str], ticket: int, issuer: SiteId, entry: str) -> None:
    to.put(Ticket(ticket), issuer, MessageId(ord(entry)), entry)
    to.raise_horizon(issuer, Ticket(ticket))


def released(of: Merge[str]) -> str:
    entries = []
    while (entry := of.release()) is not None:
        entries.append(entry)
    return "".join(entries)


def test_entries_wait_for_every_issuer() -> None:
    both = merge()
    put(both, 5, A, "x")
    assert released(both) == ""
    both.raise_horizon(B, Ticket(4))
    assert released(both) == "x", "B's next ticket is 5 at least, and at equal tickets A comes first"


def test_at_equal_tickets_the_lower_issuer_comes_first() -> None:
    both = merge()
    put(both, 5, B, "x")
    both.raise_horizon(A, Ticket(4))
    assert released(both) == "", "A can still issue ticket 5"
    put(both, 5, A, "y")
    assert released(both) == "yx"


def test_tickets_and_entries_may_come_in_either_order() -> None:
    one = merge(A)
    one.add(Ticket(1), A, MessageId(ord("x")))
    one.raise_horizon(A, Ticket(1))
    assert released(one) == ""
    one.hold(MessageId(ord("x")), "x")
    assert released(one) == "x"
    one.hold(MessageId(ord("y")), "y")
    assert released(one) == ""
    one.add(Ticket(2), A, MessageId(ord("y")))
    one.raise_horizon(A, Ticket(2))
    assert released(one) == "y"


def test_an_entry_without_body_holds_up_those_behind_it() -> None:
    one = merge(A)
    one.add(Ticket(1), A, MessageId(ord("x")))
    put(one, 2, A, "y")
    assert released(one) == ""


def test_a_horizon_never_falls() -> None:
    both = merge()
    both.raise_horizon(B, Ticket(9))
    both.raise_horizon(B, Ticket(3))
    put(both, 8, A, "x")
    assert released(both) == "x"


def test_the_horizon_of_a_coming_issuer_never_falls() -> None:
    """Its tickets may arrive before the news that it issues, and that news tells of a smaller ticket."""
    one = merge(A)
    put(one, 7, B, "x")
    one.raise_horizon(B, Ticket(4))
    one.set_issuers((B,))
    assert released(one) == "x"


def test_nothing_passes_this_sites_own_tickets_under_way() -> None:
    own = merge(A, me=B)
    own.barrier = Ticket(5)
    put(own, 4, A, "x")
    put(own, 6, A, "y")
    assert released(own) == "x"
    own.barrier = None
    assert released(own) == "y"


X, Y, Z = (MessageId(site << ORIGIN_SHIFT) for site in (A, B, C))


def test_closing_leaves_nothing_and_goes_by_tickets_and_clocks() -> None:
    both = merge()
    both.put(Ticket(9), A, X, "ticket 9")
    both.add(Ticket(3), B, MessageId(Y + 7))
    both.hold(MessageId(X + 1), "A had reached 2, but follows A's own ticket 9", Ticket(2))
    both.hold(Y, "B had reached 7", Ticket(7))
    both.hold(Z, "C had reached 9", Ticket(9))
    both.seal(())
    assert both.close() == [
        "B had reached 7",
        "ticket 9",
        "A had reached 2, but follows A's own ticket 9",
        "C had reached 9",
    ], "the ticket without its entry is void"
    assert both.close() == []


def test_what_a_survivor_may_have_released_keeps_its_place() -> None:
    """A waits for B only; so it has released its own ticket 5, and a message without a ticket goes after it."""

    def closed(*survivors: SiteId) -> str:
        both = merge()
        put(both, 5, A, "x")
        both.raise_horizon(B, Ticket(6))
        put(both, 8, B, "y")
        both.hold(Z, "z", Ticket(1))
        both.raise_horizon(A, Ticket(7))
        both.seal(survivors)
        return released(both) + "|" + "".join(both.close())

    assert closed(A, C) == "xy|z", "A, whose horizon is lowest, has waited for B alone"
    assert closed(B, C) == "x|zy", "nobody who goes on had heard of A beyond 7"


def test_of_a_closed_view_an_own_ticket_under_way_is_void() -> None:
    own = merge(A, B, me=B)
    own.barrier = Ticket(5)
    put(own, 6, A, "x")
    own.raise_horizon(B, Ticket(4))
    own.seal((A, B))
    assert released(own) == "x", "B had not waited for itself"


def test_what_is_waited_for() -> None:
    both = merge()
    assert both.waiting_for() is None
    both.hold(MessageId(8), "x")
    assert both.waiting_for() == Waiting("a ticket for message 8 of", A)
    both.add(Ticket(5), A, MessageId(8))
    assert both.waiting_for() == Waiting("a ticket above 4 from", A)
    both.raise_horizon(A, Ticket(5))
    assert both.waiting_for() == Waiting("a ticket above 4 from", B)
    both.raise_horizon(B, Ticket(5))
    both.held.clear()
    assert both.waiting_for() == Waiting("message 8 (its ticket is here) of", A)


def test_what_has_no_ticket_yet() -> None:
    both = merge()
    both.hold(MessageId(9), "y")
    both.hold(MessageId(8), "x")
    both.add(Ticket(1), A, MessageId(8))
    assert both.without_ticket() == [MessageId(9)]


# --- switches of role, whose ids are negative ---


def test_a_switch_that_is_waited_for_is_called_one() -> None:
    both = merge()
    switch = Going(B, 2, active=False)
    both.hold(switch.id, "B goes passive")
    assert both.waiting_for() == Waiting("a ticket for switch 2 of", B)
    both.add(Ticket(5), A, switch.id)
    for issuer in (A, B):
        both.raise_horizon(issuer, Ticket(5))
    both.held.clear()
    assert both.waiting_for() == Waiting("switch 2 (its ticket is here) of", B)


def test_of_a_closed_view_a_switch_comes_after_what_its_sender_had_said_before() -> None:
    """And keeps nothing back of what others have said, nor do their switches keep it back."""
    both = merge()
    both.put(Ticket(20), A, MessageId(X), "A's, ticket 20")
    both.hold(Going(A, 0, active=False).id, "A goes passive", Ticket(10))
    both.hold(Going(B, 0, active=True).id, "B goes active", Ticket(12))
    both.hold(Going(B, 1, active=False).id, "B goes passive again", Ticket(12))
    both.hold(Y, "B's, at 4", Ticket(4))
    both.hold(Z, "C's, at 11", Ticket(11))
    both.seal(())
    assert both.close() == [
        "B's, at 4",
        "C's, at 11",
        "B goes active",
        "B goes passive again",
        "A's, ticket 20",
        "A goes passive",
    ]
