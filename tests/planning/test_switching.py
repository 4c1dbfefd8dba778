"""Policies that decide a site's own role, from its outlook alone."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ordercast.core.ids import SiteId
from ordercast.planning.forecast import Forecast
from ordercast.planning.roles import assign_roles, with_actives
from ordercast.planning.switching import (
    GAIN_SHARE,
    GAIN_US,
    POLICIES,
    THRESHOLD,
    Advice,
    Outlook,
    Policy,
    least_latency,
    pairwise,
    restless,
)
from tests.planning.test_roles import GAPS_US, NINE, NINE_LOADS

A, B, C, D, E = (SiteId(index) for index in range(5))

Roles = dict[SiteId, SiteId]


def outlook(me: SiteId, roles: Roles, gap_us: float | None = None, row: dict[SiteId, float] | None = None) -> Outlook:
    """All others speak all the time."""
    gaps = {site: 0.0 for site in roles if site != me} | ({} if gap_us is None else {me: gap_us})
    return Outlook(me, tuple(roles), actives_of(roles), roles[me], gaps, {} if row is None else {me: row})


def actives_of(roles: Roles) -> tuple[SiteId, ...]:
    return tuple(site for site, sequencer in roles.items() if site == sequencer)


def role(advice: Advice) -> tuple[bool, SiteId]:
    return advice.active, advice.sequencer


# --- pairwise ---


@pytest.mark.parametrize(
    ("gap_us", "active"), [(79.0, True), (81.0, False), (100.0, False), (119.0, False), (9999.0, False)]
)
def test_a_passive_site_becomes_active_when_it_clearly_speaks_more_often_than_it_could_ask(
    gap_us: float, active: bool
) -> None:
    advice = pairwise(outlook(B, {A: A, B: A}, gap_us, {A: 100.0}))
    assert role(advice) == ((True, B) if active else (False, A))


@pytest.mark.parametrize(("gap_us", "active"), [(1.0, True), (81.0, True), (119.0, True), (121.0, False)])
def test_an_active_site_steps_down_when_it_clearly_speaks_more_rarely(gap_us: float, active: bool) -> None:
    advice = pairwise(outlook(B, {A: A, B: B, C: C}, gap_us, {A: 100.0, C: 100.0}))
    assert role(advice) == ((True, B) if active else (False, A))


@pytest.mark.parametrize(("doubt", "active"), [(0.0, True), (0.29, True), (0.31, False), (1.0, False)])
def test_a_mean_of_few_samples_does_not_make_a_site_active(doubt: float, active: bool) -> None:
    """Its gap would have to be shorter even if it were two standard errors longer than measured."""
    seen = replace(outlook(B, {A: A, B: A}, 50.0, {A: 100.0}), doubt=doubt)
    assert pairwise(seen).active is active


def test_a_mean_of_few_samples_is_enough_to_step_down() -> None:
    """An active site that speaks rarely holds up everybody."""
    seen = replace(outlook(B, {A: A, B: B}, 121.0, {A: 100.0}), doubt=1.0)
    assert role(pairwise(seen)) == (False, A)


def test_advice_names_its_figures() -> None:
    advice = pairwise(outlook(B, {A: A, B: B}, 1_000_000.0, {A: 20_000.0}))
    assert advice.why == "gap 1000.0 ms > 1.2 x 20.0 ms to site 0"


@pytest.mark.parametrize("roles", [{A: A, B: B}, {A: A, B: A}])
@pytest.mark.parametrize(("gap_us", "row"), [(None, {A: 1.0}), (None, None), (1.0, None), (1.0, {C: 1.0})])
def test_without_figures_a_site_stays(roles: Roles, gap_us: float | None, row: dict[SiteId, float] | None) -> None:
    assert role(pairwise(outlook(B, roles, gap_us, row))) == (roles[B] == B, roles[B])


def test_the_only_active_site_stays() -> None:
    assert role(pairwise(outlook(A, {A: A, B: A}, 1e9, {B: 1.0}))) == (True, A)


@pytest.mark.parametrize(("delay_us", "sequencer"), [(100.0, A), (84.0, A), (83.0, B), (1.0, B)])
def test_a_clearly_closer_sequencer_is_taken(delay_us: float, sequencer: SiteId) -> None:
    advice = pairwise(outlook(C, {A: A, B: B, C: A}, 1e6, {A: 100.0, B: delay_us}))
    assert role(advice) == (False, sequencer)


def test_a_sequencer_that_is_not_active_any_more_is_left() -> None:
    assert role(pairwise(outlook(C, {A: B, B: B, C: A}, 1e6, {A: 1.0, B: 100.0}))) == (False, B)


def everyone(gaps_us: list[float], delays_us: list[list[float]], roles: Roles) -> list[Outlook]:
    """What each site sees who has measured everything."""
    rows = {SiteId(site): {SiteId(to): delay for to, delay in enumerate(row)} for site, row in enumerate(delays_us)}
    gaps = {SiteId(site): gap for site, gap in enumerate(gaps_us)}
    return [Outlook(me, tuple(roles), actives_of(roles), roles[me], gaps, rows) for me in roles]


def settled(policy: Policy, gaps_us: list[float], delays_us: list[list[float]], roles: Roles) -> Roles:
    """Where the sites come to rest when they act one after the other, and again."""
    for _ in range(4 * len(roles)):
        before = roles
        for me in before:
            advice = policy(everyone(gaps_us, delays_us, roles)[me])
            passive = {site: advice.sequencer for site in (me,) if not advice.active}
            left = [site for site in actives_of(roles) if site != me]
            assert left or advice.active
            roles = {**roles, me: me, **passive}
        if roles == before:
            return roles
    raise AssertionError(f"the sites do not come to rest: {roles}")


@pytest.mark.parametrize("before", NINE_LOADS)
@pytest.mark.parametrize("after", NINE_LOADS)
def test_the_sites_find_the_roles_of_the_nine_scenarios(before: str, after: str) -> None:
    """From the roles of each to those of each: who is active, and that nobody asks across the slow link needlessly."""
    rows = [list(row) for row in NINE]
    start = assign_roles([GAPS_US[each] for each in before], rows)
    gaps_us = [gap for each in after if (gap := GAPS_US[each]) is not None]
    found = settled(pairwise, gaps_us, rows, start)
    expected = assign_roles(gaps_us, rows)
    assert actives_of(found) == actives_of(expected)
    assert [rows[site][found[site]] for site in found] == [rows[site][expected[site]] for site in found]


SIZES = st.integers(2, 6)
STEPS = st.integers(0, 6)
GAPS = STEPS.map(lambda step: 2.0**step)
DELAYS = st.builds(lambda step, more: 2.0**step * (1.4 + 0.01 * more), STEPS, st.integers(0, 20))
CASES = SIZES.flatmap(
    lambda size: st.tuples(
        st.lists(GAPS, min_size=size, max_size=size),
        st.lists(st.lists(DELAYS, min_size=size, max_size=size), min_size=size, max_size=size),
    )
)
"""Gaps and delays that differ by more than the threshold, so that it does not matter."""


def is_clear(gaps_us: list[float], delays_us: list[list[float]]) -> bool:
    """No gap is near the delay that decides about it, so the thresholds do not matter."""
    return all(
        not 1 - THRESHOLD <= gap / delay <= 1 + THRESHOLD
        for gap, row in zip(gaps_us, delays_us, strict=True)
        for delay in row
    )


@given(CASES)
def test_where_the_heuristic_leads_nobody_wants_to_leave(case: tuple[list[float], list[list[float]]]) -> None:
    """Passive sites agree with the global loop, and so do active ones but for two kinds that it never looks at again.

    The loop never takes an active site back. So its first one, the fastest, may itself be slower than the way to
    another, and one that became active early may have been overtaken by a closer one.
    """
    gaps_us, delays_us = case
    assert is_clear(gaps_us, delays_us)
    roles = assign_roles(gaps_us, delays_us)
    for seen in everyone(gaps_us, delays_us, roles):
        advice = pairwise(seen)
        gap_us = gaps_us[seen.me]
        overtaken = any(delays_us[seen.me][other] < gap_us for other in seen.faster)
        if not (seen.is_active and overtaken):
            assert role(advice) == (seen.is_active, seen.sequencer)
        else:
            assert not advice.active


@given(CASES, st.data())
def test_over_equal_ways_there_and_back_the_sites_come_to_rest(
    case: tuple[list[float], list[list[float]]], data: st.DataObject
) -> None:
    """From any roles. There who is active has no other active site within its gap."""
    gaps_us, rows = case
    delays_us = [[rows[min(a, b)][max(a, b)] for b in range(len(rows))] for a in range(len(rows))]
    assert is_clear(gaps_us, delays_us)
    actives = data.draw(st.sets(st.integers(0, len(rows) - 1).map(SiteId), min_size=1))
    found = settled(pairwise, gaps_us, delays_us, with_actives(sorted(actives), delays_us))
    for seen in everyone(gaps_us, delays_us, found):
        nearest = min((delays_us[seen.me][other] for other in seen.others), default=math.inf)
        assert seen.is_active is (gaps_us[seen.me] <= nearest)


@given(CASES, st.data())
def test_over_any_ways_they_come_to_rest_all_at_once_or_one_by_one(
    case: tuple[list[float], list[list[float]]], data: st.DataObject
) -> None:
    """The fastest yields to nobody, so its role is final sooner or later; then that of the next, and so on."""
    gaps_us, delays_us = case
    everybody = [SiteId(site) for site in range(len(gaps_us))]
    roles = with_actives(sorted(data.draw(st.sets(st.sampled_from(everybody), min_size=1))), delays_us)
    rounds = st.lists(st.sets(st.sampled_from(everybody)), max_size=10)
    for acting in [*data.draw(rounds), *[set(everybody)] * (3 * len(everybody))]:
        advice = {seen.me: pairwise(seen) for seen in everyone(gaps_us, delays_us, roles) if seen.me in acting}
        actives = [site for site in everybody if (advice[site].active if site in advice else roles[site] == site)]
        assert actives, "whoever steps down leaves a faster one"
        roles = with_actives(actives, delays_us)
    assert all(pairwise(seen).active is seen.is_active for seen in everyone(gaps_us, delays_us, roles))


def test_of_two_that_are_close_only_the_slower_steps_down() -> None:
    """In the papers' rule both would, and at once, for neither hears of the other's decision in time."""
    for gaps_us in ([300.0, 400.0], [400.0, 300.0], [300.0, 300.0], [300.0, 310.0], [310.0, 300.0]):
        advice = [pairwise(seen) for seen in everyone(gaps_us, [[0.0, 5.0], [5.0, 0.0]], {A: A, B: B})]
        assert [each.active for each in advice] == ([False, True] if gaps_us == [400.0, 300.0] else [True, False])


def test_who_has_nobody_faster_in_sight_stays_active() -> None:
    unknown = Outlook(B, (A, B), (A, B), B, {B: 300.0}, {B: {A: 5.0}})
    slower = replace(unknown, gaps_us={B: 300.0, A: 900.0})
    assert [pairwise(seen).why for seen in (unknown, slower)] == ["no faster active site in sight"] * 2


def test_a_site_passes_over_a_slower_neighbour_and_asks_the_next() -> None:
    seen = Outlook(C, (A, B, C), (A, B, C), C, {A: 10.0, B: 900.0, C: 300.0}, {C: {A: 50.0, B: 5.0}})
    assert role(pairwise(seen)) == (False, A)


def test_by_forecast_too_only_the_slower_steps_down() -> None:
    gaps_us = [25_000.0, 50_000.0, 10_000.0]
    delays_us = [[0.0, 5_000.0, 300_000.0], [5_000.0, 0.0, 300_000.0], [300_000.0, 300_000.0, 0.0]]
    advice = [least_latency(seen) for seen in everyone(gaps_us, delays_us, {A: A, B: B, C: C})]
    assert [each.active for each in advice] == [True, False, True]
    assert advice[1].sequencer == A


# --- least latency ---


@pytest.mark.parametrize("before", NINE_LOADS)
@pytest.mark.parametrize("after", NINE_LOADS)
def test_by_forecast_the_sites_find_good_roles_in_the_nine_scenarios(before: str, after: str) -> None:
    """As good as those of the papers' heuristic, or nearly."""
    rows = [list(row) for row in NINE]
    start = assign_roles([GAPS_US[each] for each in before], rows)
    gaps_us = [gap for each in after if (gap := GAPS_US[each]) is not None]
    found = settled(least_latency, gaps_us, rows, start)
    assert forecast_us(gaps_us, rows, found) < 1.06 * forecast_us(gaps_us, rows, assign_roles(gaps_us, rows))


def forecast_us(gaps_us: list[float], delays_us: list[list[float]], roles: Roles) -> float:
    seen = everyone(gaps_us, delays_us, roles)[0]
    forecast = Forecast(seen.gaps_us, seen.delays_us)
    return forecast.mean_us(forecast.latencies_us(actives_of(roles)))


@given(CASES)
def test_roles_change_only_for_a_clear_gain(case: tuple[list[float], list[list[float]]]) -> None:
    gaps_us = [1000 * gap for gap in case[0]]
    delays_us = [[0.0 if a == b else 1000 * delay for b, delay in enumerate(row)] for a, row in enumerate(case[1])]
    roles = assign_roles(gaps_us, delays_us)
    for seen in everyone(gaps_us, delays_us, roles):
        advice = least_latency(seen)
        if advice.active != seen.is_active:
            actives = sorted([*seen.others, *([seen.me] if advice.active else [])])
            after = forecast_us(gaps_us, delays_us, with_actives(actives, delays_us))
            before = forecast_us(gaps_us, delays_us, with_actives(seen.actives, delays_us))
            assert after < (1 - GAIN_SHARE) * before
            assert after < before - GAIN_US


def test_one_rare_message_does_not_make_everybody_wait() -> None:
    """C, ten times a second, could save its own messages a trip by being active; all others would wait for it."""
    gaps_us = {A: 10_000.0, B: 10_000.0, C: 100_000.0}
    rows = {A: {B: 10_000.0, C: 150_000.0}, B: {A: 10_000.0, C: 150_000.0}, C: {A: 150_000.0, B: 150_000.0}}
    seen = Outlook(C, (A, B, C), (A, B), A, gaps_us, rows)
    assert role(pairwise(seen)) == (True, C)
    assert role(least_latency(seen)) == (False, A)


def test_a_forecast_from_few_samples_is_careful() -> None:
    """C, with 20 messages a second far away, would better be active; if it were ten, everybody would wait for it."""
    gaps_us = {A: 10_000.0, B: 10_000.0, C: 20_000.0}
    rows = {A: {B: 10_000.0, C: 250_000.0}, B: {A: 10_000.0, C: 250_000.0}, C: {A: 250_000.0, B: 250_000.0}}
    seen = Outlook(C, (A, B, C), (A, B), A, gaps_us, rows)
    assert role(least_latency(seen)) == (True, C)
    assert role(least_latency(replace(seen, doubt=4.0))) == (False, A)


def test_the_sequencer_that_answers_sooner_is_taken() -> None:
    """It may be the farther one, if it has more messages for tickets to ride on."""
    gaps_us = {A: 10_000.0, B: 300_000.0, C: 1_000_000.0}
    rows = {C: {A: 120_000.0, B: 100_000.0}, A: {B: 50_000.0}}
    assert role(least_latency(Outlook(C, (A, B, C), (A, B), B, gaps_us, rows))) == (False, A)
    assert role(least_latency(Outlook(C, (A, B, C), (A,), B, gaps_us, rows))) == (False, A), "B is not active any more"


@pytest.mark.parametrize("roles", [{A: A, B: B}, {A: A, B: A}])
@pytest.mark.parametrize("gaps_us", [{}, {A: 1.0}, {B: 1.0}, {A: 1.0, B: 1.0}])
def test_without_figures_there_is_no_forecast(roles: Roles, gaps_us: dict[SiteId, float]) -> None:
    seen = Outlook(B, (A, B), actives_of(roles), roles[B], gaps_us, {})
    assert role(least_latency(seen)) == (roles[B] == B, roles[B])


# --- restless ---


@given(SIZES.flatmap(lambda size: st.lists(st.integers(0, size - 1), min_size=size, max_size=size)))
def test_the_restless_always_want_something_else_that_can_be_had(sequencers: list[int]) -> None:
    actives = sorted(set(sequencers))
    roles = {SiteId(site): SiteId(site if site in actives else to) for site, to in enumerate(sequencers)}
    for me in roles:
        seen = outlook(me, roles)
        advice = restless(seen)
        assert (advice.sequencer == me) is advice.active
        assert advice.active or advice.sequencer in seen.others
        if seen.others:
            assert role(advice) != (seen.is_active, seen.sequencer)


def test_the_restless_take_both_roles_and_two_sequencers_in_turn() -> None:
    roles = {A: A, B: B, C: C}
    seen = []
    for _ in range(6):
        advice = restless(outlook(C, roles))
        roles = {**roles, C: advice.sequencer}
        seen.append(roles[C])
    assert seen == [A, B, C, A, B, C]


def test_policies_have_names() -> None:
    assert POLICIES["pairwise"] is pairwise
    assert POLICIES["least-latency"] is least_latency
    assert POLICIES["restless"] is restless
