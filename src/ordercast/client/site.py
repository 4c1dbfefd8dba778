"""A participant's connection to its site."""

from __future__ import annotations

import asyncio
import random
import secrets
from types import TracebackType

from ordercast.client.administration import Administration
from ordercast.client.errors import Disconnected
from ordercast.client.group import Group
from ordercast.client.line import Dial, Line
from ordercast.client.outbox import Outbox
from ordercast.core.errors import NotFit, WrongUse
from ordercast.core.service import (
    LATEST,
    NAME_CHARACTERS_MAX,
    VERSION,
    WINDOW_BYTES,
    Answer,
    Done,
    Happened,
    Hello,
    Join,
    NotDone,
    Pace,
    Refused,
    Reply,
    Request,
    Welcome,
)

RETRY_S = 0.05
RETRY_S_MAX = 2.0
"""Between two attempts to reach a site that is gone: from the one to the other, and by chance up to half less."""


class Site(Administration):
    """Made by `ordercast.connect`; connected inside an `async with` block."""

    def __init__(self, dial: Dial, name: str, *, reconnect: bool = True) -> None:
        if not 0 < len(name) <= NAME_CHARACTERS_MAX or not name.isprintable():
            raise WrongUse(f"expected a printable name of at most {NAME_CHARACTERS_MAX} characters, not {name!r}")
        self.name = name
        self.session = secrets.randbits(63)
        self.site = ""
        """The name of the site, ..."""
        self.cluster = ""
        """... and of its cluster."""
        self.outbox = Outbox(self.session)
        self._dial = dial
        self._reconnect = reconnect
        self._line: Line | None = None
        self._welcome: asyncio.Future[None] | None = None
        self._groups: dict[str, Group] = {}
        self._reconnecting: asyncio.Task[None] | None = None
        self._closed = False
        self._refusal: str | None = None
        super().__init__()

    async def __aenter__(self) -> Site:
        await self._connect()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def join(
        self,
        group: str,
        *,
        start: int = LATEST,
        final_only: bool = False,
        finality: bool = False,
        window_bytes: int = WINDOW_BYTES,
    ) -> Group:
        """Be a member of a group inside `async with`, and read its stream from a position, `EARLIEST` or `LATEST`.

        `final_only` hides what is tentative until it is final; `finality` asks for `Finalized` events.
        """
        return self._group(group, start, True, final_only, finality, window_bytes)

    def observe(
        self,
        group: str,
        *,
        start: int = LATEST,
        final_only: bool = False,
        finality: bool = False,
        window_bytes: int = WINDOW_BYTES,
    ) -> Group:
        """Only read, without being a member."""
        return self._group(group, start, False, final_only, finality, window_bytes)

    def _group(
        self, group: str, start: int, member: bool, final_only: bool, finality: bool, window_bytes: int
    ) -> Group:
        if start < LATEST:
            raise WrongUse(f"expected a position, EARLIEST or LATEST to start at, not {start}")
        if not 0 < len(group) <= NAME_CHARACTERS_MAX or not group.isprintable():
            raise WrongUse(f"expected a printable name of at most {NAME_CHARACTERS_MAX} characters, not {group!r}")
        wanted = Join(group, start, member=member, final_only=final_only, finality=finality, window_bytes=window_bytes)
        return Group(self, wanted)

    async def close(self) -> None:
        """Leave all groups, and hang up."""
        if self._closed:
            return
        for group in tuple(self._groups.values()):
            await group.leave()
        self._closed = True
        if self._reconnecting is not None:
            self._reconnecting.cancel()
        self._give_up(f"{self.name}: the connection has been closed")
        if self._line is not None:
            self._line.abort()

    # --- for groups ---

    @property
    def is_connected(self) -> bool:
        """Whether there is a site at the moment."""
        return self._line is not None and self._welcome is None

    def send(self, request: Request) -> None:
        """For the site, at once."""
        assert self._line is not None
        self._line.send(request)

    def next_request(self) -> int:
        return self.outbox.next_request()

    async def enter(self, group: Group) -> None:
        """It wants to hear what the site says of its group."""
        if not self.is_connected:
            await self.outbox.room()
        if group.name in self._groups:
            raise WrongUse(f"{group.name}: this participant has joined it already; leave it first")
        self._groups[group.name] = group

    def forget(self, group: Group) -> None:
        """It does not any more."""
        if self._groups.get(group.name) is group:
            del self._groups[group.name]

    # --- the connection ---

    async def _connect(self) -> None:
        welcome = self._welcome = asyncio.get_running_loop().create_future()
        self._refusal = None
        line = self._line = await self._dial(self)
        line.send(Hello(VERSION, self.name, self.session))
        await welcome

    def received(self, reply: Reply) -> None:
        """A message from the site."""
        match reply:
            case Happened(group=group):
                reader = self._groups.get(group)
                if reader is not None:
                    reader.on_happened(reply)
            case Done():
                self.outbox.on_done(reply)
            case NotDone():
                self.outbox.on_not_done(reply)
            case Answer():
                self.on_answer(reply)
            case Welcome():
                self._on_welcome(reply)
            case Pace(hold=hold):
                self.outbox.hold("site", hold)
            case Refused(reason=reason):
                self._refusal = reason
            case _:
                reader = self._groups.get(reply.group)
                if reader is not None:
                    reader.on_reply(reply)

    def _on_welcome(self, welcome: Welcome) -> None:
        waiting, self._welcome = self._welcome, None
        assert self._line is not None
        self.site, self.cluster = welcome.site, welcome.cluster
        for group in self._groups.values():
            group.on_connected()
        self.outbox.connected(self._line)
        if waiting is not None and not waiting.done():
            waiting.set_result(None)

    def lost(self, reason: str) -> None:
        """The connection has ended."""
        reason = self._refusal or reason
        waiting, self._welcome, self._line = self._welcome, None, None
        if waiting is not None:
            if not waiting.done():
                waiting.set_exception(NotFit(f"{self.name}: {reason}"))
            return
        self.outbox.disconnected(reason)
        self.end_questions(reason)
        for group in tuple(self._groups.values()):
            group.on_disconnected()
        if self._closed:
            return
        if self._reconnect:
            self._reconnecting = asyncio.get_running_loop().create_task(self._call_again())
        else:
            self._give_up(reason)

    async def _call_again(self) -> None:
        pause_s = RETRY_S
        while True:
            await asyncio.sleep(pause_s * random.uniform(0.5, 1.0))
            try:
                await self._connect()
            except NotFit:
                pause_s = min(2 * pause_s, RETRY_S_MAX)
            else:
                return

    def _give_up(self, reason: str) -> None:
        self.outbox.close(reason)
        for group in tuple(self._groups.values()):
            group.on_closed(Disconnected(reason))

    def pause_writing(self) -> None:
        self.outbox.hold("line", True)

    def resume_writing(self) -> None:
        self.outbox.hold("line", False)
