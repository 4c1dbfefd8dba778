"""FIFO channels by sequence numbers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ordercast.core.effects import Deliver, Effects, Send
from ordercast.core.events import FromAbove, FromBelow, Now
from ordercast.core.ids import SiteId
from ordercast.core.layer import Waiting
from ordercast.protocols.links.fifo import Fifo, Numbered
from tests.layers import sites

A, B, C = sites(3)
NOW = Now(0, 0, 0)


def link(me: SiteId = A) -> Fifo[str]:
    return Fifo(me, sites(3))


def put_down(at: Fifo[str], message: str, to: SiteId | None = None) -> list[object]:
    out = Effects()
    at.handle(FromAbove(message, to), NOW, out)
    return list(out.list)


def handed_up(at: Fifo[str], sender: SiteId, *frames: tuple[int, str]) -> str:
    out = Effects()
    for seq, payload in frames:
        at.handle(FromBelow(sender, Numbered(seq, payload)), NOW, out)
    return "".join(each.message for each in out.list if isinstance(each, Deliver) and each.sender == sender)


def test_a_multicast_goes_to_each_other_site_and_comes_back_at_once() -> None:
    assert put_down(link(), "x") == [Deliver(A, "x"), Send(B, Numbered(0, "x")), Send(C, Numbered(0, "x"))]


def test_each_channel_counts_for_itself() -> None:
    own = link()
    put_down(own, "x", to=B)
    assert put_down(own, "y")[1:] == [Send(B, Numbered(1, "y")), Send(C, Numbered(0, "y"))]


def test_what_comes_early_waits() -> None:
    own = link()
    assert handed_up(own, B, (1, "y"), (2, "z")) == ""
    assert own.waiting_for() == Waiting("frame 0, lost on the way from", B)
    assert handed_up(own, B, (0, "x")) == "xyz"
    assert own.waiting_for() is None


def test_what_comes_again_is_dropped() -> None:
    own = link()
    assert handed_up(own, B, (0, "x"), (0, "x"), (2, "z"), (2, "z"), (1, "y"), (0, "x"), (2, "z")) == "xyz"


def test_channels_do_not_wait_for_each_other() -> None:
    own = link()
    assert handed_up(own, B, (1, "y")) == ""
    assert handed_up(own, C, (0, "x")) == "x"


@given(st.permutations(range(6)), st.lists(st.integers(0, 5)))
def test_any_order_and_any_duplicates_come_out_right(order: list[int], again: list[int]) -> None:
    frames = [(seq, "abcdef"[seq]) for seq in [*order, *again]]
    assert handed_up(link(), B, *frames) == "abcdef"
