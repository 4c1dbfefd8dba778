"""Where the fuzzer met each bug planted in switching, and the small case that shows it.

Seeds and picks are those of `ordercast fuzz --protocol dynamic-hybrid`.
"""

from __future__ import annotations

from tests.verify.fuzz.making import Found

PINNED: dict[str, Found] = {
    "tickets are forgotten once they have left": Found(
        10, (4,), "convergence: A waits for message 137438953470 (its ticket is here) of F"
    ),
    "new active is expected above the clock of whoever delivers its switch": Found(
        101,
        (4, 0, 1, 9, 1),
        "finality: B finalizes message 4 of F at position 40, final elsewhere is message 4 of D at position 40",
    ),
    "site about to go active issues for what it sends": Found(
        16,
        (4, 0, 4612, 7, 1),
        "finality: A finalizes C going active at position 47, final elsewhere is message 6 of F at position 47",
    ),
    "role numbers go on in the next view": Found(
        22, (0, 0, 0, 0, 3, 31), "convergence: A waits for a ticket for message 137438953470 of B"
    ),
    "what was sent while switching is assigned only once": Found(
        13, (3, 0, 0, 9, 1), "convergence: A waits for a ticket for message 6 of B"
    ),
    "site about to go active reassigns nothing": Found(
        53, (1, 0, 2), "convergence: A waits for a ticket for message 137438953470 of C"
    ),
    "last active goes passive": Found(0, (), "ValueError: min() arg is an empty sequence"),
    "aborted switch counts as one": Found(0, (), "convergence: A waits for a ticket for message 137438953470 of B"),
    "what was sent during a switch is left to nobody": Found(
        8, (2, 0, 0, 9, 1), "convergence: A waits for a ticket for message 4 of C"
    ),
    "leaving site goes on ordering": Found(
        5, (2, 0, 0, 9, 1), "convergence: B waits for message 7 (its ticket is here) of D"
    ),
}
