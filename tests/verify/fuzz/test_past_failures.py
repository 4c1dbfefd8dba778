"""Cases that once failed by no fault of the layers, but of the simulator that runs them.

What was wrong in the layers is planted again instead: see `bugs_of_the_past`.
"""

from __future__ import annotations

import pytest

from ordercast.verify.fuzz.campaign import replay

PAST = {
    "a site that came up just after the traffic had ended was not told so": (0, 2, 0, 9, 1, 0, 12, 50, 1, 1, 0, 5, 6),
    "a site that was paused while it was down came up and stood still": (0, 2, 0, 0, 11, 177, 3, 3, 198, 4),
    "the same, with a member that leaves": (1, 2, 0, 9, 1, 5, 2, 0, 14, 176, 0, 0, 12, 150, 0, 1),
}


@pytest.mark.parametrize("what", PAST)
def test_it_does_not_fail_any_more(what: str) -> None:
    assert replay(list(PAST[what])).failure is None
