"""What happens in the demonstration, and when."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

LAN_MS = 5.0
WAN_MS = 60.0
"""One way. A site of one LAN is LAN + WAN + LAN from one of the other, as in the report's scenarios."""

SITES = {"lis1": "lisbon", "lis2": "lisbon", "lis3": "lisbon", "bos1": "boston", "bos2": "boston"}

BUSY, QUIET = 60.0, 2.0
"""Messages per second."""


class Phase(Struct, frozen=True):
    """A time of steady load."""

    title: str
    seconds: float
    rates: dict[str, float]
    """Messages per second of each site."""


def load(title: str, seconds: float, *busy: str) -> Phase:
    """These sites are busy, the others quiet."""
    return Phase(title, seconds, {name: BUSY if name in busy else QUIET for name in SITES})


PHASES = (
    load("Lisbon is busy", 18.0, "lis1", "lis2", "lis3"),
    load("one site on each side is busy", 18.0, "lis1", "bos1"),
    load("all are busy; bos1 is killed and comes back", 27.0, *SITES),
    load("Boston is busy", 18.0, "bos1", "bos2"),
)

VICTIM = "bos1"
KILLED_S, BACK_S = 44.0, 52.0
"""After the beginning of the load."""

LOAD_S = sum(phase.seconds for phase in PHASES)


def phase_at(second: float) -> int:
    """The number of the phase that this second of the load is in."""
    begun = 0.0
    for index, phase in enumerate(PHASES):
        begun += phase.seconds
        if second < begun:
            return index
    return len(PHASES) - 1


def delay_ms(one: str, other: str) -> float:
    """One way."""
    if one == other:
        return 0.0
    return LAN_MS if SITES[one] == SITES[other] else 2 * LAN_MS + WAN_MS


TABLES = f"""
[group]
ordering = "adaptive"

[trace]
enabled = true

[[emulate]]
between = ["lisbon", "lisbon"]
delay_ms = {LAN_MS}

[[emulate]]
between = ["boston", "boston"]
delay_ms = {LAN_MS}

[[emulate]]
between = ["lisbon", "boston"]
delay_ms = {2 * LAN_MS + WAN_MS}
"""
"""Of the cluster file: two LANs far from each other."""

OUT = Path("out") / "demo"
