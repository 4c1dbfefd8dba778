"""The systems that `bench live` compares: our own in several settings, and its peers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import product
from typing import NamedTuple

from tools.daemons import Host, free_ports
from tools.wan.bridge import joined
from tools.wan.namespaces import why_unfit

from bench.live.cluster import PORT, Choice, cluster
from bench.peers import corosync, syncobj
from bench.peers.loads import Running

PEERS = ("corosync", "pysyncobj")


class System(NamedTuple):
    """Something to compare."""

    name: str
    is_own: bool
    begin: Callable[[int], AbstractContextManager[Running]]
    """Of a number of members."""


# --- our own ---


def own_systems(
    orderings: Sequence[str], policies: Sequence[str], tls: Sequence[bool], real_time: bool = False
) -> list[System]:
    """Each ordering with each policy, without and with TLS."""
    choices = [Choice(*each, real_time) for each in product(orderings, policies, tls)]
    return [System(str(choice), True, _beginner(choice)) for choice in choices]


def _beginner(choice: Choice) -> Callable[[int], AbstractContextManager[Running]]:
    return lambda members: _own(choice, members)


@contextmanager
def _own(choice: Choice, members: int) -> Iterator[Running]:
    with hosts(members) as places, cluster(choice, places) as running:
        yield running


@contextmanager
def hosts(members: int) -> Iterator[list[Host]]:
    """A namespace for each on one bridge, as the peers have; without the right to make some, ports of this host."""
    if why_unfit() is not None:
        yield [Host(f"127.0.0.1:{port}") for port in free_ports(members)]
        return
    names = [f"s{member}" for member in range(members)]
    with joined(names) as claimed:
        yield [
            Host(f"{claimed.address(member)}:{PORT}", ("ip", "netns", "exec", claimed.namespace(name)))
            for member, name in enumerate(names)
        ]


# --- peers ---


def peer_systems(names: Sequence[str], say: Callable[[str], None]) -> list[System]:
    """Those that this machine can run; of the others it is said in a line what is missing."""
    systems = []
    for name in names:
        missing, make = (corosync.why_missing(), _corosync) if name == "corosync" else (syncobj.why_missing(), _syncobj)
        if missing is None:
            systems += make()
        else:
            say(f"without {name}: {missing}")
    return systems


def _corosync() -> list[System]:
    called = f"Corosync {corosync.version()}, crypto"
    return [
        System(f"{called} off", False, lambda members: corosync.cluster(members, crypto=False)),
        System(f"{called} on", False, lambda members: corosync.cluster(members, crypto=True)),
    ]


def _syncobj() -> list[System]:
    called, tuned_ms = f"PySyncObj {syncobj.version()}", syncobj.TUNED_PERIOD_MS
    return [
        System(called, False, lambda members: nullcontext(syncobj.Cluster())),
        System(f"{called}, {tuned_ms:g} ms", False, lambda members: nullcontext(syncobj.Cluster(tuned_ms))),
    ]
