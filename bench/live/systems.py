"""The systems that `bench live` compares: our own in several settings, and its peers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import NamedTuple, Protocol

from tools.wan.bridge import joined
from tools.wan.namespaces import why_unfit

from bench.live.cluster import PORT, Choice, Host, cluster
from bench.peers import corosync, syncobj
from bench.peers.loads import Load, Outcome

PEERS = ("corosync", "pysyncobj")

BUNDLE_BYTES = 16_384
BUNDLE_MESSAGES_MAX = 250
"""Flat out a client of ours multicasts so much in one call ..."""

WINDOW_BUNDLES = 16
"""... and has so many such calls under way."""


class Running(Protocol):
    """A group of a system."""

    def run(self, load: Load) -> Outcome:
        """Put a load on it."""

    def processor_s(self) -> float | None:
        """Processor time that its daemons have taken so far, if it has some."""


class System(NamedTuple):
    """Something to compare."""

    name: str
    is_own: bool
    begin: Callable[[int], AbstractContextManager[Running]]
    """Of a number of members."""


# --- our own ---


def own_systems(orderings: Sequence[str], policies: Sequence[str], tls: Sequence[bool]) -> list[System]:
    """Each ordering with each policy, without and with TLS."""
    choices = [Choice(ordering, fsync, each) for ordering in orderings for fsync in policies for each in tls]
    return [System(str(choice), True, _beginner(choice)) for choice in choices]


def _beginner(choice: Choice) -> Callable[[int], AbstractContextManager[Running]]:
    return lambda members: _own(choice, members)


class _Own:
    """Daemons and clients of ours."""

    def __init__(self, choice: Choice, hosts: Sequence[Host], stack: ExitStack) -> None:
        self._group = stack.enter_context(cluster(choice, hosts))

    def run(self, load: Load) -> Outcome:
        bundle = max(1, min(BUNDLE_BYTES // load.size_bytes, BUNDLE_MESSAGES_MAX))
        return self._group.run(load, bundle, WINDOW_BUNDLES * bundle)

    def processor_s(self) -> float | None:
        return self._group.processor_s()


@contextmanager
def _own(choice: Choice, members: int) -> Iterator[Running]:
    with ExitStack() as stack:
        yield _Own(choice, stack.enter_context(hosts(members)), stack)


@contextmanager
def hosts(members: int) -> Iterator[list[Host]]:
    """A namespace for each on one bridge, as the peers have; without the right to make some, ports of this host."""
    names = [f"s{member}" for member in range(members)]
    if why_unfit() is not None:
        yield [Host(name, f"127.0.0.1:{PORT + member}") for member, name in enumerate(names)]
        return
    with joined(names) as claimed:
        yield [
            Host(name, f"{claimed.address(member)}:{PORT}", inside=("ip", "netns", "exec", claimed.namespace(name)))
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
