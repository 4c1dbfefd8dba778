"""A participant's part in one group: it multicasts, and reads one stream."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING

from ordercast.client.errors import ConsumerTooSlow, MessageKey, PositionGone, StreamEnded
from ordercast.client.outbox import WAITS, Receipt, WaitFor
from ordercast.core.errors import WrongUse
from ordercast.core.messages import UNNUMBERED, Level
from ordercast.core.service import (
    Broken,
    Consumed,
    Entered,
    Gone,
    Happened,
    History,
    Join,
    Joined,
    Leave,
    Left,
    NotJoined,
    TooSlow,
)
from ordercast.core.stream import Batch, Delivery, Event, Happening, Resumed, Retracted, ViewChange, weight_of

if TYPE_CHECKING:
    from ordercast.client.site import Site

CREDIT_PART = 8
"""The site is told of what was read by this part of the window."""


class Group:
    """Made by `Site.join` and `Site.observe`; a member of the group inside an `async with` block."""

    def __init__(self, site: Site, wanted: Join) -> None:
        self.name = wanted.group
        self.view: ViewChange | None = None
        """Who is in, as far as the stream has come."""
        self.position = 0
        """The stream has come so far: everything below has been received."""
        self.final_below = 0
        """Everything below is known to be final."""
        self._site = site
        self._outbox = site.outbox
        self._wanted = wanted
        self._history: History | None = None
        self._queue: deque[Happening] = deque()
        self._deliveries: deque[Delivery] = deque()
        """Of the batch that is being read."""
        self._waiting: asyncio.Future[None] | None = None
        self._begun: asyncio.Future[None] | None = None
        self._left: asyncio.Future[None] | None = None
        self._end: StreamEnded | None = None
        self._consumed = 0

    # --- life ---

    async def __aenter__(self) -> Group:
        await self._site.enter(self)
        self._begun = asyncio.get_running_loop().create_future()
        self._ask_to_join()
        try:
            await self._begun
        except BaseException:
            self._site.forget(self)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.leave()

    async def leave(self) -> None:
        """Be no member any more; the stream ends once what has been received is read."""
        if self._left is None:
            self._left = asyncio.get_running_loop().create_future()
            if self._site.is_connected:
                self._site.send(Leave(self.name, self._number()))
            else:
                self._left.set_result(None)
            self._wake()
        await self._left
        self._site.forget(self)

    def _number(self) -> int:
        return self._outbox.next_number() if self._wanted.member else UNNUMBERED

    def _ask_to_join(self) -> None:
        wanted = self._wanted
        start = wanted.start if self._history is None else self.position
        self._site.send(
            Join(
                self.name,
                start,
                self._number(),
                wanted.member,
                wanted.final_only,
                wanted.finality,
                wanted.window_bytes,
                self._history,
                self.position if wanted.final_only else self.final_below,
            )
        )

    # --- multicast ---

    async def multicast(
        self,
        payload: bytes,
        *,
        level: Level = Level.AGREED,
        wait: WaitFor = "final",
        again: MessageKey | None = None,
    ) -> Receipt:
        """Multicast to all members, and wait for what became of it.

        `again` is the `message` of an `OutcomeUnknown`: if that message has come up, this one does not.
        """
        if self._outbox.must_wait:
            await self._outbox.room()
        return await self._outbox.put(self.name, payload, level, WAITS[wait], self._checked(level, again))

    async def multicast_many(
        self,
        payloads: Sequence[bytes],
        *,
        level: Level = Level.AGREED,
        wait: WaitFor = "final",
        again: MessageKey | None = None,
    ) -> Receipt:
        """The same for many messages at once, for less than one by one. They keep their order."""
        if not payloads:
            raise WrongUse("nothing to multicast: expected at least one message")
        if self._outbox.must_wait:
            await self._outbox.room()
        return await self._outbox.put_many(self.name, payloads, level, WAITS[wait], self._checked(level, again))

    def _checked(self, level: Level, again: MessageKey | None) -> MessageKey | None:
        if self._left is not None or not self._wanted.member:
            raise WrongUse(f"{self.name}: only a member can multicast: `async with site.join(...)`")
        if again is not None and level < Level.AGREED:
            raise WrongUse("fifo and causal messages are not recognised: multicast a new one")
        return again

    # --- the stream ---

    async def __aiter__(self) -> AsyncIterator[Event]:
        deliveries = self._deliveries
        while True:
            while deliveries:
                yield deliveries.popleft()
            happening = await self.next()
            if happening is None:
                return
            if isinstance(happening, Batch):
                deliveries.extend(happening.deliveries())
            else:
                yield happening

    async def batches(self) -> AsyncIterator[Happening]:
        """The same stream with consecutive messages of a sender in one `Batch`: for high throughput."""
        while True:
            while self._deliveries:
                first = self._deliveries.popleft()
                yield Batch(first.position, first.sender, (first.payload,), first.final, first.level, first.message)
            happening = await self.next()
            if happening is None:
                return
            yield happening

    async def next(self) -> Happening | None:
        """The next batch or other event; None after the end."""
        while not self._queue:
            if self._end is not None:
                raise self._end
            if self._left is not None:
                return None
            self._waiting = asyncio.get_running_loop().create_future()
            await self._waiting
        happening = self._queue.popleft()
        self._consumed += weight_of(happening)
        if self._consumed * CREDIT_PART >= self._wanted.window_bytes and self._left is None:
            consumed, self._consumed = self._consumed, 0
            if self._site.is_connected:
                self._site.send(Consumed(self.name, consumed))
        return happening

    def _put(self, event: Happening) -> None:
        self._queue.append(event)
        self._wake()

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None and not waiting.done():
            waiting.set_result(None)

    def _finish(self, end: StreamEnded) -> None:
        if self._end is None:
            self._end = end
            self._wake()

    # --- what the site says ---

    def on_happened(self, happened: Happened) -> None:
        """The next event."""
        event = happened.event
        if self._left is not None:
            return
        self.final_below = max(self.final_below, happened.final_below)
        match event:
            case Batch(position=position) if position is not None:
                self.position = position + len(event.payloads)
            case ViewChange():
                self.view = event
            case Retracted(from_position=start):
                self.position = min(self.position, start)
        self._put(event)

    def on_reply(self, reply: Joined | Entered | NotJoined | Left | TooSlow | Gone | Broken) -> None:
        """Something about this participant's part in the group."""
        match reply:
            case Joined():
                self._on_joined(reply)
            case Entered():
                self._on_begun(None)
            case NotJoined(reason=reason, first=first):
                error = WrongUse(reason) if first is None else PositionGone(reason, first)
                self._on_begun(error)
                self._finish(error if isinstance(error, StreamEnded) else StreamEnded(reason))
            case TooSlow(position=position):
                self._finish(ConsumerTooSlow(position))
            case Broken(reason=reason):
                self._finish(StreamEnded(reason))
            case Gone(position=position, first=first):
                reason = f"{self.name}: position {position} cannot be read here any more, the first that can is {first}"
                self._finish(PositionGone(reason, first))
            case Left():
                if self._left is not None and not self._left.done():
                    self._left.set_result(None)

    def _on_joined(self, joined: Joined) -> None:
        first_time, self._history = self._history is None, joined.history
        if first_time:
            self.position = joined.position
        else:
            if joined.position < self.position:
                self._put(Retracted(joined.position))
            self.position = joined.position
            self._put(Resumed(joined.position))
        if not self._wanted.member:
            self._on_begun(None)

    def _on_begun(self, error: Exception | None) -> None:
        begun = self._begun
        if begun is not None and not begun.done():
            if error is None:
                begun.set_result(None)
            else:
                begun.set_exception(error)

    def on_disconnected(self) -> None:
        """The site is gone for now: what it owed is not expected any more."""
        self._consumed = 0
        if self._left is not None and not self._left.done():
            self._left.set_result(None)

    def on_connected(self) -> None:
        """It is back, or another life of it: go on where the stream was."""
        if self._left is None and self._end is None:
            self._ask_to_join()

    def on_closed(self, end: StreamEnded) -> None:
        """It will not be back."""
        self._on_begun(end)
        self.on_disconnected()
        self._finish(end)
