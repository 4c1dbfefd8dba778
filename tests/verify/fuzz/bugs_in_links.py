"""Mistakes one could make in the links."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import msgspec

from ordercast.core.effects import Out
from ordercast.core.events import Now
from ordercast.core.ids import SiteId
from ordercast.protocols.links.frames import Ack, Part
from ordercast.protocols.links.incoming import Incoming
from ordercast.protocols.links.outgoing import Outgoing
from ordercast.protocols.links.reliable import Channel, Reliable
from tests.verify.fuzz.patches import Patch


def ack_of_another_stream_is_accepted() -> Patch:
    acknowledge = Outgoing.acknowledge

    def broken(self: Outgoing, ack: Ack, now_us: int) -> list[int]:
        return acknowledge(self, msgspec.structs.replace(ack, stream=self.stream), now_us)

    return patch.object(Outgoing, "acknowledge", broken)


def cumulative_ack_is_one_too_high() -> Patch:
    def broken(self: Incoming) -> Ack | None:
        if self.stream < 0:
            return None
        self.owes_ack = False
        return Ack(self.incarnation, self.stream, self.expected + 1, tuple(self.early_runs[:32]))

    return patch.object(Incoming, "ack", broken)


def early_frames_are_handed_up_at_once() -> Patch:
    def broken(self: Incoming, seq: int, parts: tuple[Part, ...]) -> list[bytes]:
        self.owes_ack = True
        if seq < self.expected:
            return []
        self.expected = seq + 1
        return self._assemble(parts)

    return patch.object(Incoming, "receive", broken)


def duplicates_are_handed_up() -> Patch:
    receive = Incoming.receive

    def broken(self: Incoming, seq: int, parts: tuple[Part, ...]) -> list[bytes]:
        if seq < self.expected:
            self.owes_ack = True
            return self._assemble(parts)
        return receive(self, seq, parts)

    return patch.object(Incoming, "receive", broken)


def new_stream_goes_on_with_the_old_numbers() -> Patch:
    def broken(self: Incoming, incarnation: int, stream: int) -> bool:
        if (incarnation, stream) > (self.incarnation, self.stream):
            self.incarnation, self.stream = incarnation, stream
        return (incarnation, stream) == (self.incarnation, self.stream)

    return patch.object(Incoming, "follow", broken)


def fragments_of_the_old_stream_stay() -> Patch:
    def broken(self: Incoming, incarnation: int, stream: int) -> bool:
        if (incarnation, stream) > (self.incarnation, self.stream):
            self.incarnation, self.stream, self.expected = incarnation, stream, 0
            self.early.clear()
            self.early_runs.clear()
        return (incarnation, stream) == (self.incarnation, self.stream)

    return patch.object(Incoming, "follow", broken)


def reset_keeps_what_was_queued_and_under_way() -> Patch:
    def broken(self: Outgoing, addressee: int) -> None:
        self.addressee = addressee
        self.stream += 1
        self.backoff = 0

    return patch.object(Outgoing, "restart", broken)


def retransmission_is_tried_once_only() -> Patch:
    def broken(self: Reliable, channel: Channel, now: Now, out: Out) -> None:
        now_us = now.monotonic_us
        seqs = [seq for seq in channel.outgoing.overdue() if not channel.outgoing.unacknowledged[seq].again]
        self.resend(channel, seqs, now_us, out)
        channel.resend_armed = False
        if seqs:
            self.arm_resend(channel, now_us, out)

    return patch.object(Reliable, "on_resend_timer", broken)


def early_frames_are_acknowledged_and_dropped() -> Patch:
    receive = Incoming.receive

    def broken(self: Incoming, seq: int, parts: tuple[Part, ...]) -> list[bytes]:
        messages = receive(self, seq, parts)
        for number in self.early:
            self.early[number] = ()
        return messages

    return patch.object(Incoming, "receive", broken)


def frames_for_an_earlier_life_are_taken() -> Patch:
    on_frame = Reliable.on_frame

    def broken(self: Reliable, sender: SiteId, frame: Any, now: Now, out: Out) -> None:
        on_frame(self, sender, msgspec.structs.replace(frame, to_incarnation=-1), now, out)

    return patch.object(Reliable, "on_frame", broken)
