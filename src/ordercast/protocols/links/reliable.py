"""Reliable FIFO channels between sites over a network that loses, duplicates and reorders.

Messages to a site are numbered frames of a *stream*. The receiver acknowledges cumulatively and selectively, with
whatever it sends back, or after a short delay by itself. A frame is sent again when a later one has overtaken it by
more than reordering explains, or when the measured round trip says that its answer is overdue. A lone message
leaves at once; in a flood messages share frames. The window is bounded, and the layer above is told when it fills.

A stream belongs to one life (incarnation) of each side. It ends when the layer above resets it, as it does when the
other site leaves the view, or when a site turns out to have restarted; then a new one begins with nothing under way.

Over a transport that is itself a reliable stream (`repairs` false) no answer is waited for: frames are sent again only
when the host says that the connection is a new one, and acknowledgements, which then only say what need not be kept,
travel with what is sent anyway, or after many frames. What was sent while there was no connection counts as lost.
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
from ordercast.protocols.links.frames import Congestion, Frame, Part, Reconnected, Reset, Unreliable
from ordercast.protocols.links.incoming import Incoming
from ordercast.protocols.links.outgoing import WINDOW_BYTES, WINDOW_FRAMES, Outgoing

ACK_DELAY_US = 10_000
"""An acknowledgement waits so long for something to travel with."""

ACK_EVERY = 16
"""But not for more than so many frames."""

PACE_US = 1_000
BURST_FRAMES = 8
"""In each period of `PACE_US` so many frames leave at once; what comes then shares the frames of the next."""


class Channel(Struct):
    """Both directions between this site and another."""

    site: SiteId
    outgoing: Outgoing
    incoming: Incoming
    unanswered: int = 0
    """Frames received since the last acknowledgement."""
    burst: int = 0
    burst_from_us: int = -PACE_US
    full: bool = False
    resend_armed: bool = False
    introduced: bool = False
    """Over a stream: whether the other side, which took us for an earlier life, has been told better."""


class Reliable(Struct):
    """One site's links to all others. Takes and hands up encoded messages."""

    WIRE: ClassVar = Frame | Unreliable

    me: SiteId
    incarnation: int = 0
    channels: dict[SiteId, Channel] = {}
    repairs: bool = True
    frame_bytes_max: int = 1400

    def __post_init__(self) -> None:
        assert 2 * ACK_EVERY * self.frame_bytes_max <= WINDOW_BYTES, "the window would be full before an answer comes"

    def handle(self, event: Event, now: Now, out: Out) -> None:
        match event:
            case FromBelow(sender=sender, message=message):
                self.on_receive(sender, message, now, out)
            case FromAbove(message=bytes() as message, to=int() as to):
                channel = self.channel(to)
                channel.outgoing.add(message, self.frame_bytes_max)
                self.send_frames(channel, now, out)
            case FromAbove(message=Unreliable() as message, to=int() as to):
                out.send(to, message)
            case FromAbove(message=Reset(incarnation=incarnation), to=int() as to):
                channel = self.channel(to)
                channel.outgoing.restart(incarnation)
                self.tell_congestion(channel, out)
            case TimerFired(key=("ack", int(site))):
                channel = self.channel(SiteId(site))
                if channel.incoming.owes_ack:
                    self.send_ack(channel, out)
            case TimerFired(key=("pace", int(site))):
                self.send_frames(self.channel(SiteId(site)), now, out)
            case TimerFired(key=("resend", int(site))):
                self.on_resend_timer(self.channel(SiteId(site)), now, out)
            case ViewInstalled() | ViewClosed() | Started() | Flush():
                pass
            case FromAbove() | TimerFired():
                raise AssertionError(f"not for a reliable link: {event}")
            case _:
                assert_never(event)

    def channel(self, site: SiteId) -> Channel:
        channel = self.channels.get(site)
        if channel is None:
            channel = self.channels[site] = Channel(site, Outgoing(), Incoming())
        return channel

    # --- sending ---

    def send_frames(self, channel: Channel, now: Now, out: Out) -> None:
        """Send what the window and the pace allow; the rest waits, and shares frames when its turn comes."""
        outgoing, now_us = channel.outgoing, now.monotonic_us
        if now_us - channel.burst_from_us >= PACE_US:
            channel.burst, channel.burst_from_us = 0, now_us
        while channel.burst < BURST_FRAMES:
            frame = outgoing.take_frame(self.frame_bytes_max, now_us)
            if frame is None:
                break
            channel.burst += 1
            self.send_frame(channel, *frame, out)
        else:
            if outgoing.queue:
                out.set_timer(("pace", channel.site), channel.burst_from_us + PACE_US - now_us)
        if not channel.resend_armed:
            self.arm_resend(channel, now_us, out)
        self.tell_congestion(channel, out)

    def send_frame(self, channel: Channel, seq: int, parts: tuple[Part, ...], out: Out) -> None:
        channel.unanswered = 0
        outgoing = channel.outgoing
        ack = channel.incoming.ack()
        out.send(channel.site, Frame(self.incarnation, outgoing.addressee, outgoing.stream, seq, parts, ack))

    def send_ack(self, channel: Channel, out: Out) -> None:
        self.send_frame(channel, -1, (), out)

    def tell_congestion(self, channel: Channel, out: Out) -> None:
        share = 2 if channel.full else 1
        full = channel.outgoing.holds(WINDOW_FRAMES // share, WINDOW_BYTES // share)
        if full != channel.full:
            channel.full = full
            out.deliver(channel.site, Congestion(full))

    # --- repair ---

    def arm_resend(self, channel: Channel, now_us: int, out: Out) -> None:
        """One timer per link, for the oldest frame; sending more does not touch it."""
        if self.repairs and not channel.resend_armed:
            deadline_us = channel.outgoing.deadline_us(ACK_DELAY_US)
            if deadline_us is not None:
                channel.resend_armed = True
                out.set_timer(("resend", channel.site), max(0, deadline_us - now_us))

    def on_resend_timer(self, channel: Channel, now: Now, out: Out) -> None:
        now_us = now.monotonic_us
        channel.resend_armed = False
        deadline_us = channel.outgoing.deadline_us(ACK_DELAY_US)
        if deadline_us is not None and deadline_us <= now_us:
            self.resend(channel, channel.outgoing.overdue(), now_us, out)
        self.arm_resend(channel, now_us, out)

    def resend(self, channel: Channel, seqs: list[int], now_us: int, out: Out) -> None:
        for seq in seqs:
            self.send_frame(channel, seq, channel.outgoing.resend(seq, now_us), out)

    # --- receiving ---

    def on_receive(self, sender: SiteId, message: Frame | Unreliable | Reconnected, now: Now, out: Out) -> None:
        match message:
            case Frame():
                self.on_frame(sender, message, now, out)
            case Unreliable(message=inner):
                out.deliver(sender, inner)
            case Reconnected():
                self.on_reconnected(self.channel(sender), now, out)
            case _:
                assert_never(message)

    def on_reconnected(self, channel: Channel, now: Now, out: Out) -> None:
        """Whatever may have been lost goes again; and the other side learns what it need not send again any more."""
        channel.introduced = False
        if channel.outgoing.unacknowledged:
            self.resend(channel, list(channel.outgoing.unacknowledged), now.monotonic_us, out)
        elif channel.incoming.stream >= 0:
            self.send_ack(channel, out)

    def on_frame(self, sender: SiteId, frame: Frame, now: Now, out: Out) -> None:
        channel = self.channel(sender)
        if not channel.incoming.follow(frame.incarnation, frame.stream):
            return
        channel.outgoing.meet(frame.incarnation)
        if frame.to_incarnation not in (-1, self.incarnation):
            if self.repairs or not channel.introduced:
                channel.introduced = True
                self.send_ack(channel, out)  # meant for an earlier life of ours: tell who we are
            return
        ack = frame.ack
        if ack is not None and ack.incarnation == self.incarnation:
            lost = channel.outgoing.acknowledge(ack, now.monotonic_us)
            if lost and self.repairs:
                self.resend(channel, lost, now.monotonic_us, out)
            if channel.outgoing.queue or channel.full:
                self.send_frames(channel, now, out)
        if frame.seq >= 0:
            self.on_numbered(channel, frame, out)

    def on_numbered(self, channel: Channel, frame: Frame, out: Out) -> None:
        incoming = channel.incoming
        telling = self.repairs and frame.seq != incoming.expected
        for message in incoming.receive(frame.seq, frame.parts):
            out.deliver(channel.site, message)
        channel.unanswered += 1
        if telling or channel.unanswered >= ACK_EVERY:
            self.send_ack(channel, out)
        elif self.repairs and channel.unanswered == 1:
            out.set_timer(("ack", channel.site), ACK_DELAY_US)

    def waiting_for(self) -> Waiting | None:
        """Nothing is held up here: what is under way arrives, or the site is expelled and the stream reset."""
        return None
