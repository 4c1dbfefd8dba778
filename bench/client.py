"""What a message costs the client library, and the gateway of a site, without any protocol between them.

The client's side: multicasts end at a socket line that counts bytes, and are answered at once; deliveries come as the
frames that a site would send. The gateway's side: the requests of one client in, its own bundles back and out to all
who read. Processor time of one process; nothing is sent anywhere.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import click

from bench.timing import timed
from ordercast.client.group import Group
from ordercast.client.line import Line, Listener, SocketLine
from ordercast.client.site import Site
from ordercast.core.administration import AnswerBody, Ok, Question
from ordercast.core.deliveries import Delivered, Finalized
from ordercast.core.events import Event, FromAbove
from ordercast.core.ids import MessageId, SiteId, pack_message_id
from ordercast.core.messages import Author, Bundle, Level
from ordercast.core.participants import Speak
from ordercast.core.service import (
    BUNDLE_BODIES_MAX,
    REPLIES,
    REQUESTS,
    VERSION,
    Consumed,
    Done,
    Entered,
    Happened,
    Hello,
    History,
    Join,
    Joined,
    Reply,
    Request,
    Submit,
    Welcome,
    framed,
)
from ordercast.core.stream import Batch, Participant
from ordercast.site.gateway.connection import Connection
from ordercast.site.gateway.gateway import Gateway
from ordercast.site.gateway.port import Parcel

SENDER = Participant("bench", "here", 1)
READERS = (1, 5)


class CountingTransport(asyncio.Transport):
    """Takes all that is written."""

    def __init__(self) -> None:
        super().__init__()
        self.bytes = 0

    def write(self, data: Any) -> None:
        self.bytes += len(data)

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def abort(self) -> None:
        pass


class AnsweringLine:
    """A socket line whose site answers every request at once."""

    def __init__(self, listener: Listener) -> None:
        self.line = SocketLine(listener)
        self.line.connection_made(CountingTransport())
        self._listener = listener
        self._position = 0

    def send(self, request: Request) -> None:
        self.line.send(request)
        match request:
            case Hello():
                self._answer(Welcome(VERSION, "bench", "here", 0))
            case Join(group=group):
                self._answer(Joined(group, 0, History(0, 0)))
                self._answer(Entered(group))
            case Submit(request=number, bodies=bodies):
                self._answer(Done(number, MessageId(self._position), self._position))
                self._position += len(bodies)

    def abort(self) -> None:
        pass

    def _answer(self, reply: Reply) -> None:
        asyncio.get_running_loop().call_soon(self.receive, framed(REPLIES.encode(reply)))

    def receive(self, data: bytes) -> None:
        """What a socket would bring."""
        for start in range(0, len(data), 1 << 16):
            piece = data[start : start + (1 << 16)]
            room = self.line.get_buffer(-1)
            room[: len(piece)] = piece
            self.line.buffer_updated(len(piece))


Work = Callable[[Group, AnsweringLine], Awaitable[None]]


def client_us(work: Work, messages: int) -> float:
    """Processor time of the client for each message, in microseconds."""

    async def run() -> None:
        lines: list[AnsweringLine] = []

        async def dial(listener: Listener) -> Line:
            lines.append(AnsweringLine(listener))
            return lines[0]

        async with Site(dial, "bench", reconnect=False) as site:
            group = site.join("bench", window_bytes=1 << 40)
            await group.__aenter__()
            await work(group, lines[0])
            site.forget(group)

    _, seconds = timed(lambda: asyncio.run(run()))
    return seconds * 1e6 / messages


def one_by_one(messages: int, size: int, at_once: int) -> Work:
    """Each message is a `multicast` of its own, so many of them at once."""

    async def work(group: Group, line: AnsweringLine) -> None:
        payload = bytes(size)
        for _ in range(messages // at_once):
            await asyncio.gather(*[group.multicast(payload) for _ in range(at_once)])

    return work


def many(messages: int, size: int, at_once: int) -> Work:
    """So many messages with each `multicast_many`."""

    async def work(group: Group, line: AnsweringLine) -> None:
        payloads = [bytes(size)] * at_once
        for _ in range(messages // at_once):
            await group.multicast_many(payloads)

    return work


def frames(messages: int, size: int, at_once: int) -> Iterator[bytes]:
    """Bundles as a site forwards them."""
    for position in range(0, messages, at_once):
        batch = Batch(position, SENDER, (bytes(size),) * at_once, True, Level.AGREED, MessageId(position))
        yield framed(REPLIES.encode(Happened("bench", batch, position)))


def read_events(messages: int, size: int, at_once: int) -> Work:
    """`async for event in group`."""

    async def work(group: Group, line: AnsweringLine) -> None:
        for data in frames(messages, size, at_once):
            line.receive(data)
        seen = 0
        async for _ in group:
            seen += 1
            if seen == messages:
                return

    return work


def read_batches(messages: int, size: int, at_once: int) -> Work:
    """`async for batch in group.batches()`."""

    async def work(group: Group, line: AnsweringLine) -> None:
        for data in frames(messages, size, at_once):
            line.receive(data)
        seen = 0
        async for batch in group.batches():
            assert isinstance(batch, Batch)
            seen += len(batch.payloads)
            if seen == messages:
                return

    return work


# --- the gateway ---


class EchoSite:
    """A site whose stack delivers at once what it is given."""

    def __init__(self) -> None:
        self.me = SiteId(0)
        self.cluster = "bench"
        self.names = ("here",)
        self.incarnation = 0
        self.gateway = Gateway(self, None, self)
        self._next = 0

    def handle(self, event: Event) -> None:
        assert isinstance(event, FromAbove)
        match event.message:
            case Speak(bodies=bodies, level=level, author=author):
                position, self._next = self._next, self._next + len(bodies)
                bundle = Bundle(pack_message_id(self.me, 0, position), bodies, level, author=author)
                self.gateway.delivered(self.me, Delivered(bundle, position, False))
                self.gateway.delivered(self.me, Finalized(self._next))

    def has_room(self, author: Author) -> bool:
        return True

    async def answer(self, question: Question) -> AnswerBody:
        return Ok()


class FramingPort:
    """Encodes what it is told, as a socket's does."""

    def __init__(self) -> None:
        self.bytes = 0

    def tell(self, reply: Reply) -> None:
        self.bytes += len(framed(REPLIES.encode(reply)))

    def forward(self, parcel: Parcel) -> None:
        self.bytes += len(framed(parcel.encoded))

    def pause(self) -> None:
        pass

    def resume(self) -> None:
        pass

    def close(self) -> None:
        pass


def gateway_us(messages: int, size: int, at_once: int, readers: int) -> float:
    """Processor time of the gateway for each message that one participant multicasts and so many read."""
    bodies = (bytes(size),) * at_once
    requests = [
        REQUESTS.encode(Submit(number, "bench", bodies, number * at_once)) for number in range(messages // at_once)
    ]
    seconds: list[float] = []

    async def run() -> None:
        site = EchoSite()
        connections = []
        for session in range(readers):
            connection = Connection(site.gateway, FramingPort())
            connection.handle(Hello(VERSION, "bench", session))
            connection.handle(Join("bench", 0, window_bytes=1 << 40))
            connections.append(connection)
        await asyncio.sleep(0.01)

        def work() -> None:
            for request in requests:
                connections[0].handle(REQUESTS.decode(request))
                connections[0].handle(Consumed("bench", 1))

        seconds.append(timed(work)[1])

    asyncio.run(run())
    return seconds[0] * 1e6 / messages


@click.command()
@click.option("--messages", default=200_000, show_default=True, help="In each measurement.")
@click.option("--size", default=64, show_default=True, help="Bytes of a message.")
@click.option("--bundle", "at_once", default=500, show_default=True, help="Messages at once, at most 1,000.")
def command(messages: int, size: int, at_once: int) -> None:
    """What a message costs the client library and the gateway of a site."""
    at_once = max(1, min(at_once, BUNDLE_BODIES_MAX, messages))
    messages -= messages % at_once
    click.echo(f"{messages:,} messages of {size} bytes, {at_once} at once; µs of processor time for each\n")
    for name, work in (
        ("client: multicast, one by one", one_by_one),
        ("client: multicast_many", many),
        ("client: async for event", read_events),
        ("client: async for batch", read_batches),
    ):
        click.echo(f"{name:34} {client_us(work(messages, size, at_once), messages):7.3f}")
    for readers in READERS:
        name = f"gateway: one sends, {readers} read" + ("s" if readers == 1 else "")
        click.echo(f"{name:34} {gateway_us(messages, size, at_once, readers):7.3f}")
