"""Ordering by one site, for ever or in turn."""

from __future__ import annotations

from typing import Any

from ordercast.core.effects import Note
from ordercast.core.ids import SiteId, Ticket
from ordercast.planning.estimators import KnownEstimates
from ordercast.planning.topology import Delays
from ordercast.protocols.ordering.migrating_token import TENURE_MIN_US, HandedOver, Handover
from ordercast.simulator.scenario import ProtocolChoice, Scenario, Traffic
from ordercast.simulator.simulation import Simulation
from tests.protocols.group import Group, tickets


def test_the_token_site_numbers_in_the_order_of_receipt() -> None:
    group = Group("token-site")
    b0, c0 = group.multicast(1), group.multicast(2)
    group.arrive(2, 0)
    group.arrive(1, 0)
    assert group.under_way(0, 1) == [tickets(1, (1, c0)), tickets(2, (2, b0))]
    group.settle()
    assert group.delivered() == [[c0, b0]] * 3


def test_the_token_sites_own_messages_carry_their_number() -> None:
    group = Group("token-site")
    a0 = group.multicast(0)
    assert group.members[0].delivered == [a0]
    group.arrive(0, 1)
    assert group.members[1].delivered == [a0]


def test_a_number_may_come_before_its_message() -> None:
    group = Group("token-site")
    b0 = group.multicast(1)
    group.arrive(1, 0)
    group.arrive(0, 2)
    assert group.layer(2).waiting_for().what == "message 0 (its ticket is here) of"
    group.arrive(1, 2)
    assert group.members[2].delivered == [b0]


def test_any_site_can_be_the_token_site() -> None:
    group = Group("token-site", site=SiteId(2))
    c0 = group.multicast(2)
    assert group.members[2].delivered == [c0]
    assert group.members[2].notes == [Note("ticket", c0, Ticket(1))]


# --- the token that moves ---


def handover(ticket: int, to: int) -> Handover:
    return Handover(Ticket(ticket), SiteId(to))


Gaps = dict[SiteId, list[tuple[int, float | None]]]


def with_rates(group: Group, *gaps_us: float) -> Group:
    """The sites know each other's mean gaps; none has held the token too short to let go of it."""
    gaps: Gaps = {site: [(0, gap)] for site, gap in zip(group.sites, gaps_us, strict=True)}
    for site in group.sites:
        group.layer(site).estimates = KnownEstimates(gaps, dict.fromkeys(group.sites, 0.0))
    group.at(TENURE_MIN_US)
    return group


def holders(group: Group) -> list[int]:
    return [site for site in group.sites if group.layer(site).holding]


def test_the_token_moves_to_a_clearly_faster_site() -> None:
    group = with_rates(Group("migrating-token", 2), 20_000, 10_000)
    b0 = group.multicast(1)
    group.arrive(1, 0)
    assert group.under_way(0, 1) == [tickets(1, (1, b0)), HandedOver(handover(2, 1))]
    assert holders(group) == []
    group.settle()
    assert holders(group) == [1]
    b1 = group.multicast(1)
    assert group.members[1].delivered == [b0, b1], "its own messages are now ordered at once"


def test_the_token_stays_where_nobody_is_clearly_faster() -> None:
    group = with_rates(Group("migrating-token", 2), 20_000, 17_000)
    group.multicast(1)
    group.settle()
    assert holders(group) == [0]


def test_the_token_stays_for_a_while_at_least() -> None:
    group = with_rates(Group("migrating-token", 2), 20_000, 10_000)
    group.at(TENURE_MIN_US - 1)
    group.multicast(1)
    group.settle()
    assert holders(group) == [0]


def test_the_new_holder_first_numbers_what_it_holds() -> None:
    group = with_rates(Group("migrating-token"), 20_000, 10_000, 30_000)
    b0, b1, c0 = group.multicast(1), group.multicast(1), group.multicast(2)
    group.arrive(1, 0)
    group.arrive(2, 1)
    group.arrive(0, 1)
    group.arrive(0, 1)
    assert holders(group) == [1]
    assert group.under_way(1, 2)[-1] == tickets(4, (3, b1), (4, c0))
    group.settle()
    assert group.delivered() == [[b0, b1, c0]] * 3


def test_the_new_holders_numbers_may_overtake_the_handover() -> None:
    """C hears from B before it hears from A; what it has heard of B's numbers still counts after the handover."""
    group = with_rates(Group("migrating-token"), 20_000, 10_000, 30_000)
    messages = [group.multicast(1), group.multicast(1), group.multicast(2), group.multicast(2)]
    group.arrive(1, 0)
    for _ in range(2):
        group.arrive(2, 1)
    group.arrive(0, 1)
    group.arrive(0, 1)
    for _ in range(3):
        group.arrive(1, 2)
    assert group.members[2].delivered == []
    group.arrive(0, 2)
    group.arrive(0, 2)
    assert group.members[2].delivered == messages


def test_the_token_goes_back_and_forth_with_the_load() -> None:
    """In a simulation, with rates that the sites measure themselves."""
    scenario = Scenario(
        protocol=ProtocolChoice(name="migrating-token"),
        duration_s=8.0,
        delays=Delays(sites=["A", "B"], one_way_ms=[[0, 20], [20, 0]]),
        traffic=[
            Traffic(sites=["A"], rate=10),
            Traffic(sites=["B"], rate=50, until_s=3.0),
            Traffic(sites=["B"], rate=2, from_s=3.0),
        ],
    )
    held: list[tuple[float, bool]] = []
    simulation = Simulation(scenario)
    layer: Any = simulation.sites[1].layer
    for tenth in range(80):
        simulation.schedule(tenth * 100_000, lambda at_s: held.append((at_s, layer.holding)), tenth / 10)
    simulation.run()
    changes = [at_s for (at_s, now), (_, before) in zip(held[1:], held, strict=False) if now != before]
    assert len(changes) == 2
    assert 1.0 <= changes[0] < 1.5
    assert changes[1] > 3.0


def test_a_handovers_id_is_no_messages() -> None:
    assert handover(7, 1).id < 0
    assert handover(8, 1).id != handover(7, 1).id
