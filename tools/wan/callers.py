"""The Unix socket of an emulation, served between two frames: it never waits for a caller."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable
from pathlib import Path

import msgspec

from tools.wan.requests import LINE_BYTES_MAX, Answer, Request

CALLERS_MAX = 64
READ_BYTES = 65_536


class Callers:
    """Those who are connected, and what each has said so far of its next line."""

    def __init__(self, path: Path, answer: Callable[[Request], Answer]) -> None:
        self._answer = answer
        self._decoder = msgspec.json.Decoder(Request)
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        path.unlink(missing_ok=True)
        self._listener.bind(str(path))
        path.chmod(0o600)
        self._listener.listen()
        self._listener.setblocking(False)
        self._heard: dict[socket.socket, bytes] = {}

    def sockets(self) -> list[socket.socket]:
        """Whatever should be attended to when it can be read."""
        return [self._listener, *self._heard]

    def attend(self, ready: socket.socket) -> None:
        """One of them can be read."""
        if ready is self._listener:
            self._welcome()
        elif ready in self._heard:
            self._listen_to(ready)

    def close(self) -> None:
        """Hang up on everybody."""
        for each in self.sockets():
            each.close()
        self._heard.clear()

    def _welcome(self) -> None:
        with contextlib.suppress(BlockingIOError):
            caller, _ = self._listener.accept()
            caller.setblocking(False)
            if len(self._heard) >= CALLERS_MAX:
                caller.close()
            else:
                self._heard[caller] = b""

    def _listen_to(self, caller: socket.socket) -> None:
        try:
            said = caller.recv(READ_BYTES)
            *lines, rest = (self._heard[caller] + said).split(b"\n")
            for line in lines:
                caller.sendall(msgspec.json.encode(self._reply(line)) + b"\n")
        except OSError:
            # It has gone, or asks without reading the answers.
            said = b""
        if not said or len(rest) > LINE_BYTES_MAX:
            del self._heard[caller]
            caller.close()
        else:
            self._heard[caller] = rest

    def _reply(self, line: bytes) -> Answer:
        try:
            request = self._decoder.decode(line)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            return Answer(error=f"not a request: {error}")
        return self._answer(request)
