"""Where the fuzzer met each bug planted in switching, and a small case that shows it.

Seeds and picks are those of `ordercast fuzz --protocol dynamic-hybrid`.
"""

from __future__ import annotations

from tests.verify.fuzz.making import Found

PINNED = {
    "tickets are forgotten once they have left": Found(14, (2, 0, 1), "convergence"),
    "new active is expected above the clock of whoever delivers its switch": Found(6, (4, 0, 1, 9, 1), "finality"),
    "site about to go active issues for what it sends": Found(151, (1, 0, 0, 7, 2), "finality"),
    "role numbers go on in the next view": Found(127, (0, 0, 0, 0, 3, 31), "convergence"),
    "what was sent while switching is assigned only once": Found(43, (3, 0, 0, 9, 1), "convergence"),
    "site about to go active reassigns nothing": Found(25, (1, 0, 2), "convergence"),
    "last active goes passive": Found(5, (), "ValueError"),
    "aborted switch counts as one": Found(5, (), "convergence"),
    "site that has gone passive is waited for": Found(0, (), "convergence"),
    "what was sent during a switch is left to nobody": Found(6, (0, 0, 3, 1, 1), "convergence"),
    "leaving site goes on ordering": Found(5, (2, 0, 0, 0, 9), "convergence"),
}
