"""Reliable FIFO channels between sites over a network that loses, duplicates and reorders.

Messages to a site are numbered frames of a *stream*. The receiver acknowledges cumulatively and selectively, with
whatever it sends back, or after a short delay by itself. A frame is sent again when a later one has overtaken it by
more than reordering explains, or when the measured round trip says that its answer is overdue. A lone message
leaves at once; in a flood messages share frames. The window is bounded, and the layer above is told when it fills.

A stream belongs to one life (incarnation) of each side. It ends when the layer above resets it, as it does when the
other site leaves the view, or when a site turns out to have restarted; then a new one begins with nothing under way.

Over a transport that is itself a reliable stream (`repairs` false) nothing is timed: frames are sent again only when
the host says that the connection is a new one.
"""

from __future__ import annotations

from typing import ClassVar, assert_never

from msgspec import Struct

from ordercast.core.effects import Out
from ordercast.core.events import (
    Event,
    Flush,
    FromAbove,
    FromBelow,
    Now,
    Started,
    TimerFired,
    ViewClosed,
    ViewInstalled,
)
from ordercast.core.ids import SiteId
from ordercast.core.layer import Waiting
from ordercast.protocols.links.frames import Congestion, Frame, Reconnected, Reset, Unreliable
from ordercast.protocols.links.incoming import Incoming
from ordercast.protocols.links.outgoing import WINDOW_FRAMES, Outgoing

ACK_DELAY_US = 10_000
"""An acknowledgement waits so long for something to travel with."""

ACK_EVERY = 32
"""But not for more than so many frames."""

PACE_US = 1_000
BURST_FRAMES = 8
"""In each period of `PACE_US` so many frames leave at once; what comes then shares the frames of the next."""


class Channel(Struct):
    """Both directions between this site and another."""

    outgoing: Outgoing
    incoming: Incoming
    unanswered: int = 0
    """Frames received since the last acknowledgement."""
    burst: int = 0
    burst_from_us: int = -PACE_US
    full: bool = False
    resend_armed: bool = False


class Reliable(Struct):
    """One site's links to all others. Takes and hands up encoded messages."""

    WIRE: ClassVar = Frame | Unreliable

    me: SiteId
    incarnation: int = 0
    channels: dict[SiteId, Channel] = {}
    repairs: bool = True
    frame_bytes_max: int = 1400

    def handle(self, event: Event, now: Now, out: Out) -> None:
        match event:
            case FromBelow(sender=sender, message=message):
                self.on_receive(sender, message, now, out)
            case FromAbove(message=bytes() as message, to=int() as to):
                self.channel(to).outgoing.add(message, self.frame_bytes_max)
                self.send_frames(to, now, out)
            case FromAbove(message=Unreliable() as message, to=int() as to):
                out.send(to, message)
            case FromAbove(message=Reset(incarnation=incarnation), to=int() as to):
                self.channel(to).outgoing.restart(incarnation)
                self.tell_congestion(to, out)
            case TimerFired(key=("ack", int(site))):
                if self.channel(SiteId(site)).incoming.owes_ack:
                    self.send_ack(SiteId(site), out)
            case TimerFired(key=("pace", int(site))):
                self.send_frames(SiteId(site), now, out)
            case TimerFired(key=("resend", int(site))):
                self.on_resend_timer(SiteId(site), now, out)
            case ViewInstalled() | ViewClosed() | Started() | Flush():
                pass
            case FromAbove() | TimerFired():
                raise AssertionError(f"not for a reliable link: {event}")
            case _:
                assert_never(event)

    def channel(self, site: SiteId) -> Channel:
        channel = self.channels.get(site)
        if channel is None:
            channel = self.channels[site] = Channel(Outgoing(), Incoming())
        return channel

    # --- sending ---

    def send_frames(self, to: SiteId, now: Now, out: Out) -> None:
        """Send what the window and the pace allow; the rest waits, and shares frames when its turn comes."""
        channel, now_us = self.channel(to), now.monotonic_us
        if now_us - channel.burst_from_us >= PACE_US:
            channel.burst, channel.burst_from_us = 0, now_us
        while channel.burst < BURST_FRAMES:
            frame = channel.outgoing.take_frame(self.frame_bytes_max, now_us)
            if frame is None:
                break
            channel.burst += 1
            self.send_frame(to, *frame, out)
        else:
            if channel.outgoing.queue:
                out.set_timer(("pace", to), channel.burst_from_us + PACE_US - now_us)
        self.arm_resend(to, now_us, out)
        self.tell_congestion(to, out)

    def send_frame(self, to: SiteId, seq: int, parts: tuple[bytes | tuple[int, bytes], ...], out: Out) -> None:
        channel = self.channel(to)
        channel.unanswered = 0
        outgoing = channel.outgoing
        frame = Frame(self.incarnation, outgoing.addressee, outgoing.stream, seq, parts, channel.incoming.ack())
        out.send(to, frame)

    def send_ack(self, to: SiteId, out: Out) -> None:
        self.send_frame(to, -1, (), out)

    def tell_congestion(self, to: SiteId, out: Out) -> None:
        channel = self.channel(to)
        under_way = len(channel.outgoing.unacknowledged)
        full = under_way >= WINDOW_FRAMES // 2 if channel.full else under_way >= WINDOW_FRAMES
        if full != channel.full:
            channel.full = full
            out.deliver(to, Congestion(full))

    # --- repair ---

    def arm_resend(self, to: SiteId, now_us: int, out: Out) -> None:
        """One timer per link, for the oldest frame; sending more does not touch it."""
        channel = self.channel(to)
        if self.repairs and not channel.resend_armed:
            deadline_us = channel.outgoing.deadline_us(ACK_DELAY_US)
            if deadline_us is not None:
                channel.resend_armed = True
                out.set_timer(("resend", to), max(0, deadline_us - now_us))

    def on_resend_timer(self, to: SiteId, now: Now, out: Out) -> None:
        channel, now_us = self.channel(to), now.monotonic_us
        channel.resend_armed = False
        deadline_us = channel.outgoing.deadline_us(ACK_DELAY_US)
        if deadline_us is not None and deadline_us <= now_us:
            self.resend(to, channel.outgoing.overdue(), now_us, out)
        self.arm_resend(to, now_us, out)

    def resend(self, to: SiteId, seqs: list[int], now_us: int, out: Out) -> None:
        for seq in seqs:
            self.send_frame(to, seq, self.channel(to).outgoing.resend(seq, now_us), out)

    # --- receiving ---

    def on_receive(self, sender: SiteId, message: Frame | Unreliable | Reconnected, now: Now, out: Out) -> None:
        match message:
            case Frame():
                self.on_frame(sender, message, now, out)
            case Unreliable(message=inner):
                out.deliver(sender, inner)
            case Reconnected():
                self.resend(sender, list(self.channel(sender).outgoing.unacknowledged), now.monotonic_us, out)
            case _:
                assert_never(message)

    def on_frame(self, sender: SiteId, frame: Frame, now: Now, out: Out) -> None:
        channel = self.channel(sender)
        if not channel.incoming.follow(frame.incarnation, frame.stream):
            return
        channel.outgoing.meet(frame.incarnation)
        if frame.to_incarnation not in (-1, self.incarnation):
            self.send_ack(sender, out)  # meant for an earlier life of ours: tell who we are
            return
        if frame.ack is not None and frame.ack.incarnation == self.incarnation:
            lost = channel.outgoing.acknowledge(frame.ack, now.monotonic_us)
            self.resend(sender, lost if self.repairs else [], now.monotonic_us, out)
            if channel.outgoing.queue or channel.full:
                self.send_frames(sender, now, out)
        if frame.seq >= 0:
            self.on_numbered(sender, frame, out)

    def on_numbered(self, sender: SiteId, frame: Frame, out: Out) -> None:
        channel = self.channel(sender)
        incoming = channel.incoming
        in_order = frame.seq == incoming.expected
        for message in incoming.receive(frame.seq, frame.parts):
            out.deliver(sender, message)
        channel.unanswered += 1
        if not in_order or channel.unanswered >= ACK_EVERY:
            self.send_ack(sender, out)
        elif channel.unanswered == 1:
            out.set_timer(("ack", sender), ACK_DELAY_US)

    def waiting_for(self) -> Waiting | None:
        """Nothing is held up here: what is under way arrives, or the site is expelled and the stream reset."""
        return None
