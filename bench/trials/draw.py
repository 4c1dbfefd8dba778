"""Which faults a trial has, and when: drawn from its seed alone."""

from __future__ import annotations

import random
from typing import Literal

from msgspec import Struct

Kind = Literal[
    "kill", "kill of all", "pause", "long pause", "partition", "one-way out", "one-way in", "restart", "ordering"
]

QUIET_S = (3.0, 7.0)
"""Between two faults that do not overlap: most recover within that."""

QUIET_AFTER_ALL_S = 10.0
"""So much longer after all have been killed: five daemons start at once, and read their logs."""

OVERLAP = 0.25
"""The part of faults that begin while the one before still lasts."""

KINDS: dict[Kind, tuple[float, float, float]] = {
    "kill": (5, 0.5, 6.0),
    "kill of all": (1, 0.1, 1.0),
    "pause": (3, 0.05, 0.35),  # sites suspect after a second of silence
    "long pause": (3, 1.0, 6.0),
    "partition": (3, 1.0, 8.0),
    "one-way out": (2, 1.0, 8.0),
    "one-way in": (2, 1.0, 8.0),
    "restart": (3, 0.0, 3.0),
    "ordering": (4, 0.0, 0.0),
}
"""How likely, and how long at least and at most, in seconds."""

ORDERINGS = ("token-site", "rs-symmetric", "adaptive", "symmetric", "migrating-token")

IMPAIRED_MAX = 2
"""So many of five sites at once, but for the kills of all: the others can go on."""


class Fault(Struct, frozen=True):
    """Something that happens to some sites for some time."""

    kind: Kind
    begin_s: float
    end_s: float
    sites: tuple[str, ...]
    """Those that are hit; of an ordering, the site that is asked for it."""
    ordering: str | None = None


def draw_faults(seed: int, sites: tuple[str, ...], duration_s: float) -> tuple[Fault, ...]:
    """In the order in which they begin. The last seconds have none."""
    chance = random.Random(seed)
    faults: list[Fault] = []
    begin_s = chance.uniform(*QUIET_S)
    while True:
        fault = _draw(chance, sites, begin_s, faults)
        if fault.end_s + QUIET_S[1] > duration_s:
            return tuple(faults)
        faults.append(fault)
        free_s = max(each.end_s for each in faults)
        if chance.random() < OVERLAP and fault.end_s > begin_s + 0.2 and fault.kind != "kill of all":
            begin_s = chance.uniform(begin_s + 0.1, fault.end_s)
        else:
            begin_s = free_s + chance.uniform(*QUIET_S)
        if fault.kind == "kill of all":
            begin_s += QUIET_AFTER_ALL_S


def _draw(chance: random.Random, sites: tuple[str, ...], begin_s: float, before: list[Fault]) -> Fault:
    """What can come at that time beside what still lasts."""
    lasting = [fault for fault in before if fault.end_s >= begin_s and fault.kind != "ordering"]
    busy = {site for fault in lasting for site in fault.sites}
    free = [site for site in sites if site not in busy]
    kinds = [kind for kind in KINDS if _may_come(kind, lasting, busy)]
    (kind,) = chance.choices(kinds, [KINDS[kind][0] for kind in kinds])
    _, least_s, most_s = KINDS[kind]
    end_s = begin_s + chance.uniform(least_s, most_s)
    if kind == "kill of all":
        return Fault(kind, begin_s, end_s, sites)
    if kind == "ordering":
        return Fault(kind, begin_s, end_s, (chance.choice(free),), chance.choice(ORDERINGS))
    two = "partition" in kind or "one-way" in kind
    count = chance.randint(1, IMPAIRED_MAX - len(busy)) if two else 1
    return Fault(kind, begin_s, end_s, tuple(sorted(chance.sample(free, count))))


def _may_come(kind: Kind, lasting: list[Fault], busy: set[str]) -> bool:
    if kind == "ordering":
        return len(busy) <= IMPAIRED_MAX
    if kind == "kill of all":
        return not lasting
    if cuts(kind) and any(cuts(fault.kind) for fault in lasting):
        return False
    return len(busy) < IMPAIRED_MAX


def cuts(kind: Kind) -> bool:
    """Whether it is one of those that keep messages from arriving."""
    return kind in ("partition", "one-way out", "one-way in")
