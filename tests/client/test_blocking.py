"""The library for programs without a loop, against a site that runs in a thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from ordercast import Batch, Delivery, Level, NotFit, ViewChange, WrongUse, blocking
from ordercast.client.blocking import Loop

CLUSTER = """
cluster = "alone"
security = { tls = false }
log = { fsync = "never" }
[[site]]
name = "lis1"
address = "127.0.0.1:%d"
"""


@pytest.fixture
def cluster_file(tmp_path: Path, unused_port: int) -> Path:
    """A cluster of one site."""
    path = tmp_path / "cluster.toml"
    path.write_text(CLUSTER % unused_port)
    return path


@pytest.fixture
def lis1(cluster_file: Path) -> Iterator[blocking.Site]:
    """A participant whose site runs beside it."""
    with blocking.embedded(cluster_file, "lis1", name="alice") as site:
        yield site


def messages(group: blocking.Group) -> Iterator[bytes]:
    """Only what others say."""
    return (event.payload for event in group if isinstance(event, Delivery))


def test_what_is_multicast_is_read_in_order(lis1: blocking.Site) -> None:
    with lis1.join("orders") as group:
        receipts = [group.multicast(b"%d" % number) for number in range(5)]
        receipt = group.multicast_many([b"5", b"6"], wait="ordered", level=Level.AGREED)
        assert [int(payload) for payload in islice(messages(group), 7)] == list(range(7))
        assert receipt.position == (receipts[-1].position or 0) + 1
        assert group.view is not None
        assert group.name == "orders"


def test_the_socket_of_a_site_serves_programs_of_both_kinds(lis1: blocking.Site, cluster_file: Path) -> None:
    path = cluster_file.parent / "run" / "lis1.sock"
    with blocking.connect(path, name="bob") as bob, bob.join("g") as his, lis1.join("g") as mine:
        mine.multicast(b"to bob")
        assert next(messages(his)) == b"to bob"
        assert bob.site == lis1.site == "lis1"
        (group,) = bob.members()
        assert [str(member) for member in group.members] == ["bob@lis1", "alice@lis1"]


def test_threads_may_multicast_while_another_reads(lis1: blocking.Site) -> None:
    with lis1.join("g") as group:
        threads = [
            threading.Thread(target=lambda name=name: [group.multicast(name) for _ in range(20)])
            for name in (b"a", b"b", b"c")
        ]
        for thread in threads:
            thread.start()
        seen = list(islice(messages(group), 60))
        for thread in threads:
            thread.join()
        assert [seen.count(name) for name in (b"a", b"b", b"c")] == [20, 20, 20]


def test_batches_and_an_observer(lis1: blocking.Site) -> None:
    with lis1.join("g") as group:
        receipt = group.multicast_many([b"a", b"b"])
        assert receipt.position is not None
        group.leave()
    with lis1.observe("g", start=receipt.position, final_only=True) as reader:
        (batch,) = islice((each for each in reader.batches() if isinstance(each, Batch)), 1)
        assert batch.payloads == (b"a", b"b")


def test_leaving_ends_the_stream(lis1: blocking.Site) -> None:
    with lis1.join("g") as group:
        pass
    assert all(isinstance(event, ViewChange) for event in group)


def test_questions_of_operators(lis1: blocking.Site) -> None:
    with lis1.join("g"):
        pass  # once this has come up, so has the first view of the sites
    status = lis1.status()
    assert (status.state, status.members, status.log) == ("in", ("lis1",), "accepting")
    assert lis1.links() == ()
    assert next(lis1.views()).members == ("lis1",)
    assert 'ordercast_participants{cluster="alone",site="lis1"} 1' in lis1.metrics()
    with pytest.raises(WrongUse, match="emulate"):
        lis1.heal()
    with pytest.raises(WrongUse, match="emulate"):
        lis1.cut("por1")


def test_a_trace_is_switched_on_and_off(lis1: blocking.Site, cluster_file: Path) -> None:
    lis1.trace(True)
    with lis1.join("g") as group:
        group.multicast(b"x")
    lis1.trace(False)
    assert list((cluster_file.parent / "traces" / "lis1").glob("*.parquet"))


def test_where_no_site_is_no_thread_is_left(tmp_path: Path) -> None:
    before = threading.enumerate()
    with pytest.raises(NotFit), blocking.connect(tmp_path / "nothing", name="x"):
        pass
    assert not [thread for thread in threading.enumerate() if thread not in before]


def test_what_is_raised_in_the_loop_is_raised_here() -> None:
    loop = Loop()

    async def fails() -> None:
        raise WrongUse("said so")

    with pytest.raises(WrongUse, match="said so"):
        loop.wait(fails())
    loop.stop()
