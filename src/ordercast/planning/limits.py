"""The latency limit of a network (docs/ARCHITECTURE.md, "The limit we measure against").

When every site may send at any time, the guaranteed latencies L(i, j) that can be had are exactly those with
potentials o such that L(i, j) ≥ max_k (D*(k, j) + o_i - o_k). Minimising their traffic-weighted mean over the o is
a linear program. Only sites with traffic take the part of i and k; j is every member.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from scipy.optimize import linprog
from scipy.sparse import coo_matrix

from ordercast.planning.topology import Matrix, shortest_paths


class Limit(Struct, frozen=True):
    """The least traffic-weighted mean of the latency that any ordering protocol can guarantee."""

    last: float | None
    """Until the last member delivers."""
    mean_recipient: float | None
    """Averaged over the members, the sender included."""


def latency_limit(delays: Matrix, weights: Sequence[float]) -> Limit:
    """In the unit of the delays; `weights` are the sites' shares of the traffic (0 for a silent site)."""
    senders = [site for site, weight in enumerate(weights) if weight > 0]
    if not senders:
        return Limit(None, None)
    reach = np.array(shortest_paths(delays))[senders]
    share = np.array([weights[site] for site in senders], dtype=float)
    share /= share.sum()
    return Limit(_optimum(reach.max(axis=1, keepdims=True), share), _optimum(reach, share))


def _optimum(reach: np.ndarray, share: np.ndarray) -> float:
    """Minimise sum_i share_i · mean_j L_ij subject to L_ij ≥ reach_kj + o_i - o_k for all i, k, j.

    The least L is o_i + m_j, where m_j ≥ reach_kj - o_k for all k. So the variables are the potentials o_i and the
    m_j, and there is one constraint for each sender and member, not for each two senders and a member.
    """
    count, columns = reach.shape
    k, j = (axis.ravel() for axis in np.indices(reach.shape))
    rows = np.arange(count * columns)
    entries = np.full(2 * len(rows), -1.0)
    at = (np.concatenate([rows, rows]), np.concatenate([k, count + j]))
    constraints = coo_matrix((entries, at), shape=(len(rows), count + columns)).tocsr()
    cost = np.concatenate([share, np.full(columns, 1 / columns)])
    bounds = [(0.0, 0.0)] + [(None, None)] * (count - 1 + columns)
    solution = linprog(cost, A_ub=constraints, b_ub=-reach.ravel(), bounds=bounds, method="highs")
    assert solution.success, solution.message
    return float(solution.fun)
