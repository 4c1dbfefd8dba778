"""`tools.wan` with real namespaces: what programs inside see of delays, losses and cuts, and that nothing is left."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator

import pytest
from tools.wan import emulation, namespaces
from tools.wan.emulation import Wan, control_socket
from tools.wan.namespaces import entered
from tools.wan.requests import Change, PairStatus, ask
from tools.wan.tap import why_unfit

from ordercast.core.errors import WrongUse
from ordercast.planning.topology import Delays, Topology, from_delays
from tests.namespaces import inodes

LACKING = why_unfit()
pytestmark = pytest.mark.skipif(LACKING is not None, reason=LACKING or "")

PATIENCE_S = 30.0
"""For what must happen; how soon depends on the machine."""

ONE_WAY_MS = {("A", "B"): 10.0, ("B", "A"): 30.0, ("A", "C"): 20.0}
TOPOLOGY = from_delays(
    Delays(
        sites=["A", "B", "C"],
        one_way_ms=[[0, 10, 20], [30, 0, 20], [20, 20, 0]],
        distribution="chi2",
    )
)


def two_sites(delay_ms: float = 1.0) -> Topology:
    return from_delays(Delays(sites=["A", "B"], one_way_ms=[[0, delay_ms], [delay_ms, 0]]))


@pytest.fixture(scope="module")
def shared() -> Iterator[Wan]:
    with Wan(TOPOLOGY) as wan:
        yield wan


@pytest.fixture
def wan(shared: Wan) -> Wan:
    """As it was made, whatever earlier tests have changed."""
    shared.heal()
    for (site, to), delay_ms in ONE_WAY_MS.items():
        ask(
            control_socket(shared.number),
            Change(sites=[site], to=[to], one_way=True, delay_ms=delay_ms, variance=0, loss=0),
        )
    return shared


def until(condition: Callable[[], bool]) -> None:
    end_s = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end_s, "this should have happened long ago"
        time.sleep(0.02)


def pair(wan: Wan, site: str, to: str) -> PairStatus:
    return next(each for each in wan.status().pairs if (each.source, each.to) == (site, to))


def udp(wan: Wan, site: str) -> socket.socket:
    with entered(wan.namespace(site)):
        endpoint = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    endpoint.settimeout(PATIENCE_S)
    endpoint.bind((wan.address(site), 0))
    return endpoint


# --- what programs see ---


def test_a_packet_takes_at_least_as_long_as_asked(wan: Wan) -> None:
    with udp(wan, "A") as a, udp(wan, "B") as b:
        for sender, receiver, least_ms in ((a, b, 10), (b, a, 30)) * 5:
            begin_s = time.monotonic()
            sender.sendto(b"x", receiver.getsockname())
            receiver.recv(10)
            assert time.monotonic() - begin_s >= least_ms / 1000


def test_an_echo_takes_both_ways(wan: Wan) -> None:
    with udp(wan, "A") as a, udp(wan, "B") as b:
        begin_s = time.monotonic()
        a.sendto(b"there", b.getsockname())
        b.sendto(b"and back", b.recvfrom(10)[1])
        assert a.recv(10) == b"and back"
        assert time.monotonic() - begin_s >= 0.040


def test_another_delay_holds_from_the_next_packet_on(wan: Wan) -> None:
    wan.set_delay("A", "B", 60, one_way=True)
    assert (pair(wan, "A", "B").delay_ms, pair(wan, "B", "A").delay_ms) == (60, 30)
    with udp(wan, "A") as a, udp(wan, "B") as b:
        begin_s = time.monotonic()
        a.sendto(b"x", b.getsockname())
        b.recv(10)
        assert time.monotonic() - begin_s >= 0.060


def test_packets_keep_their_order_though_delays_vary(wan: Wan) -> None:
    wan.set_delay("A", "B", 10, variance=16)
    sent = [str(number).encode() for number in range(300)]
    with udp(wan, "A") as a, udp(wan, "B") as b:
        for body in sent:
            a.sendto(body, b.getsockname())
        assert [b.recv(10) for _ in sent] == sent


def test_a_broadcast_reaches_all_others(wan: Wan) -> None:
    with entered(wan.namespace("B")):
        b = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with entered(wan.namespace("C")):
        c = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with b, c, udp(wan, "A") as a:
        for receiver in (b, c):
            receiver.settimeout(PATIENCE_S)
            receiver.bind(("", 7001))
        a.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        a.sendto(b"all", (wan.address("A").rpartition(".")[0] + ".255", 7001))
        assert (b.recv(10), c.recv(10)) == (b"all", b"all")


@pytest.mark.parametrize(("mtu", "offload"), [(1500, True), (1500, False), (9000, False), (65_000, True)])
def test_a_stream_arrives_whole(mtu: int, offload: bool) -> None:
    body = os.urandom(1 << 20) * 2
    with Wan(two_sites(), mtu=mtu, offload=offload) as wan:
        assert streamed(wan, body) == body
        frame_bytes_max = max(mtu, 65_536 if offload else 0) + 24
        carried = pair(wan, "A", "B")
        assert len(body) < carried.bytes <= carried.carried * frame_bytes_max


def test_with_loss_segments_are_lost_one_by_one() -> None:
    """A stream must survive; and no frame may be larger than a packet, or far too much would be lost at once."""
    body = os.urandom(200_000)
    with Wan(two_sites()) as wan:
        wan.set_loss("A", "B", 0.02)
        assert streamed(wan, body) == body
        carried = pair(wan, "A", "B")
        assert carried.bytes <= carried.carried * (1500 + 24)


def streamed(wan: Wan, body: bytes) -> bytes:
    """What comes out at B of a TCP stream into which A has put this."""
    with entered(wan.namespace("B")):
        listener = socket.create_server((wan.address("B"), 0))
    with entered(wan.namespace("A")):
        a = socket.socket()
    a.settimeout(PATIENCE_S)
    listener.settimeout(PATIENCE_S)

    def put() -> None:
        with a:
            a.connect(listener.getsockname())
            a.sendall(body)

    sender = threading.Thread(target=put)
    sender.start()
    with listener, listener.accept()[0] as b, b.makefile("rb") as stream:
        b.settimeout(PATIENCE_S)
        received = stream.read()
    sender.join()
    return received


# --- losses and cuts ---


def send(sender: socket.socket, receiver: socket.socket, count: int) -> None:
    for _ in range(count):
        sender.sendto(b"lost", receiver.getsockname())


def arrives(sender: socket.socket, receiver: socket.socket) -> bool:
    """Whether the next packet that the receiver gets is one that is sent now: as order is kept, all before it are
    lost."""
    sender.sendto(b"now", receiver.getsockname())
    return receiver.recv(10) == b"now"


def test_loss_drops_about_as_many_as_asked(wan: Wan) -> None:
    before = pair(wan, "A", "B").dropped_by_loss
    wan.set_loss("A", "B", 0.5)
    with udp(wan, "A") as a, udp(wan, "B") as b:
        send(a, b, 1000)
        wan.set_loss("A", "B", 1)
        until(lambda: pair(wan, "A", "B").queued_bytes == 0)
        lost = pair(wan, "A", "B").dropped_by_loss - before
        assert 300 < lost < 700
        send(b, a, 10)
        until(lambda: pair(wan, "B", "A").dropped_by_loss >= 10)
        wan.set_loss("A", "B", 0)
        assert arrives(b, a)


def test_a_cut_is_in_both_directions_and_leaves_others_alone(wan: Wan) -> None:
    wan.cut(["A"], ["B"])
    before = [pair(wan, *ends).dropped_by_cut for ends in (("A", "B"), ("B", "A"))]
    with udp(wan, "A") as a, udp(wan, "B") as b, udp(wan, "C") as c:
        send(a, b, 5)
        send(b, a, 5)
        until(lambda: [pair(wan, *ends).dropped_by_cut for ends in (("A", "B"), ("B", "A"))] == [n + 5 for n in before])
        assert arrives(a, c)
        assert arrives(c, b)
        wan.heal()
        assert arrives(a, b)
        assert arrives(b, a)


def test_a_cut_one_way_lets_the_other_way_pass(wan: Wan) -> None:
    wan.cut(["A"], ["B"], one_way=True)
    before = pair(wan, "A", "B").dropped_by_cut
    with udp(wan, "A") as a, udp(wan, "B") as b:
        send(a, b, 5)
        until(lambda: pair(wan, "A", "B").dropped_by_cut == before + 5)
        assert arrives(b, a)
        wan.heal(["A"], ["B"])
        assert arrives(a, b)


def test_a_site_can_be_cut_off_from_all_others(wan: Wan) -> None:
    wan.cut("C")
    cut = [(each.source, each.to) for each in wan.status().pairs if each.cut]
    assert cut == [("A", "C"), ("B", "C"), ("C", "A"), ("C", "B")]
    wan.heal(["C"], ["A"])
    assert [(each.source, each.to) for each in wan.status().pairs if each.cut] == [("B", "C"), ("C", "B")]


# --- requests that cannot be carried out ---


@pytest.mark.parametrize(
    ("ask_for", "answer"),
    [
        (lambda wan: wan.cut(["A"], ["X"]), 'to[0]: unknown site "X", expected one of A, B, C'),
        (lambda wan: wan.cut([]), "sites: expected at least one site"),
        (lambda wan: wan.cut(["A", "B", "C"]), "to: expected at least one site"),
        (lambda wan: wan.set_loss("A", "B", 1.5), "loss: expected at most 1, not 1.5"),
        (lambda wan: wan.set_delay("A", "B", -1), "delay_ms: expected at least 0, not -1"),
        (lambda wan: wan.set_delay("A", "B", 1, variance=-1), "variance: expected at least 0, not -1"),
    ],
)
def test_a_wrong_request_is_refused_in_one_line(wan: Wan, ask_for: Callable[[Wan], None], answer: str) -> None:
    before = [(each.delay_ms, each.loss, each.cut) for each in wan.status().pairs]
    with pytest.raises(WrongUse) as refused:
        ask_for(wan)
    assert str(refused.value) == answer
    assert [(each.delay_ms, each.loss, each.cut) for each in wan.status().pairs] == before


def test_nonsense_on_the_socket_is_answered_and_harms_nobody(wan: Wan) -> None:
    with socket.socket(socket.AF_UNIX) as caller:
        caller.connect(str(control_socket(wan.number)))
        caller.settimeout(PATIENCE_S)
        for line in (b"\xff\n", b'{"do": "dance"}\n', b"[[[[\n"):
            caller.sendall(line)
            assert caller.recv(1000).startswith(b'{"error":"not a request')
    assert wan.status().number == wan.number


def test_what_cannot_be_a_network_is_refused() -> None:
    for topology, mtu, reason in (
        (from_delays(Delays(sites=["a/b"], one_way_ms=[[0]])), 1500, "cannot name a namespace"),
        (two_sites(), 100, "mtu 100: expected"),
    ):
        with pytest.raises(WrongUse, match=reason), Wan(topology, mtu=mtu):
            pass


# --- nothing is left ---


def test_leaving_removes_everything() -> None:
    with Wan(two_sites()) as wan:
        sleeper = wan.exec("A", ["sh", "-c", "sleep 1000 & echo $!; wait"], stdout=subprocess.PIPE, text=True)
        assert sleeper.stdout is not None
        child = int(sleeper.stdout.readline())
        made = inodes(wan.number)
        assert len(made) == 2
        assert control_socket(wan.number).exists()
        shown = wan.exec("B", ["ip", "-4", "-o", "addr", "show", "wan0"], stdout=subprocess.PIPE, text=True)
        assert f"{wan.address('B')}/24" in shown.communicate()[0]
        switch = wan._process
    sleeper.stdout.close()
    assert sleeper.returncode == -signal.SIGKILL
    # Whoever adopts a child that has ended may take a moment to notice; it is in no namespace any more.
    assert not os.path.exists(f"/proc/{child}/ns/net")
    assert switch.returncode == 0
    assert not made & inodes(wan.number)


def test_it_does_not_outlive_whoever_started_it() -> None:
    code = """
import time
from tests.tools.test_wan import two_sites
from tools.wan.emulation import Wan
with Wan(two_sites()) as wan:
    wan.exec("A", ["sleep", "1000"])
    print(wan.number, wan._process.pid, flush=True)
    time.sleep(1000)
"""
    owner = subprocess.Popen([sys.executable, "-c", code], cwd=emulation.ROOT, stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    number, switch = map(int, owner.stdout.readline().split())
    made = inodes(number)
    assert len(made) == 2
    owner.kill()
    owner.wait()
    until(lambda: not made & inodes(number))
    until(lambda: not os.path.exists(f"/proc/{switch}"))
    owner.stdout.close()


def test_what_a_killed_switch_leaves_can_be_cleaned() -> None:
    with Wan(two_sites()) as wan:
        sleeper = wan.exec("A", ["sleep", "1000"])
        wan._process.kill()
        wan._process.wait()
        removed = namespaces.clean()
        assert {f"oc{wan.number}-A", f"oc{wan.number}-B"} <= set(removed)
        assert sleeper.wait(PATIENCE_S) == -signal.SIGKILL


def test_cleaning_leaves_the_living_alone(wan: Wan) -> None:
    assert wan.namespace("A") not in namespaces.clean()
    with udp(wan, "A") as a, udp(wan, "B") as b:
        assert arrives(a, b)
