"""The sending half of a reliable link: numbering, window, retransmission."""

from __future__ import annotations

from msgspec import Struct, field

from ordercast.protocols.links.frames import Ack, Part
from ordercast.protocols.links.round_trip import TIMEOUT_MAX_US, RoundTrip

WINDOW_FRAMES = 4096
"""So many frames may be unacknowledged ..."""

WINDOW_BYTES = 16 << 20
"""... and so many bytes of messages in them, but for the last frame: it binds where frames are large."""

RESEND_FRAMES_MAX = 8
"""At a time-out so many of the oldest frames go again; what else is missing shows in the answer."""

BACKOFF_MAX = 6
"""The time-out doubles at most so often."""


class Sent(Struct):
    """A frame on its way."""

    parts: tuple[Part, ...]
    size: int
    sent_us: int
    again: bool = False
    """Whether it has been retransmitted: then its answer tells nothing about the round trip."""


class Outgoing(Struct):
    """Messages to one site."""

    addressee: int = -1
    """The life of the site that the stream is meant for; -1 until that is known."""
    stream: int = 0
    next_seq: int = 0
    unacknowledged: dict[int, Sent] = {}
    """By number, in ascending order."""
    bytes_under_way: int = 0
    """In these."""
    queue: list[Part] = []
    """Not sent yet: the window is full, or they wait a moment to share a frame."""
    round_trip: RoundTrip = field(default_factory=RoundTrip)
    backoff: int = 0

    def restart(self, addressee: int) -> None:
        """Forget everything under way and begin a new stream, for this life of the site."""
        self.addressee = addressee
        self.stream += 1
        self.next_seq = 0
        self.unacknowledged.clear()
        self.bytes_under_way = 0
        self.queue.clear()
        self.backoff = 0

    def meet(self, incarnation: int) -> None:
        """The site has been heard in this life: what was meant for an earlier one is void."""
        if self.addressee < 0:
            self.addressee = incarnation
        elif incarnation > self.addressee:
            self.restart(incarnation)

    def add(self, message: bytes, part_bytes_max: int) -> None:
        """Queue a message, in fragments if it is too large for one frame."""
        if len(message) <= part_bytes_max:
            self.queue.append(message)
            return
        pieces = [message[start : start + part_bytes_max] for start in range(0, len(message), part_bytes_max)]
        self.queue.extend((len(pieces) - 1 - index, piece) for index, piece in enumerate(pieces))

    def take_frame(self, frame_bytes_max: int, now_us: int) -> tuple[int, tuple[Part, ...]] | None:
        """The next frame to send and its number, if there is anything to send and the window is open."""
        if not self.queue or self.holds(WINDOW_FRAMES, WINDOW_BYTES):
            return None
        parts, size = self._take_parts(frame_bytes_max)
        seq = self.next_seq
        self.next_seq = seq + 1
        self.unacknowledged[seq] = Sent(parts, size, now_us)
        self.bytes_under_way += size
        return seq, parts

    def holds(self, frames: int, size: int) -> bool:
        """Whether so much is under way."""
        return len(self.unacknowledged) >= frames or self.bytes_under_way >= size

    def _take_parts(self, frame_bytes_max: int) -> tuple[tuple[Part, ...], int]:
        """As many from the queue as fit into a frame, and their size."""
        size = count = 0
        for part in self.queue:
            with_it = size + (len(part) if isinstance(part, bytes) else len(part[1]))
            if count and with_it > frame_bytes_max:
                break
            count += 1
            size = with_it
        parts = tuple(self.queue[:count])
        del self.queue[:count]
        return parts, size

    def acknowledge(self, ack: Ack, now_us: int) -> list[int]:
        """Take an acknowledgement into account; returns the frames that it shows to be lost."""
        if ack.stream != self.stream:
            return []
        gone = [self.unacknowledged.pop(seq) for seq in self._arrived(ack)]
        if not gone:
            return []
        self.bytes_under_way -= sum([sent.size for sent in gone])
        if not gone[-1].again:
            self.round_trip.add(now_us - gone[-1].sent_us)
        self.backoff = 0
        return self._overtaken(max(sent.sent_us for sent in gone)) if ack.beyond else []

    def _arrived(self, ack: Ack) -> list[int]:
        """The frames under way that the acknowledgement names."""
        runs = ((0, ack.below - 1), *ack.beyond)
        arrived: list[int] = []
        at = 0
        for seq in self.unacknowledged:
            while seq > runs[at][1]:
                at += 1
                if at == len(runs):
                    return arrived
            if seq >= runs[at][0]:
                arrived.append(seq)
        return arrived

    def _overtaken(self, newest_sent_us: int) -> list[int]:
        """Frames sent well before one that has arrived: reordering, at most what round trips vary by, does not explain
        that they are missing."""
        slack_us = min((self.round_trip.mean_us or 0) // 4, 4 * self.round_trip.deviation_us)
        lost = []
        for seq, sent in self.unacknowledged.items():
            if sent.sent_us + slack_us < newest_sent_us:
                lost.append(seq)
            elif not sent.again:
                break  # all behind it were sent later still
        return lost

    def resend(self, seq: int, now_us: int) -> tuple[Part, ...]:
        """The parts of a frame that is sent once more."""
        sent = self.unacknowledged[seq]
        sent.sent_us = now_us
        sent.again = True
        return sent.parts

    def deadline_us(self, ack_delay_us: int) -> int | None:
        """When the oldest frame under way is to be sent again."""
        if not self.unacknowledged:
            return None
        oldest = next(iter(self.unacknowledged.values()))
        timeout_us = min(self.round_trip.timeout_us(ack_delay_us) << self.backoff, TIMEOUT_MAX_US)
        return oldest.sent_us + max(timeout_us, self.round_trip.timeout_us(ack_delay_us))

    def overdue(self) -> list[int]:
        """After a time-out: the frames to send again."""
        self.backoff = min(self.backoff + 1, BACKOFF_MAX)
        return list(self.unacknowledged)[:RESEND_FRAMES_MAX]
