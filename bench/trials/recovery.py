"""How long it takes until deliveries flow again after something has happened to a group."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

from bench.trials.ledger import Stream

PAUSE_S = 0.5
"""Where messages come a hundred times a second, so much silence means that they do not flow."""


class Times(Struct, frozen=True):
    """Of one kind."""

    count: int
    p50_s: float | None
    max_s: float | None
    unmeasured: int
    """How often something else happened before deliveries flowed again."""


def recovered_s(streams: Sequence[Stream], begin_s: float, end_s: float) -> float | None:
    """After what time messages flowed at all these participants: from then on there was no pause until `end_s`, and
    each had something that was multicast after `begin_s`. None if it was not so by the end.
    """
    each = [_recovered_at_s(stream, begin_s, end_s) for stream in streams]
    known = [at_s for at_s in each if at_s is not None]
    return max(known) - begin_s if known and len(known) == len(each) else None


def _recovered_at_s(stream: Stream, begin_s: float, end_s: float) -> float | None:
    start, stop = bisect_left(stream.delivered_s, begin_s), bisect_right(stream.delivered_s, end_s)
    came_s = stream.delivered_s[start:stop]
    new = (at_s for at_s, asked_s in zip(came_s, stream.asked_s[start:stop], strict=True) if asked_s >= begin_s)
    first_s = next(new, None)
    if first_s is None or end_s - came_s[-1] > PAUSE_S:
        return None
    pauses = [later for earlier, later in pairwise((begin_s, *came_s)) if later - earlier > PAUSE_S]
    return max(first_s, pauses[-1]) if pauses else first_s


def longest_gap_s(stream: Stream, begin_s: float, end_s: float) -> float:
    """Between two deliveries of this time, its ends counted as such."""
    start, stop = bisect_left(stream.delivered_s, begin_s), bisect_right(stream.delivered_s, end_s)
    moments = (begin_s, *stream.delivered_s[start:stop], end_s)
    return max(later - earlier for earlier, later in pairwise(moments))


def times_of(measured: Sequence[float | None]) -> Times:
    """The middle and the worst of them."""
    known = sorted(each for each in measured if each is not None)
    middle = known[len(known) // 2] if known else None
    return Times(len(measured), middle, known[-1] if known else None, len(measured) - len(known))
