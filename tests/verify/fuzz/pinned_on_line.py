"""The small cases that show the bugs planted into what live sites add."""

from __future__ import annotations

from tests.verify.fuzz.making import Found

PINNED = {
    "messages of the old plan still count": Found(
        32, (0, 6, 19718, 17, 13, 0, 1, 3, 17, 0, 24, 1, 15, 1, 0, 1, 0, 0, 3), "finality"
    ),
    "outstanding bundles are not multicast again under the new plan": Found(
        55, (0, 2, 28532, 17, 1, 1, 0, 5, 1, 7), "validity"
    ),
    "early messages of a later plan are dropped": Found(55, (1, 2, 28532, 17, 1, 24, 0, 5, 1, 7, 2), "convergence"),
    "member that comes back begins with the old plan": Found(
        3, (1, 0, 0, 17, 2, 0, 0, 3, 1, 1, 1, 1, 1), "view agreement"
    ),
    "old protocol ends where the change comes up": Found(39, (17, 5, 124, 9, 1, 2, 0, 17), "convergence"),
    "what follows what is worked out anew under the new plan": Found(
        27, (0, 0, 0, 15, 0, 0, 0, 0, 0, 2, 0, 1, 3, 17), "validity"
    ),
    "snapshot comes without the plan": Found(
        32, (0, 4, 1, 3, 0, 2, 1, 1, 0, 17, 5, 8, 13, 2, 1, 5, 0, 9, 165, 3, 0, 2, 1, 133), "convergence"
    ),
    "what is multicast again comes up again": Found(25, (0, 0, 0, 15), "sessions"),
    "one body that came up before makes all void": Found(96, (0, 0, 0, 15, 1, 0, 2, 6, 4, 14, 1, 7, 2), "sessions"),
    "sessions of participants are not taken over": Found(
        164, (1, 1, 40894, 15, 2, 3, 2, 1, 0, 2, 1, 3, 1, 0, 4, 31, 4, 3, 0, 1, 144, 4), "finality"
    ),
    "members stay when their site leaves the view": Found(
        106, (1, 2, 0, 9, 1, 15, 0, 0, 4, 0, 0, 0, 0, 2, 27, 0, 11, 137), "participants"
    ),
    "history is taken without a look at what is there": Found(32, (0, 5, 0, 0, 2, 111), "finality"),
}
"""By the name of the bug. The seeds are those of the fuzzer of the day on which it was found."""
