"""The receiving half of a reliable link: order, duplicates, reassembly."""

from __future__ import annotations

from bisect import bisect_left

from msgspec import Struct

from ordercast.protocols.links.frames import Ack, Part

EARLY_FRAMES_MAX = 8192
"""More than a window: whatever a correct sender can have under way."""


ACK_RUNS_MAX = 32
"""An acknowledgement names at most so many runs of early frames: so many losses are repaired in one round trip."""


class Incoming(Struct):
    """Messages from one site."""

    incarnation: int = -1
    stream: int = -1
    expected: int = 0
    early: dict[int, tuple[Part, ...]] = {}
    early_runs: list[tuple[int, int]] = []
    """Their numbers: first and last of each run without a gap, in ascending order."""
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
            self.early_runs.clear()
            self.fragments.clear()
            return True
        return False

    def receive(self, seq: int, parts: tuple[Part, ...]) -> list[bytes]:
        """A frame has arrived; returns the messages that are complete and in order now."""
        self.owes_ack = True
        if seq != self.expected:
            if self.expected < seq < self.expected + EARLY_FRAMES_MAX and seq not in self.early:
                self.early[seq] = parts
                self._extend_runs(seq)
            return []
        messages = self._assemble(parts)
        self.expected += 1
        while self.early and (next_parts := self.early.pop(self.expected, None)) is not None:
            messages += self._assemble(next_parts)
            self.expected += 1
        if self.early_runs and self.early_runs[0][0] < self.expected:
            del self.early_runs[0]
        return messages

    def _extend_runs(self, seq: int) -> None:
        """One more frame is early: it makes a run of its own, or belongs to its neighbours."""
        runs, first, last = self.early_runs, seq, seq
        index = bisect_left(runs, (seq, seq))
        if index < len(runs) and runs[index][0] == seq + 1:
            last = runs.pop(index)[1]
        if index and runs[index - 1][1] == seq - 1:
            index -= 1
            first = runs.pop(index)[0]
        runs.insert(index, (first, last))

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
        return Ack(self.incarnation, self.stream, self.expected, tuple(self.early_runs[:ACK_RUNS_MAX]))
