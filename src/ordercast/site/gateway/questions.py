"""Questions of operators: some the gateway can answer, the others are the site's."""

from __future__ import annotations

import asyncio
from typing import Protocol

from ordercast.core.administration import (
    AnswerBody,
    AskMembers,
    FollowViews,
    GroupMembers,
    Groups,
    Question,
    SiteView,
)
from ordercast.core.errors import NotFit, WrongUse
from ordercast.core.service import Answer, Ask
from ordercast.core.stream import ViewChange
from ordercast.site.gateway.port import Port

Asker = tuple[int, int]
"""By which port and which request: what has been asked."""


class Administration(Protocol):
    """What a site tells of itself, and can be told to do."""

    async def answer(self, question: Question) -> AnswerBody:
        """Do what is asked; a `WrongUse` or `NotFit` says why it cannot be done."""


class Questions:
    """Everything that is being asked at one site."""

    def __init__(self, administration: Administration) -> None:
        self._administration = administration
        self._tasks: dict[Asker, asyncio.Task[None]] = {}
        self._following: dict[Asker, tuple[int, Port]] = {}
        self._view: SiteView | None = None
        self._changing: list[tuple[str, asyncio.Future[None]]] = []

    def ask(self, ask: Ask, port: Port, groups: dict[str, ViewChange]) -> None:
        """Answer, now or later."""
        match ask.question:
            case AskMembers():
                members = tuple(GroupMembers(group, groups[group].members) for group in sorted(groups))
                port.tell(Answer(ask.request, Groups(members)))
            case FollowViews():
                self._following[id(port), ask.request] = (ask.request, port)
                if self._view is not None:
                    port.tell(Answer(ask.request, self._view))
            case question:
                task = asyncio.get_running_loop().create_task(self._answer(ask.request, question, port))
                asker = id(port), ask.request
                self._tasks[asker] = task
                task.add_done_callback(lambda _: self._tasks.pop(asker, None))

    async def _answer(self, request: int, question: Question, port: Port) -> None:
        try:
            answer = await self._administration.answer(question)
        except (WrongUse, NotFit) as error:
            port.tell(Answer(request, None, str(error)))
        else:
            port.tell(Answer(request, answer))

    def changed_ordering(self, protocol: str) -> asyncio.Future[None]:
        """Done once the group has gone over to an ordering protocol."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._changing.append((protocol, future))
        return future

    def on_ordering(self, protocol: str) -> None:
        """The group has gone over to it."""
        for wanted, future in self._changing:
            if wanted == protocol and not future.done():
                future.set_result(None)
        self._changing = [each for each in self._changing if not each[1].done()]

    def unask(self, request: int, port: Port) -> None:
        """No more answers to this."""
        self._following.pop((id(port), request), None)

    def forget(self, port: Port) -> None:
        """Whoever has asked is gone."""
        for asker in [asker for asker in self._following if asker[0] == id(port)]:
            del self._following[asker]
        for asker, task in tuple(self._tasks.items()):
            if asker[0] == id(port):
                task.cancel()

    def on_view(self, view: SiteView) -> None:
        """The sites have another view, or are blocked in it."""
        self._view = view
        for request, port in self._following.values():
            port.tell(Answer(request, view))
