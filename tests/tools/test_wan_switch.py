"""What the switch of `tools.wan` does with frames, in time that the test makes up."""

from __future__ import annotations

from functools import partial

import pytest
from tools.wan.switch import LATE_NS, QUEUED_BYTES_MAX, Switch

from ordercast.planning.topology import Delays, from_delays

MS = 1_000_000
A, B, C = 0, 1, 2


class Network:
    """Three sites; A to B takes 10 ms, B to A 30, all else 20."""

    def __init__(self, variance: float = 0.0, header_bytes: int = 0) -> None:
        delays = Delays(sites=["A", "B", "C"], one_way_ms=[[0, 10, 20], [30, 0, 20], [20, 20, 0]], variance=variance)
        self.header = bytes(header_bytes)
        self.received: list[tuple[int, bytes]] = []
        self.switch = Switch(
            from_delays(delays),
            [partial(self.receive, site) for site in (A, B, C)],
            header_bytes,
        )

    def receive(self, site: int, frame: bytes) -> None:
        self.received.append((site, frame))

    def frame(self, to: int, body: bytes = b"") -> bytes:
        return self.header + bytes([2, 0, 10, 77, 0, to + 1]) + bytes(8) + body

    def flood(self) -> bytes:
        return self.header + b"\xff" * 6 + bytes(8)


@pytest.mark.parametrize("header_bytes", [0, 10])
def test_a_frame_leaves_at_its_time_and_not_before(header_bytes: int) -> None:
    network = Network(header_bytes=header_bytes)
    network.switch.take(A, network.frame(B), 1000)
    assert network.switch.next_ns == 1000 + 10 * MS
    network.switch.deliver(10 * MS + 999)
    assert network.received == []
    network.switch.deliver(10 * MS + 1000)
    assert network.received == [(B, network.frame(B))]
    assert network.switch.next_ns is None


def test_each_direction_has_its_own_delay() -> None:
    network = Network()
    network.switch.take(B, network.frame(A), 0)
    network.switch.take(A, network.frame(B), 0)
    network.switch.deliver(29 * MS)
    assert [site for site, _ in network.received] == [B]
    network.switch.deliver(30 * MS)
    assert [site for site, _ in network.received] == [B, A]


def test_a_frame_for_all_goes_to_all_others() -> None:
    network = Network()
    network.switch.take(A, network.flood(), 0)
    network.switch.deliver(20 * MS)
    assert [site for site, _ in network.received] == [B, C]


def test_a_frame_for_nobody_goes_nowhere() -> None:
    network = Network()
    for to in (-1, A, 3, 254):
        network.switch.take(A, network.frame(to), 0)
    assert network.switch.next_ns is None


def test_delays_vary_but_no_frame_overtakes_another() -> None:
    network = Network(variance=4.0)
    sent = [network.frame(B, str(number).encode()) for number in range(200)]
    leave_ns = []
    for number, frame in enumerate(sent):
        network.switch.take(A, frame, number * MS)
        leave_ns.append(network.switch.pair(A, B).newest_ns - number * MS)
    assert len(set(leave_ns)) > 100
    network.switch.deliver(1000 * MS)
    assert [frame for _, frame in network.received] == sent


def test_a_shorter_delay_does_not_let_later_frames_overtake() -> None:
    network = Network()
    network.switch.take(A, network.frame(B, b"1"), 0)
    network.switch.set_delay(network.switch.pair(A, B), MS, 0.0)
    network.switch.take(A, network.frame(B, b"2"), 0)
    network.switch.deliver(2 * MS)
    assert network.received == []
    network.switch.deliver(10 * MS)
    assert [frame[-1:] for _, frame in network.received] == [b"1", b"2"]


def test_what_was_sent_before_a_cut_arrives() -> None:
    network = Network()
    pair = network.switch.pair(A, B)
    network.switch.take(A, network.frame(B, b"1"), 0)
    pair.cut = True
    network.switch.take(A, network.frame(B, b"2"), 0)
    network.switch.take(B, network.frame(A, b"3"), 0)
    network.switch.deliver(100 * MS)
    assert [frame[-1:] for _, frame in network.received] == [b"1", b"3"]
    assert (pair.carried, pair.dropped_by_cut) == (1, 1)


def test_a_full_pair_drops_and_others_do_not() -> None:
    network = Network()
    big = network.frame(B, bytes(QUEUED_BYTES_MAX // 2))
    for _ in range(2):
        network.switch.take(A, big, 0)
    network.switch.take(A, network.frame(C), 0)
    assert network.switch.pair(A, B).dropped_by_overflow == 1
    network.switch.deliver(20 * MS)
    assert [site for site, _ in network.received] == [B, C]
    assert network.switch.pair(A, B).queued_bytes == 0


def test_a_site_that_takes_no_frames_harms_nobody_else() -> None:
    def refuse(frame: bytes) -> None:
        raise OSError("the device is down")

    received: list[bytes] = []
    delays = Delays(sites=["A", "B", "C"], one_way_ms=[[0, 1, 1], [1, 0, 1], [1, 1, 0]])
    switch = Switch(from_delays(delays), [refuse, refuse, received.append])
    frame = b"\xff" * 14
    switch.take(A, frame, 0)
    switch.deliver(MS)
    assert received == [frame]
    assert (switch.pair(A, B).carried, switch.pair(A, B).dropped_by_receiver) == (0, 1)


def test_it_says_when_it_was_late() -> None:
    network = Network()
    network.switch.take(A, network.frame(B), 0)
    network.switch.take(A, network.frame(C), 0)
    network.switch.deliver(10 * MS + LATE_NS)
    assert (network.switch.late_frames, network.switch.late_ns_max) == (0, LATE_NS)
    network.switch.deliver(20 * MS + LATE_NS + 1)
    assert (network.switch.late_frames, network.switch.late_ns_max) == (1, LATE_NS + 1)
