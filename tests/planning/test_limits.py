"""The latency limit: known cases, and a search that does without linear programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import permutations, product
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordercast.planning.limits import Limit, latency_limit
from ordercast.planning.topology import Matrix, shortest_paths

Over = Callable[[Sequence[float]], float]
"""How the latencies of a message at its recipients become one: the last, or the mean."""

OVERS: tuple[Over, Over] = (max, fmean)

few = settings(max_examples=40)
STEP = 1.0


def uniform(size: int, delay: float) -> Matrix:
    return tuple(tuple(0.0 if a == b else delay for b in range(size)) for a in range(size))


def matrices(size: int) -> st.SearchStrategy[Matrix]:
    entries = st.lists(st.integers(1, 6), min_size=size * size, max_size=size * size)
    return entries.map(
        lambda values: tuple(
            tuple(0.0 if a == b else float(values[a * size + b]) for b in range(size)) for a in range(size)
        )
    )


def shares(size: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(0, 3), min_size=size, max_size=size).filter(any)


def expected_latency(delays: Matrix, weights: Sequence[float], offsets: Sequence[float], over: Over) -> float:
    """What potentials o give: L(i, j) = max_k (D*(k, j) + o_i - o_k), by the definition."""
    reach = shortest_paths(delays)
    senders = [site for site, weight in enumerate(weights) if weight]
    rows = {
        i: [max(reach[k][j] + offsets[i] - offsets[k] for k in senders) for j in range(len(delays))] for i in senders
    }
    return sum(weights[i] * over(rows[i]) for i in senders) / sum(weights)


def both(limit: Limit) -> tuple[float, float]:
    assert limit.last is not None
    assert limit.mean_recipient is not None
    return limit.last, limit.mean_recipient


@few
@given(st.integers(2, 3).flatmap(lambda size: st.tuples(matrices(size), shares(size))))
def test_no_potentials_do_better_and_some_do_as_well(case: tuple[Matrix, list[int]]) -> None:
    """Over a grid of potentials; between grid points the latency changes by at most two steps."""
    delays, weights = case
    grid = [STEP * tick for tick in range(-12, 13)]
    for over, limit in zip(OVERS, both(latency_limit(delays, weights)), strict=True):
        best = min(
            expected_latency(delays, weights, (0.0, *offsets), over)
            for offsets in product(grid, repeat=len(delays) - 1)
        )
        assert limit <= best + 1e-6
        assert limit >= best - 2 * STEP


@pytest.mark.parametrize("size", [2, 3, 5])
def test_equal_delays_and_equal_loads(size: int) -> None:
    """Symmetric ordering, o = 0, attains D at the last member, and nothing can be faster."""
    last, mean_recipient = both(latency_limit(uniform(size, 50), [1.0] * size))
    assert last == pytest.approx(50)
    assert last == pytest.approx(expected_latency(uniform(size, 50), [1.0] * size, [0.0] * size, max))
    assert mean_recipient <= 50 + 1e-6


@pytest.mark.parametrize("share", [0.5, 0.75, 0.9])
def test_a_token_site_is_best_for_the_mean_recipient_of_two(share: float) -> None:
    """o = (0, D): it delivers its own at once, the other's come back after 2·D."""
    delays = uniform(2, 100)
    last, mean_recipient = both(latency_limit(delays, [share, 1 - share]))
    assert mean_recipient == pytest.approx(100 * (share / 2 + (1 - share) * 3 / 2))
    assert mean_recipient == pytest.approx(expected_latency(delays, [share, 1 - share], (0.0, 100.0), fmean))
    assert last == pytest.approx(100)


def test_a_single_sender_needs_no_order() -> None:
    delays = ((0.0, 10.0, 30.0), (10.0, 0.0, 90.0), (30.0, 90.0, 0.0))
    last, mean_recipient = both(latency_limit(delays, [1, 0, 0]))
    assert last == pytest.approx(30)
    assert mean_recipient == pytest.approx(40 / 3)


def test_members_relay() -> None:
    """From A to C by way of B takes 20, not 90."""
    delays = ((0.0, 10.0, 90.0), (10.0, 0.0, 10.0), (90.0, 10.0, 0.0))
    assert latency_limit(delays, [1, 0, 0]).last == pytest.approx(20)
    assert both(latency_limit(delays, [1, 2, 3])) == pytest.approx(
        both(latency_limit(shortest_paths(delays), [1, 2, 3]))
    )


def test_without_traffic_there_is_no_limit() -> None:
    assert latency_limit(uniform(3, 10), [0, 0, 0]) == Limit(None, None)


@few
@given(st.integers(2, 4).flatmap(lambda size: st.tuples(matrices(size), shares(size), st.integers(0, 99))))
def test_a_longer_link_never_lowers_the_limit(case: tuple[Matrix, list[int], int]) -> None:
    delays, weights, pick = case
    size = len(delays)
    a, b = [(a, b) for a in range(size) for b in range(size) if a != b][pick % (size * (size - 1))]
    longer = tuple(tuple(delay + 2 * ((x, y) == (a, b)) for y, delay in enumerate(row)) for x, row in enumerate(delays))
    for less, more in zip(both(latency_limit(delays, weights)), both(latency_limit(longer, weights)), strict=True):
        assert more >= less - 1e-6


@few
@given(st.integers(2, 4).flatmap(lambda size: st.tuples(matrices(size), shares(size))))
def test_no_message_outruns_the_network(case: tuple[Matrix, list[int]]) -> None:
    delays, weights = case
    reach = shortest_paths(delays)
    for over, limit in zip(OVERS, both(latency_limit(delays, weights)), strict=True):
        alone = sum(weight * over(row) for weight, row in zip(weights, reach, strict=True)) / sum(weights)
        assert limit >= alone - 1e-6


@few
@given(matrices(3), shares(3), st.sampled_from(list(permutations(range(3)))), st.integers(1, 1000))
def test_neither_names_nor_units_count(delays: Matrix, weights: list[int], order: tuple[int, ...], factor: int) -> None:
    renamed = tuple(tuple(factor * delays[a][b] for b in order) for a in order)
    limits = both(latency_limit(renamed, [7 * weights[site] for site in order]))
    assert limits == pytest.approx([factor * limit for limit in both(latency_limit(delays, weights))])
