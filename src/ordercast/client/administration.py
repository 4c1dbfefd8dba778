"""What operators ask a site, through a participant's connection."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from typing import Any, TypeVar

from ordercast.core.administration import (
    AnswerBody,
    AskLinks,
    AskMembers,
    AskMetrics,
    AskStatus,
    ChangeOrdering,
    Cut,
    Emulate,
    FollowViews,
    GroupMembers,
    Groups,
    Heal,
    LeaveSites,
    Link,
    Links,
    Metrics,
    Ok,
    Question,
    SiteView,
    Status,
    Trace,
)
from ordercast.core.errors import NotFit, WrongUse
from ordercast.core.service import Answer, Ask, Request, Unask

Kind = TypeVar("Kind")


class Administration(ABC):
    """The questions that are open; a connection to a site inherits it."""

    def __init__(self) -> None:
        self._asked: dict[int, asyncio.Queue[AnswerBody | Exception]] = {}

    async def status(self) -> Status:
        """How the site is."""
        return await self._ask(AskStatus(), Status)

    async def members(self) -> tuple[GroupMembers, ...]:
        """Who is in which group."""
        return (await self._ask(AskMembers(), Groups)).groups

    async def links(self) -> tuple[Link, ...]:
        """The ways to the other sites."""
        return (await self._ask(AskLinks(), Links)).links

    async def metrics(self) -> str:
        """All figures, as Prometheus reads them."""
        return (await self._ask(AskMetrics(), Metrics)).text

    async def views(self) -> AsyncIterator[SiteView]:
        """The view of the sites as it is, and each that comes."""
        request, answers = self._begin(FollowViews())
        try:
            while True:
                yield _of_kind(await answers.get(), SiteView)
        finally:
            if self._asked.pop(request, None) is not None and self.is_connected:
                self.send(Unask(request))

    async def emulate(self, to: str, *, delay_ms: float, jitter_ms: float = 0.0, loss: float = 0.0) -> None:
        """Make the way from this site to another slower, or less reliable."""
        await self._ask(Emulate(to, delay_ms, jitter_ms, loss), Ok)

    async def cut(self, *to: str) -> None:
        """Let nothing get from this site to these."""
        await self._ask(Cut(to), Ok)

    async def heal(self) -> None:
        """Let everything get everywhere again."""
        await self._ask(Heal(), Ok)

    async def trace(self, on: bool) -> None:
        """Begin or stop to write a trace."""
        await self._ask(Trace(on), Ok)

    async def change_ordering(self, protocol: str, **options: Any) -> None:
        """Let the whole group order by another protocol from some position on."""
        await self._ask(ChangeOrdering(protocol, options), Ok)

    async def leave_sites(self) -> None:
        """Let the site leave the group of sites, and end."""
        await self._ask(LeaveSites(), Ok)

    async def _ask(self, question: Question, kind: type[Kind]) -> Kind:
        request, answers = self._begin(question)
        try:
            return _of_kind(await answers.get(), kind)
        finally:
            self._asked.pop(request, None)

    def _begin(self, question: Question) -> tuple[int, asyncio.Queue[AnswerBody | Exception]]:
        if not self.is_connected:
            raise NotFit("the site cannot be reached at the moment; try again later")
        request = self.next_request()
        answers = self._asked[request] = asyncio.Queue()
        self.send(Ask(request, question))
        return request, answers

    def on_answer(self, answer: Answer) -> None:
        """The site has answered."""
        answers = self._asked.get(answer.request)
        if answers is not None:
            answers.put_nowait(WrongUse(answer.error) if answer.answer is None else answer.answer)

    def end_questions(self, reason: str) -> None:
        """It will not."""
        asked, self._asked = self._asked, {}
        for answers in asked.values():
            answers.put_nowait(NotFit(reason))

    # --- the connection ---

    @property
    @abstractmethod
    def is_connected(self) -> bool:
        """Whether there is a site at the moment."""

    @abstractmethod
    def send(self, request: Request) -> None:
        """Behind what has been multicast."""

    @abstractmethod
    def next_request(self) -> int:
        """A number for a request."""


def _of_kind(answer: AnswerBody | Exception, kind: type[Kind]) -> Kind:
    if isinstance(answer, Exception):
        raise answer
    assert isinstance(answer, kind), f"expected {kind.__name__}, not {answer}"
    return answer
