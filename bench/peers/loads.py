"""A load on a group, and what comes of it: every system under test is driven and judged by this alone.

Each member is a process of its own. It says `ready` when it sees all members, reads from its input when to begin, and
at the end prints a `Report`. Under a paced load it leaves a file that says when each message was delivered to it. All
of them run on one machine, so that their monotonic clocks are the same clock.
"""

from __future__ import annotations

import enum
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from itertools import combinations
from pathlib import Path
from struct import Struct as Layout
from typing import NamedTuple, Protocol

import msgspec

from ordercast.core.errors import NotFit

HEADER = Layout("<IIQ")
"""What each message begins with: its sender, its number there, and when it was due."""

SAMPLE = Layout("<IIQQ")
"""The same and when it was delivered."""

LAST = 0xFFFFFFFF
"""The number of a member's last message."""

HEAD_START_NS = 300_000_000
"""From the word to all members until they begin."""

END_S = 30.0
"""So long after the end of the load the members may take."""

POLL_S = 0.05


class Load(msgspec.Struct, frozen=True):
    """What each member multicasts."""

    members: int
    size_bytes: int
    rate: float
    """Messages per second of each member; 0 is as many as it can."""
    seconds: float
    warmup_s: float = 1.0
    """Before that; it does not count."""
    rates: tuple[float, ...] = ()
    """Of each member, if they differ."""
    spread: float = 0.0
    """Of the gaps between messages, as a part of them: normal, and members begin at random. Else they take turns."""

    def rate_of(self, member: int) -> float:
        """Messages per second of a member."""
        return self.rates[member] if self.rates else self.rate


class Report(msgspec.Struct, frozen=True):
    """What a member says at the end."""

    member: int
    sent: int
    delivered: int
    in_window: int
    """Of those delivered, how many while it counted."""
    digest: int
    """Of all that was delivered, in order."""


class Latency(NamedTuple):
    """From when a message was due, in milliseconds."""

    own_p50: float
    """Until it was delivered to its sender."""
    own_p99: float
    last_p50: float
    """Until it was delivered to the last member."""
    last_p99: float
    last_mean: float


class Order(enum.StrEnum):
    """What members have in common in the end."""

    SAME = "same"
    """All messages, in the same order."""
    INCOMPLETE = "incomplete"
    """Some member lacks messages that others have, or that were multicast."""
    DIFFERENT = "different"
    """Two members have messages in another order, or one has a message twice."""


class Outcome(NamedTuple):
    """What came of a load."""

    delivered_per_s: tuple[float, ...]
    """At each member."""
    order: Order
    """Of a paced load exactly; flat out, members with different numbers of messages count as incomplete."""
    latency_ms: Latency | None
    """Of a paced load."""
    view_changes: int = 0
    """In the midst of it, as far as that is known: what it has measured is then something else."""

    @property
    def slowest_per_s(self) -> float:
        """Delivered everywhere."""
        return min(self.delivered_per_s)


class Running(Protocol):
    """A group of a system."""

    def run(self, load: Load) -> Outcome:
        """Put a load on it."""

    def processor_s(self) -> float | None:
        """Processor time that its daemons have taken so far, if it has some."""


Command = Callable[[int, Sequence[str]], list[str]]
"""The command line of a member, of its index and of the arguments that every member takes."""


def arguments(load: Load, member: int, samples: Path) -> list[str]:
    """What every member is told, whatever the system."""
    figures = (member, load.members, load.size_bytes, load.rate_of(member), load.warmup_s, load.seconds)
    return [*map(str, figures), str(samples)]


def run(load: Load, command: Command) -> Outcome:
    """Load a group; `NotFit` if a member fails."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ordercast-load-")))
        files = [folder / f"{member}.samples" for member in range(load.members)]
        processes = []
        for member, file in enumerate(files):
            argv = command(member, arguments(load, member, file))
            process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            stack.callback(process.wait)
            stack.callback(process.kill)
            processes.append(process)
        start_ns, reports = _attend(load, processes)
        delivered_per_s = tuple(report.in_window / load.seconds for report in reports)
        order = _order(reports)
        if not (load.rate or load.rates):
            return Outcome(delivered_per_s, order, None)
        samples = [file.read_bytes() for file in files]
        if order is not Order.SAME:
            order = order_of(
                [[(sender, number) for sender, number, *_ in SAMPLE.iter_unpack(data)] for data in samples]
            )
        messages = _messages(samples, start_ns + round(load.warmup_s * 1e9))
        return Outcome(delivered_per_s, order, _latency(messages))


def _order(reports: Sequence[Report]) -> Order:
    """As far as counts and digests tell."""
    sent = sum(report.sent for report in reports)
    if any(report.delivered != sent for report in reports):
        return Order.INCOMPLETE
    return Order.SAME if len({report.digest for report in reports}) == 1 else Order.DIFFERENT


def order_of(delivered: Sequence[Sequence[tuple[int, int]]]) -> Order:
    """What members that are not all the same have in common: whether those that both have are in one order."""
    if any(len(set(messages)) < len(messages) for messages in delivered):
        return Order.DIFFERENT
    for one, other in combinations(delivered, 2):
        in_one, in_other = set(one), set(other)
        if [each for each in one if each in in_other] != [each for each in other if each in in_one]:
            return Order.DIFFERENT
    return Order.INCOMPLETE


def _attend(load: Load, processes: list[subprocess.Popen[str]]) -> tuple[int, list[Report]]:
    """When it began, and what the members say at the end."""
    for member, process in enumerate(processes):
        assert process.stdout is not None
        if process.stdout.readline() != "ready\n":
            raise NotFit(f"member {member} of the load could not begin: its last words are above")
    start_ns = time.monotonic_ns() + HEAD_START_NS
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(f"{start_ns}\n")
        process.stdin.flush()
    until_s = time.monotonic() + load.warmup_s + load.seconds + END_S
    while any(process.poll() is None for process in processes):
        _require_health(processes)
        if time.monotonic() > until_s:
            late = [member for member, process in enumerate(processes) if process.poll() is None]
            raise NotFit(f"members of the load do not end: {', '.join(map(str, late))}")
        time.sleep(POLL_S)
    _require_health(processes)
    return start_ns, [msgspec.json.decode(process.communicate()[0], type=Report) for process in processes]


def _require_health(processes: list[subprocess.Popen[str]]) -> None:
    for member, process in enumerate(processes):
        if process.poll():
            raise NotFit(f"member {member} of the load has failed: its last words are above")


def _messages(files: list[bytes], from_ns: int) -> list[tuple[float, float]]:
    """Own and last delivery in milliseconds of each message that was due from then on."""
    own: dict[tuple[int, int], float] = {}
    last: dict[tuple[int, int], float] = {}
    for member, data in enumerate(files):
        for sender, number, due_ns, delivered_ns in SAMPLE.iter_unpack(data):
            if due_ns < from_ns:
                continue
            took_ms = (delivered_ns - due_ns) / 1e6
            last[sender, number] = max(took_ms, last.get((sender, number), 0.0))
            if sender == member:
                own[sender, number] = took_ms
    return [(own[message], took_ms) for message, took_ms in last.items()]


def _latency(messages: list[tuple[float, float]]) -> Latency:
    own, last = (sorted(values) for values in zip(*messages, strict=True))
    p50, p99 = 0.5, 0.99
    return Latency(
        quantile(own, p50), quantile(own, p99), quantile(last, p50), quantile(last, p99), sum(last) / len(last)
    )


def quantile(values: Sequence[float], part: float) -> float:
    """Of sorted values."""
    return values[min(len(values) - 1, int(len(values) * part))]


def processor_s(process: int) -> float:
    """Processor time that a process has taken so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
