"""Where the fuzzer met each bug planted in switching, and the small case that shows it.

Seeds and picks are those of `ordercast fuzz --protocol dynamic-hybrid`.
"""

from __future__ import annotations

from tests.verify.fuzz.making import Found

PINNED: dict[str, Found] = {
    "tickets are forgotten once they have left": Found(10, (4,), "convergence"),
    "new active is expected above the clock of whoever delivers its switch": Found(
        101,
        (4, 0, 1, 9, 1),
        "finality",
    ),
    "site about to go active issues for what it sends": Found(
        16,
        (3, 0, 0, 7, 2),
        "finality",
    ),
    "role numbers go on in the next view": Found(22, (0, 0, 0, 0, 3, 31), "convergence"),
    "what was sent while switching is assigned only once": Found(13, (3, 0, 0, 9, 1), "convergence"),
    "site about to go active reassigns nothing": Found(53, (1, 0, 2), "convergence"),
    "last active goes passive": Found(0, (), "ValueError"),
    "aborted switch counts as one": Found(0, (), "convergence"),
    "what was sent during a switch is left to nobody": Found(8, (2, 0, 0, 9, 1), "convergence"),
    "leaving site goes on ordering": Found(5, (2, 0, 0, 9, 1), "convergence"),
}
