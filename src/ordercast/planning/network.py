"""What an outside observer knows of network and load."""

from __future__ import annotations

from msgspec import Struct

from ordercast.core.ids import SiteId


class KnownNetwork(Struct, frozen=True):
    """True mean delays and mean gaps."""

    delays_us: tuple[tuple[float, ...], ...]
    """One way, from row to column."""
    gaps_us: dict[SiteId, tuple[tuple[int, float | None], ...]]
    """For each site pieces (from time, mean gap from then on), in order; a gap of None is silence."""
    mean_gaps_us: tuple[float | None, ...]
    """For each site the mean gap over the whole of the traffic; None if it never sends."""
