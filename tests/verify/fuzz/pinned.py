"""Where the fuzzer has found each planted bug, and a small case that shows it.

`python -m tests.verify.fuzz.planted [NAME...]` prints such lines.
"""

from __future__ import annotations

from tests.verify.fuzz.making import Found

PINNED = {
    "cumulative ack is one too high": Found(6, (2, 0, 0, 0, 4), "convergence"),
    "early frames are handed up at once": Found(11, (2, 0, 0, 0, 4), "convergence"),
    "duplicates are handed up": Found(28, (0, 0, 0, 11, 1, 1, 6), "convergence"),
    "new stream goes on with the old numbers": Found(1, (0, 0, 0, 0, 1, 12), "convergence"),
    "reset keeps what was queued and under way": Found(1, (13, 0, 3, 2, 4, 1, 0, 0, 1, 4), "convergence"),
    "final with less than a majority": Found(4, (1, 4, 3, 7, 0, 3, 1), "safe delivery"),
    "safe is delivered at once": Found(1, (1, 8, 2, 3, 0, 3, 1), "safe delivery"),
    "retract leaves one entry": Found(259, (1, 0, 18941, 0, 2, 43), "positions"),
    "participants are not told of a retraction": Found(5, (1, 2, 0, 6, 0, 1, 4, 0, 2, 33), "positions"),
    "retracted bundles are not outstanding again": Found(259, (1, 0, 18941, 0, 2, 43), "validity"),
    "causal past is not checked": Found(449, (3, 3, 52076, 3, 3, 9, 2, 0, 6, 122, 3, 3), "causal order"),
    "snapshot comes with the wrong position": Found(249, (3, 1, 0, 0, 2, 117, 2, 0, 1, 179), "digest alarm"),
    "outstanding bundles are not multicast again": Found(1, (149, 2, 0, 2, 1, 52, 3, 1, 16), "validity"),
    "what was received counts as handed up": Found(42, (2, 2, 3, 0, 3, 5, 1, 3), "KeyError"),
    "snapshot waits until what is final reaches into the view": Found(
        257, (0, 2, 1, 2, 1, 13, 1, 12, 1, 0, 5, 56), "convergence"
    ),
    "snapshot makes a site forget what it has delivered": Found(
        257, (2, 0, 0, 7, 2, 1, 4, 3, 0, 2, 13, 1, 0, 1, 44), "FIFO or duplication"
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
}
"""By number in docs/findings.md."""
