"""What an application multicasts, on its way to the site: all of one turn of the loop in as few requests as can be."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from ordercast.client.errors import MessageKey, NotSent, OutcomeUnknown
from ordercast.client.line import Line
from ordercast.core.errors import WrongUse
from ordercast.core.ids import MessageId
from ordercast.core.messages import Level
from ordercast.core.service import BUNDLE_BODIES_MAX, BUNDLE_BYTES_MAX, MESSAGE_BYTES_MAX, Done, NotDone, Submit, Wait

WaitFor = Literal["accepted", "ordered", "final"]
"""`accepted`: the site has taken the message. `ordered`: it has been delivered here. `final`: its place is final."""

WAITS: dict[str, Wait] = {"accepted": Wait.ACCEPTED, "ordered": Wait.ORDERED, "final": Wait.FINAL}


class Receipt(Struct, frozen=True, gc=False):
    """What became of a multicast."""

    message: MessageId | None
    """The id that it has everywhere; None if it is only accepted. Of several messages: that of the first."""
    position: int | None
    """Of the first message; None for fifo and causal ones, if it is only accepted, or if it is repeated."""
    last_position: int | None
    """Of the last: messages of others can have come between, if there are many."""
    repeated: bool = False
    """Whether the message, multicast again, had come up before; of several, whether any had."""


class _Many:
    """Several messages that one call has multicast, in as many runs as it takes."""

    __slots__ = ("done", "future", "runs")

    def __init__(self, runs: int, future: asyncio.Future[Receipt]) -> None:
        self.runs = runs
        self.future = future
        self.done: list[tuple[Done, int]] = []

    def take(self, done: Done, count: int) -> None:
        self.done.append((done, count))
        if len(self.done) == self.runs and not self.future.done():
            first, (last, last_count) = self.done[0][0], self.done[-1]
            last_position = None if last.position is None else last.position + last_count - 1
            repeated = any(each.repeated for each, _ in self.done)
            self.future.set_result(Receipt(first.message, first.position, last_position, repeated))


class _Run:
    """Consecutive multicasts that travel as one request."""

    __slots__ = ("bodies", "bytes", "group", "level", "many", "number", "session", "wait", "waiters")

    def __init__(self, group: str, level: Level, wait: Wait, number: int, session: int | None) -> None:
        self.group = group
        self.level = level
        self.wait = wait
        self.number = number
        self.session = session
        """None: the outbox's own."""
        self.bodies: list[bytes] = []
        self.bytes = 0
        self.waiters: list[asyncio.Future[Receipt]] = []
        """One for each body, ..."""
        self.many: _Many | None = None
        """... or this for all of them."""

    def resolve(self, done: Done) -> None:
        if self.many is not None:
            self.many.take(done, len(self.bodies))
            return
        message, position, repeated = done.message, done.position, done.repeated
        for index, future in enumerate(self.waiters):
            if not future.done():
                place = None if position is None else position + index
                each = None if message is None else MessageId(message + index)
                future.set_result(Receipt(each, place, place, repeated))

    def not_sent(self, reason: str) -> None:
        for future in self.futures:
            _fail(future, NotSent(reason))

    def unknown(self, reason: str, own_session: int) -> None:
        session = own_session if self.session is None else self.session
        for index, future in enumerate(self.futures):
            key = MessageKey(session, self.number + index) if self.level >= Level.AGREED else None
            _fail(future, OutcomeUnknown(reason, key))

    @property
    def futures(self) -> list[asyncio.Future[Receipt]]:
        return self.waiters if self.many is None else [self.many.future]


def _fail(future: asyncio.Future[Receipt], error: Exception) -> None:
    if not future.done():
        future.set_exception(error)


class Outbox:
    """Keeps the order in which the application multicasts."""

    def __init__(self, session: int) -> None:
        self.session = session
        self._next = {True: 0, False: 0}
        """The numbers of ordered messages, and of the others, that come next."""
        self._requests = 0
        self._line: Line | None = None
        self._open: _Run | None = None
        self._unsent: list[_Run] = []
        """Closed while there was no connection."""
        self._sent: dict[int, _Run] = {}
        self._closed: str | None = None
        self._waits = True
        self._holds = {"line": False, "site": False}
        """Who takes no more for now."""
        self._room: list[asyncio.Future[None]] = []

    def next_number(self) -> int:
        """Of a joining or leaving that is sent next: what has been multicast before goes first."""
        self.flush()
        return self._count(Level.AGREED, 1)

    def next_request(self) -> int:
        """Of a request that is answered."""
        self._requests += 1
        return self._requests

    def _count(self, level: Level, count: int) -> int:
        ordered = level >= Level.AGREED
        number = self._next[ordered]
        self._next[ordered] += count
        return number

    # --- the application ---

    @property
    def must_wait(self) -> bool:
        """Whether there is no room for more."""
        return self._waits

    async def room(self) -> None:
        """Wait until there is; `NotSent` if there will be none."""
        while self.must_wait:
            if self._closed is not None:
                raise NotSent(self._closed)
            future = asyncio.get_running_loop().create_future()
            self._room.append(future)
            await future

    def put(
        self, group: str, payload: bytes, level: Level, wait: Wait, again: MessageKey | None
    ) -> asyncio.Future[Receipt]:
        """One message: it leaves with the others of this turn."""
        size = len(payload)
        run = self._open
        if (
            run is None
            or again is not None
            or run.level is not level
            or run.wait is not wait
            or run.group != group
            or run.bytes + size > BUNDLE_BYTES_MAX
            or len(run.bodies) >= BUNDLE_BODIES_MAX
        ):
            _require_size(payload)
            run = self._begin(group, level, wait, again)
        if again is None:
            self._next[level >= Level.AGREED] += 1
        run.bodies.append(payload)
        run.bytes += size
        future: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()
        run.waiters.append(future)
        if again is not None:
            self.flush()
        return future

    async def put_many(
        self, group: str, payloads: Sequence[bytes], level: Level, wait: Wait, again: MessageKey | None
    ) -> Receipt:
        """Several messages with consecutive numbers, in pieces that leave when there is room for them."""
        pieces = _pieces(payloads)
        self.flush()
        number = self._count(level, len(payloads)) if again is None else again.number
        session = None if again is None else again.session
        future: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()
        many = _Many(len(pieces), future)
        first = _Run(group, level, wait, number, session)
        for index, piece in enumerate(pieces):
            if self._waits and index:
                await self._room_for_more(first, future)
            if future.done():
                break  # what has been sent is lost, so the rest would be too much
            run = _Run(group, level, wait, number, session)
            run.bodies, run.many = piece, many
            number += len(piece)
            self._send(run)
        return await future

    async def _room_for_more(self, first: _Run, future: asyncio.Future[Receipt]) -> None:
        """Wait until the next piece can leave. If it never can, those before it have left all the same."""
        try:
            await self.room()
        except NotSent as error:
            first.waiters.append(future)
            first.unknown(str(error), self.session)

    def _begin(self, group: str, level: Level, wait: Wait, again: MessageKey | None) -> _Run:
        """Close the run that is open, and open the next."""
        if self._open is None:
            asyncio.get_running_loop().call_soon(self.flush)
        self.flush()
        if again is None:
            run = _Run(group, level, wait, self._next[level >= Level.AGREED], None)
        else:
            run = _Run(group, level, wait, again.number, again.session)
        self._open = run
        return run

    # --- the site ---

    def flush(self) -> None:
        """Let what is waiting for the end of the turn go."""
        run, self._open = self._open, None
        if run is not None:
            self._send(run)

    def _send(self, run: _Run) -> None:
        if self._line is None:
            self._unsent.append(run)
            return
        request = self.next_request()
        self._sent[request] = run
        self._line.send(Submit(request, run.group, tuple(run.bodies), run.number, run.level, run.wait, run.session))

    def on_done(self, done: Done) -> None:
        """What a request waited for has come."""
        run = self._sent.pop(done.request, None)
        if run is not None:
            run.resolve(done)

    def on_not_done(self, not_done: NotDone) -> None:
        """It will not come."""
        run = self._sent.pop(not_done.request, None)
        if run is None:
            return
        if not_done.sent:
            run.unknown(not_done.reason, self.session)
        else:
            run.not_sent(not_done.reason)

    def connected(self, line: Line) -> None:
        """There is a site: what has waited for it leaves."""
        self._line = line
        self._holds = dict.fromkeys(self._holds, False)
        unsent, self._unsent = self._unsent, []
        for run in unsent:
            self._send(run)
        self._judge()

    def disconnected(self, reason: str) -> None:
        """What was under way may have arrived, or not."""
        self._line = None
        self._waits = True
        sent, self._sent = self._sent, {}
        for run in sent.values():
            run.unknown(reason, self.session)

    def hold(self, who: str, hold: bool) -> None:
        """The line or the site takes no more for now, or takes more again."""
        self._holds[who] = hold
        self._judge()

    def _judge(self) -> None:
        self._waits = self._line is None or any(self._holds.values())
        if not self._waits:
            self._wake()

    def close(self, reason: str) -> None:
        """There will be no site any more."""
        self.flush()
        self.disconnected(reason)
        self._closed = reason
        unsent, self._unsent = self._unsent, []
        for run in unsent:
            run.not_sent(reason)
        self._wake()

    def _wake(self) -> None:
        room, self._room = self._room, []
        for future in room:
            if not future.done():
                future.set_result(None)


def _require_size(payload: bytes) -> None:
    if len(payload) > MESSAGE_BYTES_MAX:
        raise WrongUse(f"a message of {len(payload)} bytes, expected at most {MESSAGE_BYTES_MAX}")


def _pieces(payloads: Sequence[bytes]) -> list[list[bytes]]:
    """In bundles that a site takes."""
    pieces: list[list[bytes]] = []
    for start in range(0, len(payloads), BUNDLE_BODIES_MAX):
        piece = list(payloads[start : start + BUNDLE_BODIES_MAX])
        if sum(map(len, piece)) <= BUNDLE_BYTES_MAX:
            pieces.append(piece)
        else:
            pieces.extend(_small_enough(piece))
    return pieces


def _small_enough(payloads: list[bytes]) -> list[list[bytes]]:
    """So that each piece is within the bytes of a bundle, or is one message."""
    pieces: list[list[bytes]] = [[]]
    size = 0
    for payload in payloads:
        _require_size(payload)
        if pieces[-1] and size + len(payload) > BUNDLE_BYTES_MAX:
            pieces.append([])
            size = 0
        pieces[-1].append(payload)
        size += len(payload)
    return pieces
