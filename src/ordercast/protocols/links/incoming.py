"""The receiving half of a reliable link: order, duplicates, reassembly."""

from __future__ import annotations

from msgspec import Struct

from ordercast.protocols.links.frames import Ack, Part

EARLY_FRAMES_MAX = 8192
"""More than a window: whatever a correct sender can have under way."""


ACK_BEYOND_MAX = 64
"""An acknowledgement names at most so many early frames."""


class Incoming(Struct):
    """Messages from one site."""

    incarnation: int = -1
    stream: int = -1
    expected: int = 0
    early: dict[int, tuple[Part, ...]] = {}
    fragments: list[bytes] = []
    owes_ack: bool = False

    def follow(self, incarnation: int, stream: int) -> bool:
        """Whether frames of this stream count; a newer one than known replaces it."""
        if stream == self.stream and incarnation == self.incarnation:
            return True
        if (incarnation, stream) > (self.incarnation, self.stream):
            self.incarnation = incarnation
            self.stream = stream
            self.expected = 0
            self.early.clear()
            self.fragments.clear()
            return True
        return False

    def receive(self, seq: int, parts: tuple[Part, ...]) -> list[bytes]:
        """A frame has arrived; returns the messages that are complete and in order now."""
        self.owes_ack = True
        if seq != self.expected:
            if self.expected < seq < self.expected + EARLY_FRAMES_MAX:
                self.early[seq] = parts
            return []
        messages = self._assemble(parts)
        self.expected += 1
        while self.early and (next_parts := self.early.pop(self.expected, None)) is not None:
            messages += self._assemble(next_parts)
            self.expected += 1
        return messages

    def _assemble(self, parts: tuple[Part, ...]) -> list[bytes]:
        messages = []
        for part in parts:
            if isinstance(part, bytes):
                messages.append(part)
                continue
            more, piece = part
            self.fragments.append(piece)
            if more == 0:
                messages.append(b"".join(self.fragments))
                self.fragments.clear()
        return messages

    def ack(self) -> Ack | None:
        """What to tell the other side; None before anything has come."""
        if self.stream < 0:
            return None
        self.owes_ack = False
        beyond = tuple(sorted(self.early)[:ACK_BEYOND_MAX]) if self.early else ()
        return Ack(self.incarnation, self.stream, self.expected, beyond)
