"""Links over a transport that is itself a reliable stream, until its connection breaks."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ordercast.core.events import FromBelow
from ordercast.core.ids import SiteId
from ordercast.protocols.full import STREAM_FRAME_BYTES
from ordercast.protocols.links.frames import Reconnected, Reset
from ordercast.protocols.links.outgoing import WINDOW_BYTES
from ordercast.protocols.links.reliable import ACK_EVERY
from tests.protocols.links.two_links import DELAY_US, A, B, TwoLinks


class Connection(TwoLinks):
    """One each way, as sites have them. It loses nothing and keeps the order; when it breaks, all is lost that is under
    way, or is sent before the next."""

    def __init__(self, frame_bytes_max: int = STREAM_FRAME_BYTES) -> None:
        super().__init__(repairs=False, frame_bytes_max=frame_bytes_max)
        self._numbers = {A: 0, B: 0}
        """By sender: of the present connection, negative if there is none."""

    def carry(self, sender: SiteId, message: Any) -> None:
        number = self._numbers[sender]
        if number >= 0:
            self.later(DELAY_US, lambda: self._arrive(number, sender, message))

    def _arrive(self, number: int, sender: SiteId, message: Any) -> None:
        if number == self._numbers[sender]:
            (self.b if sender == A else self.a).handle(FromBelow(sender, message))

    def breaks(self, *senders: SiteId) -> None:
        for sender in senders or (A, B):
            self._numbers[sender] = -1 - abs(self._numbers[sender])

    def connects(self, *senders: SiteId) -> None:
        """A new connection; the host of the sender says so."""
        for sender in senders or (A, B):
            self._numbers[sender] = 1 + abs(self._numbers[sender])
            end, other = (self.a, B) if sender == A else (self.b, A)
            end.handle(FromBelow(other, Reconnected()))

    def timed(self) -> list[str]:
        """The kinds of timers that have ever been set."""
        return sorted({str(key[0]) for end in (self.a, self.b) for key in end.timers() if isinstance(key, tuple)})


MOVES = st.one_of(
    st.tuples(st.sampled_from("ab"), st.integers(0, 30)),
    st.tuples(st.just("wait"), st.integers(0, 3 * DELAY_US)),
    st.tuples(st.sampled_from(("breaks", "connects")), st.sampled_from((A, B))),
)


@given(st.lists(MOVES, max_size=40))
def test_wherever_it_breaks_each_side_gets_exactly_what_the_other_sent(moves: list[tuple[str, int]]) -> None:
    links = Connection(frame_bytes_max=10)
    given_to: dict[str, list[bytes]] = {"a": [], "b": []}
    for kind, amount in moves:
        if kind in given_to:
            message = b"%d" % len(given_to[kind]) + b"." * amount
            given_to[kind].append(message)
            (links.a if kind == "a" else links.b).put_down(message)
        elif kind == "wait":
            links.run(amount)
        elif kind == "breaks":
            links.breaks(SiteId(amount))
        else:
            links.connects(SiteId(amount))
    links.connects()
    links.run()
    assert links.b.handed_up == given_to["a"]
    assert links.a.handed_up == given_to["b"]
    assert links.timed() in ([], ["pace"])


def test_what_had_arrived_is_not_handed_up_again_and_not_kept_any_longer() -> None:
    links = Connection()
    links.a.put_down(b"1", b"2", b"3")
    links.run()
    assert len(links.a.link.channel(B).outgoing.unacknowledged) == 3
    links.breaks()
    links.connects()
    links.run()
    assert links.b.handed_up == [b"1", b"2", b"3"]
    assert links.a.link.channel(B).outgoing.unacknowledged == {}


def test_a_site_that_has_restarted_says_so_once_and_gets_nothing_meant_for_its_earlier_life() -> None:
    links = Connection()
    links.b.put_down(b"here")
    links.run()
    links.breaks()
    links.a.put_down(b"1", b"2", b"3")
    links.restart_b(1)
    links.connects()
    links.run()
    assert links.b.handed_up == []
    assert len(links.b.acks()) == 1
    assert links.a.link.channel(B).outgoing.unacknowledged == {}
    links.a.put_down(b"welcome back")
    links.b.put_down(b"thanks")
    links.run()
    assert (links.b.handed_up, links.a.handed_up) == ([b"welcome back"], [b"here", b"thanks"])


def test_who_says_it_just_before_the_connection_breaks_says_it_again() -> None:
    links = Connection()
    links.b.put_down(b"here")
    links.run()
    links.breaks()
    links.a.put_down(b"for the earlier life")
    links.restart_b(1)
    links.connects()
    links.run(DELAY_US + 1)
    assert len(links.b.acks()) == 1
    links.breaks()
    links.connects()
    links.run()
    assert links.a.link.channel(B).outgoing.addressee == 1


def test_a_stream_that_begins_while_there_is_no_connection_arrives_from_its_first_message() -> None:
    links = Connection()
    links.a.put_down(b"old")
    links.run()
    links.breaks()
    links.a.put_down(b"void")
    links.a.put_down(Reset())
    links.a.put_down(b"new")
    links.connects()
    links.run()
    assert links.b.handed_up == [b"old", b"new"]


def test_a_flow_in_one_direction_costs_few_acknowledgements_and_keeps_little() -> None:
    links = Connection()
    count = 10 * ACK_EVERY + 5
    for number in range(count):
        links.a.put_down(b"%d" % number)
        links.run(1_000)
    links.run()
    assert len(links.b.handed_up) == count
    assert len(links.b.acks()) == 10
    assert len(links.a.link.channel(B).outgoing.unacknowledged) == 5
    assert links.timed() == []


def test_the_window_is_bounded_in_bytes_too() -> None:
    links = Connection()
    links.breaks()
    messages = [b"%06d" % number * 10_000 for number in range(2 * WINDOW_BYTES // 60_000)]
    for message in messages:
        links.a.put_down(message)
        links.run(1_000)
    outgoing = links.a.link.channel(B).outgoing
    assert WINDOW_BYTES <= outgoing.bytes_under_way < WINDOW_BYTES + STREAM_FRAME_BYTES
    assert outgoing.bytes_under_way == sum(sent.size for sent in outgoing.unacknowledged.values())
    assert links.a.congestion == [True]
    links.connects()
    links.run()
    assert links.a.congestion == [True, False] * (len(links.a.congestion) // 2)
    assert links.b.handed_up == messages
    assert outgoing.bytes_under_way < ACK_EVERY * STREAM_FRAME_BYTES
