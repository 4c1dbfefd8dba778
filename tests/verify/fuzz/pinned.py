"""Where the fuzzer has found each planted bug, and a small case that shows it.

`python -m tests.verify.fuzz.planted [NAME...]` prints such lines.
"""

from __future__ import annotations

from tests.verify.fuzz.making import Found

PINNED = {
    "ack of another stream is accepted": Found(
        364, (3, 3, 20677, 0, 3, 25, 1, 3, 13, 138, 0, 0, 3, 15, 63, 0, 1, 4), "convergence"
    ),
    "cumulative ack is one too high": Found(6, (2, 0, 0, 0, 4), "convergence"),
    "early frames are handed up at once": Found(82, (2, 0, 0, 0, 4), "convergence"),
    "duplicates are handed up": Found(334, (0, 0, 0, 11, 1, 1, 6), "convergence"),
    "new stream goes on with the old numbers": Found(82, (0, 0, 0, 0, 1, 12), "convergence"),
    "fragments of the old stream stay": Found(387, (1, 2, 0, 11, 1, 2, 1, 0, 2, 62), "convergence"),
    "reset keeps what was queued and under way": Found(82, (7, 0, 3, 2, 4, 1, 0, 0, 1, 4), "convergence"),
    "early frames are acknowledged and dropped": Found(334, (1, 2, 45359, 0, 11, 0, 4, 2, 12, 2), "convergence"),
    "cut is what all have": Found(22, (3, 4, 0, 5, 1, 3, 2, 5, 3, 2, 2, 0, 5, 12, 2, 12, 1, 8, 1), "virtual synchrony"),
    "view is closed without what is missing": Found(
        22, (3, 4, 0, 5, 1, 3, 2, 5, 3, 2, 2, 0, 5, 12, 2, 12, 1, 8, 1), "virtual synchrony"
    ),
    "standing counts though the view is being closed": Found(
        387, (2, 5, 0, 3, 1, 7, 2, 47655, 0, 5, 56, 1, 11), "safe delivery"
    ),
    "minority decides": Found(229, (1, 6, 9055, 5, 1, 0, 5, 117, 2, 4, 1), "convergence"),
    "half is a quorum whichever half it is": Found(
        355, (1, 6, 0, 5, 1, 0, 5, 117, 2, 4, 1, 1, 41, 0, 2, 11, 75, 1), "convergence"
    ),
    "longer log of a restarted member is ignored": Found(
        40, (1, 6, 0, 2, 1, 0, 11, 30, 0, 1, 19, 2, 2), "digest alarm"
    ),
    "cast of the old view is taken in the new one": Found(
        305, (1, 4, 56465, 0, 5, 162, 0, 3, 11, 143, 2, 1, 187, 2), "convergence"
    ),
    "messages of the next view are thrown away": Found(
        196, (2, 4, 14308, 9, 1, 10, 2, 8, 1, 7, 2, 47646), "convergence"
    ),
    "rest of a view in order of receipt": Found(362, (1, 5, 49327, 7, 0, 1, 3, 2, 3, 0, 1, 56), "view agreement"),
    "final with less than a majority": Found(127, (1, 4, 3, 7, 0, 3, 1), "safe delivery"),
    "safe with as many as may fail": Found(366, (1, 6, 1593, 10, 2, 17, 2, 0, 4, 2, 0, 1), "safe delivery"),
    "safe is delivered at once": Found(1, (1, 6, 2, 3, 0, 3, 1), "safe delivery"),
    "retract leaves one entry": Found(259, (1, 0, 18941, 0, 2, 43), "positions"),
    "participants are not told of a retraction": Found(483, (1, 2, 0, 6, 0, 1, 4, 0, 2, 33), "positions"),
    "retracted bundles are not outstanding again": Found(32, (1, 0, 18941, 0, 2, 43), "validity"),
    "answers do not wait for what is retracted": Found(
        129, (3, 2, 11926, 0, 5, 58, 0, 19, 3, 38, 2, 4), "causal order"
    ),
    "answers to what is retracted wait until the view changes": Found(
        129, (3, 2, 11926, 0, 5, 58, 0, 19, 3, 38, 2, 4), "convergence"
    ),
    "sessions are not taken over": Found(445, (0, 4, 41855, 15, 1, 1, 0, 0, 1, 2, 0, 0, 1, 57, 1), "sessions"),
    "causal past is not checked": Found(196, (3, 3, 52076, 3, 3, 9, 1, 0, 6, 122, 3, 3), "causal order"),
    "order does not follow what causal bundles tell": Found(
        32, (1, 3, 3, 8, 2, 17, 0, 24, 1, 15, 1, 0, 1, 0, 0, 3, 1, 1, 5), "mixed levels"
    ),
    "duplicates get a second position": Found(
        88, (1, 1, 53597, 1, 5, 6, 4, 17, 3, 50, 0, 3, 5, 0, 0, 1, 19, 3, 2), "FIFO or duplication"
    ),
    "snapshot comes with the wrong position": Found(249, (3, 1, 0, 0, 2, 117, 2, 0, 1, 179), "digest alarm"),
    "outstanding bundles are not multicast again": Found(15, (0, 5, 27000, 0, 3, 34, 0, 0, 9, 8, 2, 0, 1), "validity"),
    "what was received counts as handed up": Found(110, (2, 2, 3, 0, 3, 5, 1, 3), "KeyError"),
    "snapshot waits until what is final reaches into the view": Found(
        132, (0, 2, 1, 2, 1, 13, 1, 12, 1, 0, 5, 56), "convergence"
    ),
}

FINDINGS = {
    5: "order does not follow what causal bundles tell",
    6: "standing counts though the view is being closed",
    7: "ack of another life is accepted",
    8: "view is decided without a whole log",
    9: "what was received counts as handed up",
    15: "nobody sees that a member has stopped",
    16: "snapshot waits until what is final reaches into the view",
    17: "view is closed with a successor of a ballot that is over",
    18: "restarted site makes its own log final",
    31: "answers do not wait for what is retracted",
}
"""By number in docs/findings.md."""
