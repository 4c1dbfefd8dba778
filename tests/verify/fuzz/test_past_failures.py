"""Cases that once failed by no fault of the layers, but of what runs and judges them.

What was wrong in the layers is planted again instead: see `bugs_of_the_past`.
"""

from __future__ import annotations

import pytest

from ordercast.verify.fuzz.campaign import replay

PAST = {
    "a site that came up just after the traffic had ended was not told so": (0, 2, 0, 9, 1, 0, 12, 50, 1, 1, 0, 5, 6),
    "a site that was paused while it was down came up and stood still": (0, 2, 0, 0, 11, 177, 3, 3, 198, 4),
    "a participant that left a paused site was not noticed": (0, 0, 0, 15, 0, 1, 1, 0, 0, 0, 0, 0, 3, 26),
    "a run ended before a paused site had noticed that a participant had left it": (
        *(0, 0, 0, 15, 1, 0, 3, 0, 0, 0, 0, 0, 3, 181, 0, 1),
    ),
    "a group counted as settled while safe messages waited": (
        *(1, 0, 19398, 2, 2, 15, 0, 0, 0, 0, 0, 0, 0, 10, 2, 0, 6, 0, 3, 6, 0, 0, 1, 1, 1, 1),
    ),
    "a paused site that was down, with a member that leaves": (1, 2, 0, 9, 1, 5, 2, 0, 14, 176, 0, 0, 12, 150, 0, 1),
    "who had begun with a snapshot counted as not holding what is below it": (
        *(4, 0, 0, 10, 1, 6, 2, 13, 2, 0, 1, 125, 1, 0, 2, 30, 3, 34),
    ),
}


@pytest.mark.parametrize("what", PAST)
def test_it_does_not_fail_any_more(what: str) -> None:
    assert replay(list(PAST[what])).failure is None
