"""Namespaces by themselves: numbers, and the plain network that other tests may use."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest
from tools.wan.bridge import joined
from tools.wan.namespaces import RUN, check_sites, claim, clean, entered, held_numbers, make, why_unfit

from ordercast.core.errors import WrongUse
from tests.namespaces import inodes
from tests.source import ROOT

LACKING = why_unfit()
pytestmark = pytest.mark.skipif(LACKING is not None, reason=LACKING or "")


def test_a_number_has_one_owner() -> None:
    first, second = claim(), claim()
    try:
        assert first.number != second.number
        assert {first.number, second.number} <= set(held_numbers())
    finally:
        first.release()
        second.release()


def test_a_thread_comes_back_from_a_namespace() -> None:
    def here() -> str:
        return os.readlink("/proc/thread-self/ns/net")

    def fail_in(name: str) -> None:
        with entered(name):
            assert here() != before
            raise ZeroDivisionError

    claimed, before = claim(), here()
    try:
        (name,) = make(claimed, ["A"])
        with pytest.raises(ZeroDivisionError):
            fail_in(name)
        assert here() == before
    finally:
        claimed.release()


CRASH = """
import os, subprocess
from tools.wan.namespaces import claim, make
claimed = claim()
make(claimed, ["A"])
claimed.socket.touch()
print(claimed.number, flush=True)
os._exit(1)
"""


def test_what_a_crashed_owner_has_left_is_cleaned() -> None:
    done = subprocess.run([sys.executable, "-c", CRASH], cwd=ROOT, capture_output=True, text=True, check=False)
    number = int(done.stdout)
    left = inodes(number)
    clean()
    assert not left & inodes(number)
    assert not (RUN / f"{number}.sock").exists() or number in held_numbers()


@pytest.mark.parametrize("name", ["", "a/b", "..", "-x", "a b", "x" * 65])
def test_a_name_that_is_no_file_name_is_refused(name: str) -> None:
    with pytest.raises(WrongUse, match="cannot name a namespace"):
        check_sites([name])


def test_so_many_sites_do_not_fit() -> None:
    check_sites([f"s{number}" for number in range(254)])
    with pytest.raises(WrongUse, match="at most 254"):
        check_sites([f"s{number}" for number in range(255)])


def test_plain_namespaces_reach_each_other_and_vanish() -> None:
    with joined(["A", "B"]) as claimed:
        made = inodes(claimed.number)
        assert len(made) == 3
        with entered(claimed.namespace("A")):
            listener = socket.create_server((claimed.address(0), 0))
        with entered(claimed.namespace("B")), socket.create_connection(listener.getsockname(), 30) as b:
            listener.settimeout(30)
            a, _ = listener.accept()
            with a, listener:
                b.sendall(b"hello")
                a.settimeout(30)
                assert a.recv(10) == b"hello"
                assert a.getpeername()[0] == claimed.address(1)
    assert not made & inodes(claimed.number)
