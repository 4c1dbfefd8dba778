"""LANs joined by slow links, or a plain matrix: in the end the mean delay and its variance between every two sites."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from ordercast.core.ids import SiteId

Distribution = Literal["chi2", "constant", "normal"]
Matrix = tuple[tuple[float, ...], ...]


class Lan(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Sites within `delay_ms` of each other."""

    name: str
    sites: list[str]
    delay_ms: float
    variance: float = 0.0
    distribution: Distribution = "chi2"


class Wan(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A link between two LANs; a path from site to site adds LAN + WAN(s) + LAN."""

    between: tuple[str, str]
    delay_ms: float
    variance: float = 0.0


class Delays(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Measured one-way delays instead of LANs and WANs."""

    sites: list[str]
    one_way_ms: list[list[float]]
    variance: list[list[float]] | float = 0.0
    distribution: Distribution = "chi2"


class Topology(Struct, frozen=True):
    """Who there is, and how far apart. Row to column, one way."""

    names: tuple[str, ...]
    mean_us: Matrix
    variance_us2: Matrix
    distribution: Distribution

    @property
    def sites(self) -> tuple[SiteId, ...]:
        """All sites, in the order of appearance."""
        return tuple(SiteId(index) for index in range(len(self.names)))

    def site(self, name: str) -> SiteId:
        """The id of the site with this name."""
        return SiteId(self.names.index(name))


def from_delays(delays: Delays) -> Topology:
    """A topology given as a matrix."""
    size = len(delays.sites)
    variance = delays.variance
    rows = variance if isinstance(variance, list) else [[variance] * size for _ in range(size)]
    return Topology(
        tuple(delays.sites),
        _off_diagonal(delays.one_way_ms, 1e3),
        _off_diagonal(rows, 1e6),
        delays.distribution,
    )


def _off_diagonal(rows: Sequence[Sequence[float]], factor: float) -> Matrix:
    """Scaled, with zeros on the diagonal: a site receives its own messages at once."""
    return tuple(
        tuple(0.0 if row == column else value * factor for column, value in enumerate(values))
        for row, values in enumerate(rows)
    )


def from_lans(lans: Sequence[Lan], wans: Sequence[Wan]) -> Topology:
    """A WAN of LANs. Between LANs that no WAN link joins directly the shortest path counts."""
    home = [index for index, lan in enumerate(lans) for _ in lan.sites]
    mean, variance = _between_lans(lans, wans)
    names = tuple(name for lan in lans for name in lan.sites)

    def path(table: list[list[float]], own: list[float], a: int, b: int) -> float:
        if a == b:
            return 0.0
        if home[a] == home[b]:
            return own[home[a]]
        return own[home[a]] + table[home[a]][home[b]] + own[home[b]]

    lan_mean = [lan.delay_ms * 1e3 for lan in lans]
    lan_variance = [lan.variance * 1e6 for lan in lans]
    everyone = range(len(names))
    return Topology(
        names,
        tuple(tuple(path(mean, lan_mean, a, b) for b in everyone) for a in everyone),
        tuple(tuple(path(variance, lan_variance, a, b) for b in everyone) for a in everyone),
        lans[0].distribution,
    )


def _between_lans(lans: Sequence[Lan], wans: Sequence[Wan]) -> tuple[list[list[float]], list[list[float]]]:
    """Mean delay and variance of the shortest path over WAN links between every two LANs."""
    index = {lan.name: position for position, lan in enumerate(lans)}
    everywhere = range(len(lans))
    mean = [[0.0 if a == b else math.inf for b in everywhere] for a in everywhere]
    variance = [[0.0] * len(lans) for _ in everywhere]
    for wan in wans:
        a, b = (index[name] for name in wan.between)
        if wan.delay_ms * 1e3 < mean[a][b]:
            mean[a][b] = mean[b][a] = wan.delay_ms * 1e3
            variance[a][b] = variance[b][a] = wan.variance * 1e6
    for via in everywhere:
        for a in everywhere:
            for b in everywhere:
                if mean[a][via] + mean[via][b] < mean[a][b]:
                    mean[a][b] = mean[a][via] + mean[via][b]
                    variance[a][b] = variance[a][via] + variance[via][b]
    return mean, variance


def shortest_paths(delays: Matrix) -> Matrix:
    """D*: how soon a message can be anywhere if members may relay it."""
    closure = [list(row) for row in delays]
    everyone = range(len(closure))
    for via in everyone:
        for a in everyone:
            for b in everyone:
                closure[a][b] = min(closure[a][b], closure[a][via] + closure[via][b])
    return tuple(tuple(row) for row in closure)
