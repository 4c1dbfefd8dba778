"""A site that only takes down what it is asked, a port that only takes down what it is told, and a log in memory."""

from __future__ import annotations

from typing import Any

from ordercast.core.administration import AnswerBody, Ok, Question
from ordercast.core.deliveries import Delivered, Entered, Finalized, GroupViewChanged, ViewChanged
from ordercast.core.entries import Entry
from ordercast.core.errors import WrongUse
from ordercast.core.events import Event, FromAbove
from ordercast.core.ids import SiteId, ViewId, pack_message_id
from ordercast.core.messages import Author, Bundle, Level
from ordercast.core.participants import JoinGroup, LeaveGroup, Member, Speak
from ordercast.core.service import VERSION, Happened, Hello, Join, Reply
from ordercast.core.stream import Batch, Happening
from ordercast.core.views import View
from ordercast.protocols.groups.authors import Authors
from ordercast.records.log_reader import Chunk
from ordercast.site.gateway.connection import Connection
from ordercast.site.gateway.gateway import Gateway
from ordercast.site.gateway.port import Parcel

ME, OTHER = SiteId(0), SiteId(1)


class FakeLog:
    """Entries in a list; what is before `first` is gone."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.error: Exception | None = None
        self.reads = 0

    def read(self, start: int, stop: int, *, limit_bytes: int) -> Chunk:
        self.reads += 1
        if self.error is not None:
            raise self.error
        held = tuple(entry for entry in self.entries if start < entry.end and entry.position < stop)[:2]
        return Chunk(held, held[-1].end if held else start)


class FakeSite:
    """Speaks to nobody: a test says what its stack delivers."""

    def __init__(self, final: int = 0, outstanding_bytes: int = 1 << 20) -> None:
        self.me = ME
        self.cluster = "test"
        self.names = ("here", "there")
        self.incarnation = 3
        self.log = FakeLog()
        self.events: list[Any] = []
        self.gateway = Gateway(self, self.log, self, final=final, outstanding_bytes=outstanding_bytes)
        self.position = final
        self.authors = Authors()
        self._seqs = {ME: 0, OTHER: 0}
        self.gateway.delivered(ME, Entered(View(ViewId(1), (ME, OTHER)), False))

    def handle(self, event: Event) -> None:
        assert isinstance(event, FromAbove)
        self.events.append(event.message)

    def has_room(self, author: Author) -> bool:
        return self.authors.has_room(author)

    async def answer(self, question: Question) -> AnswerBody:
        if question.__class__.__name__ == "Heal":
            raise WrongUse("nothing is cut")
        return Ok()

    # --- what the stack hands up ---

    def bundle(
        self, author: Author, bodies: tuple[bytes, ...], level: Level = Level.AGREED, site: SiteId = ME
    ) -> Bundle:
        """With the next ids of a site."""
        seq = self._seqs[site]
        self._seqs[site] += len(bodies)
        return Bundle(pack_message_id(site, self.incarnation, seq), bodies, level, author=author)

    def order(self, bundle: Bundle, final: bool = False) -> Delivered:
        """The bundle comes up at the next position."""
        delivered = Delivered(bundle, self.position, final)
        self.log.entries.append(Entry(self.position, self.position + len(bundle.bodies), bundle, 0))
        self.position += len(bundle.bodies)
        self.gateway.delivered(bundle.origin, delivered)
        return delivered

    def order_spoken(self) -> int:
        """What participants here have multicast comes up; how many bundles that is."""
        spoken = [event for event in self.events if isinstance(event, Speak)]
        self.events = [event for event in self.events if not isinstance(event, Speak)]
        for speak in spoken:
            bundle = self.bundle(speak.author, speak.bodies, speak.level)
            if speak.level >= Level.AGREED:
                self.order(bundle)
            else:
                self.gateway.delivered(ME, Delivered(bundle, None, True))
        return len(spoken)

    def say(self, group: str, *bodies: bytes) -> None:
        """Somebody at the other site multicasts, and it comes up."""
        self.order(self.bundle(Author(group, "far", 99, self.position), bodies, site=OTHER))

    def finalize(self) -> None:
        """All positions so far are final."""
        self.gateway.delivered(ME, Finalized(self.position))

    def take_joins(self) -> None:
        """What participants here have asked for comes up: joining and leaving."""
        events, self.events = self.events, []
        members: dict[str, tuple[Member, ...]] = getattr(self, "_members", {})
        self._members = members
        for event in events:
            if not isinstance(event, JoinGroup | LeaveGroup):
                self.events.append(event)
                continue
            name = "me"
            me = Member(event.session, name, ME, self.incarnation, self.position)
            before = members.get(event.group, ())
            others = tuple(each for each in before if each.session != event.session)
            joins = isinstance(event, JoinGroup)
            members[event.group] = (*others, me) if joins else others
            position, self.position = self.position, self.position + 1
            view = ViewChanged(View(ViewId(1), (ME, OTHER)), position)
            self.gateway.delivered(ME, view)
            change = GroupViewChanged(
                event.group, position, members[event.group], (me,) if joins else (), () if joins else (me,)
            )
            self.gateway.delivered(ME, change)


class FakePort:
    """Keeps what the participant is told."""

    def __init__(self) -> None:
        self.replies: list[Reply] = []
        self.paused = False
        self.closed = False

    def tell(self, reply: Reply) -> None:
        self.replies.append(reply)

    def forward(self, parcel: Parcel) -> None:
        self.replies.append(parcel.happened)

    def pause(self) -> None:
        self.paused = True

    def resume(self) -> None:
        self.paused = False

    def close(self) -> None:
        self.closed = True

    def of(self, kind: type[Any]) -> list[Any]:
        """The replies of one kind."""
        return [reply for reply in self.replies if isinstance(reply, kind)]

    @property
    def happenings(self) -> list[Happening]:
        """What came in streams."""
        return [reply.event for reply in self.of(Happened)]

    @property
    def payloads(self) -> list[bytes]:
        """All messages, in order."""
        return [payload for event in self.happenings if isinstance(event, Batch) for payload in event.payloads]


def participant(site: FakeSite, session: int = 7) -> tuple[Connection, FakePort]:
    """One that has been greeted."""
    port = FakePort()
    connection = Connection(site.gateway, port)
    connection.handle(Hello(VERSION, "me", session))
    return connection, port


async def joined(site: FakeSite, join: Join, session: int = 7) -> tuple[Connection, FakePort]:
    """One that has joined a group, or reads it."""
    import asyncio

    connection, port = participant(site, session)
    connection.handle(join)
    for _ in range(3):
        await asyncio.sleep(0)
        site.take_joins()
    return connection, port
