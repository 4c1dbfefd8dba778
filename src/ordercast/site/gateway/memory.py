"""Participants in the same process and loop as their site: nothing is encoded."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Protocol

from ordercast.core.service import Reply, Request
from ordercast.core.wire import BadBytes
from ordercast.site.gateway.connection import Connection
from ordercast.site.gateway.gateway import Gateway
from ordercast.site.gateway.port import Parcel


class Listener(Protocol):
    """The participant's side."""

    def received(self, reply: Reply) -> None:
        """A message from the site."""

    def lost(self, reason: str) -> None:
        """The connection has ended."""

    def pause_writing(self) -> None:
        """The site takes no more for now."""

    def resume_writing(self) -> None:
        """It takes requests again."""


class MemoryPort:
    """Both ends of a connection. What is said arrives in the next turn of the loop, in order."""

    def __init__(self, gateway: Gateway, listener: Listener) -> None:
        self._connection = Connection(gateway, self)
        self._gateway = gateway
        self._listener = listener
        self._requests: deque[Request] = deque()
        self._replies: deque[Reply] = deque()
        self._paused = False
        self._closed = False
        self._turn_comes = False

    # --- the participant's side ---

    def send(self, request: Request) -> None:
        """For the site."""
        self._requests.append(request)
        self._soon()

    def abort(self) -> None:
        """Hang up at once."""
        if not self._closed:
            self._closed = True
            self._connection.end()

    # --- the site's side ---

    def tell(self, reply: Reply) -> None:
        self._replies.append(reply)
        self._soon()

    def forward(self, parcel: Parcel) -> None:
        self.tell(parcel.happened)

    def pause(self) -> None:
        self._paused = True
        self._listener.pause_writing()

    def resume(self) -> None:
        self._paused = False
        self._listener.resume_writing()
        self._soon()

    def close(self) -> None:
        asyncio.get_running_loop().call_soon(self._close, "the site has hung up")

    # --- the way between ---

    def _soon(self) -> None:
        if not self._turn_comes:
            self._turn_comes = True
            asyncio.get_running_loop().call_soon(self._turn)

    def _turn(self) -> None:
        self._turn_comes = False
        while self._replies and not self._closed:
            self._listener.received(self._replies.popleft())
        while self._requests and not self._paused and not self._closed:
            try:
                self._connection.take(self._requests.popleft())
            except BadBytes as error:
                self._gateway.refused += 1
                self._close(str(error))
        self._connection.flush()

    def _close(self, reason: str) -> None:
        if not self._closed:
            while self._replies:
                self._listener.received(self._replies.popleft())
            self._closed = True
            self._connection.end()
            self._listener.lost(reason)
