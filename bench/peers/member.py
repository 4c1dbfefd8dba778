"""What a member of a load has to do whichever system it tries, in Python."""

from __future__ import annotations

import random
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import msgspec

from bench.peers.loads import HEADER, LAST, SAMPLE, Load, Report

SECOND_NS = 1_000_000_000

TAKEN_BACK_MAX = 1 << 15
"""So many deliveries, by the batch, can be taken back."""


class Figures(NamedTuple):
    """Where a member stands."""

    delivered: int
    under_way: int
    in_window: int
    digest: int
    ended: int
    samples: int


class Taken(NamedTuple):
    """Messages of one sender that have come up, and where the member stood before."""

    position: int
    """Of the first."""
    heads: bytes
    at_ns: int
    before: Figures


class Member:
    """Makes the messages of one member, and counts what is delivered to it."""

    def __init__(self, arguments: Sequence[str], spread: float = 0.0) -> None:
        """The last of the arguments, as `loads.arguments` makes them; and by how much the gaps vary."""
        member, members, size_bytes, rate, warmup_s, seconds, samples = arguments
        self.me = int(member)
        self.load = Load(int(members), int(size_bytes), float(rate), float(seconds), float(warmup_s), spread=spread)
        self.sent = 0
        self.delivered = 0
        self.under_way = 0
        """Own messages that have not come back."""
        self.start_ns = 0
        self.from_ns = 0
        self.until_ns = 0
        self._samples_path = Path(samples)
        self._samples: list[bytes] = []
        self._padding = bytes(self.load.size_bytes - HEADER.size)
        self._in_window = 0
        self._digest = 0
        self._ended = 0
        self._before: deque[Taken] = deque(maxlen=TAKEN_BACK_MAX)

    def await_start(self) -> None:
        """Say that all members are in, and wait for the word."""
        print("ready", flush=True)
        self.start_ns = int(sys.stdin.readline())
        self.from_ns = self.start_ns + round(self.load.warmup_s * SECOND_NS)
        self.until_ns = self.from_ns + round(self.load.seconds * SECOND_NS)

    # --- out ---

    def dues_ns(self) -> Iterator[int]:
        """When messages are due under a paced load, up to its end."""
        load, spread = self.load, self.load.spread
        gap_ns = SECOND_NS / load.rate
        randomly = random.Random(self.me)
        due_ns = self.start_ns + gap_ns * (randomly.random() if spread else self.me / load.members)
        while due_ns < self.until_ns:
            yield round(due_ns)
            due_ns += gap_ns * (randomly.gauss(1, spread) if spread else 1)

    def message(self, due_ns: int) -> bytes:
        """The next."""
        number = self.sent
        self.sent += 1
        self.under_way += 1
        return HEADER.pack(self.me, number, due_ns) + self._padding

    def messages(self, count: int) -> list[bytes]:
        """The next ones, all due now."""
        now_ns, first, padding, me, pack = time.monotonic_ns(), self.sent, self._padding, self.me, HEADER.pack
        self.sent += count
        self.under_way += count
        return [pack(me, number, now_ns) + padding for number in range(first, first + count)]

    def last_message(self) -> bytes:
        """None follows."""
        return HEADER.pack(self.me, LAST, 0)

    # --- in ---

    def on_delivered(self, payloads: Sequence[bytes], position: int = 0) -> None:
        """Messages of one sender come up, in this order; from this position on, if they may be taken back."""
        size = HEADER.size
        self._take(position, b"".join([payload[:size] for payload in payloads]), time.monotonic_ns())

    def _take(self, position: int, heads: bytes, at_ns: int) -> None:
        self._before.append(Taken(position, heads, at_ns, self._figures()))
        sender, number, _ = HEADER.unpack_from(heads, len(heads) - HEADER.size)
        if number == LAST:
            self._ended += 1
            heads = heads[: -HEADER.size]
        count = len(heads) // HEADER.size
        self.delivered += count
        if self.from_ns <= at_ns < self.until_ns:
            self._in_window += count
        self._digest = crc32(heads, self._digest)
        if sender == self.me:
            self.under_way -= count
        if self.load.rate:
            self._samples += [SAMPLE.pack(*head, at_ns) for head in HEADER.iter_unpack(heads)]

    def _figures(self) -> Figures:
        return Figures(self.delivered, self.under_way, self._in_window, self._digest, self._ended, len(self._samples))

    def on_retracted(self, position: int) -> None:
        """What has come up from this position on does not count: it will come up again."""
        while self._before and self._before[-1].position + len(self._before[-1].heads) // HEADER.size > position:
            taken = self._before.pop()
            figures = taken.before
            self.delivered, self.under_way, self._in_window, self._digest, self._ended, samples = figures
            del self._samples[samples:]
            if taken.position < position:
                stays = (position - taken.position) * HEADER.size
                self._take(taken.position, taken.heads[:stays], taken.at_ns)

    @property
    def has_ended(self) -> bool:
        """Whether the last message of every member has come up."""
        return self._ended == self.load.members

    def report(self) -> None:
        """Print what came of it."""
        if self.load.rate:
            self._samples_path.write_bytes(b"".join(self._samples))
        report = Report(self.me, self.sent, self.delivered, self._in_window, self._digest)
        print(msgspec.json.encode(report).decode(), flush=True)
