"""A network of fourteen sites in five towns, and traffic on it that changes all the time: two studies run on it."""

from __future__ import annotations

import random
from typing import Any

CLUSTERS = {
    "lisbon": ("lis1", "lis2", "lis3", "lis4"),
    "porto": ("por1", "por2", "por3"),
    "coimbra": ("coi1", "coi2"),
    "faro": ("far1", "far2"),
    "boston": ("bos1", "bos2", "bos3"),
}
SITES = tuple(site for cluster in CLUSTERS.values() for site in cluster)
LAN_MS = 5.0
LINKS_MS = (
    ("lisbon", "porto", 100.0),
    ("lisbon", "coimbra", 60.0),
    ("coimbra", "porto", 60.0),
    ("lisbon", "faro", 90.0),
    ("lisbon", "boston", 450.0),
)

BUSY, SLOW = (10.0, 20.0, 40.0), (0.5, 1.0, 2.0)
BUSY_SHARE = 0.3
LASTS_S = (5.0, 20.0)
"""Where rates change: what a site is in turn, busy for three tenths of the time, and how long it keeps a rate."""

NETWORK: dict[str, Any] = {
    "lan": [
        {"name": name, "sites": list(sites), "delay_ms": LAN_MS, "variance": 0.05} for name, sites in CLUSTERS.items()
    ],
    "wan": [{"between": [a, b], "delay_ms": delay_ms, "variance": 0.4} for a, b, delay_ms in LINKS_MS],
}


def changing_traffic(seed: int, duration_s: float, source: str = "quasi-periodic") -> list[dict[str, Any]]:
    """Each site goes from one rate to the next, at times of its own."""
    entries = []
    for site in SITES:
        rng, now_s = random.Random(f"{seed} {site}"), 0.0
        while now_s < duration_s:
            rate = rng.choice(BUSY if rng.random() < BUSY_SHARE else SLOW)
            until_s = min(now_s + round(rng.uniform(*LASTS_S), 1), duration_s)
            entries.append({"sites": [site], "rate": rate, "source": source, "from_s": now_s, "until_s": until_s})
            now_s = until_s
    return entries
