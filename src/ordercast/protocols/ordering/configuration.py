"""Who is active, by the switches delivered so far, and the messages that switch (hybrid report, sections 6.2 and 6.3).

All members go through the same sequence of configurations, since a switch takes effect where its message comes up in
the total order.
"""

from __future__ import annotations

from msgspec import Struct

from ordercast.core.ids import ORIGIN_SHIFT, SEQ_BITS, MessageId, SiteId, Ticket, seq_of
from ordercast.core.messages import Bundle
from ordercast.protocols.ordering.messages import Issued


class Descriptor(Struct, frozen=True, array_like=True, gc=False):
    """A site in one of its roles: the process descriptor of the papers."""

    site: SiteId
    number: int
    """Role number: counts the site's changes of role in this view."""


class Going(Struct, frozen=True, array_like=True, tag=1, gc=False):
    """goingToActive or goingToPassive: ordered like any message, and takes effect where it is delivered."""

    site: SiteId
    attempt: int
    """Counts the site's tries in this view, the failed ones too."""
    active: bool

    @property
    def id(self) -> MessageId:
        """Negative, unlike any message's."""
        return MessageId(~(self.site << SEQ_BITS | self.attempt))


def sender_of(id: MessageId) -> SiteId:
    """Who has multicast the bundle or the switch with this id."""
    return SiteId(id >> ORIGIN_SHIFT if id >= 0 else ~id >> SEQ_BITS)


def described(id: MessageId) -> str:
    """The bundle or the switch with this id, for people."""
    return f"message {seq_of(id)}" if id >= 0 else f"switch {seq_of(MessageId(~id))}"


Content = Bundle | Going
"""What gets tickets."""


def place_among_senders(id: MessageId) -> tuple[int, bool, int]:
    """Sorts ids by sender and in the order in which it multicast them: a switch comes after what was sent before it.

    (What a site sends while it switches has nobody to order it until the switch is delivered.)
    """
    return sender_of(id), id < 0, max(id, ~id)


class Envelope(Struct, frozen=True, array_like=True, tag="envelope", gc=False):
    """A bundle or a switch on its way to all members, with the sender's tickets for messages of others.

    An active site is its own sequencer, and `ticket` is the content's own; else it is the sender's ticket clock.
    """

    content: Content
    sequencer: Descriptor | None
    """Who is to issue the ticket, as long as it has this role; None while the sender is switching: it will tell."""
    ticket: Ticket
    issued: tuple[Issued, ...] = ()
    sent_us: int = 0
    """The sender's own clock at transmission; only differences between stamps of one sender mean anything."""
    probe: bool = False
    """Asks every receiver for an `Echo`."""


class Reassign(Struct, frozen=True, array_like=True, tag="reassign", gc=False):
    """Who is to order messages of the sender that have no ticket: its sequencer is active no more, or it has just
    found one."""

    messages: tuple[MessageId, ...]
    sequencer: Descriptor
    ticket: Ticket
    """The sender's ticket clock."""


class Probe(Struct, frozen=True, array_like=True, tag="probe", gc=False):
    """Asks every receiver for an `Echo`, when there is no message to ask with."""

    sent_us: int


class Configuration(Struct):
    """The roles of all members at one point of the total order."""

    numbers: dict[SiteId, int]
    actives: tuple[SiteId, ...]

    @classmethod
    def of(cls, members: tuple[SiteId, ...], actives: tuple[SiteId, ...]) -> Configuration:
        """A view begins."""
        return cls(dict.fromkeys(members, 0), actives)

    @staticmethod
    def at_start(given: tuple[SiteId, ...], members: tuple[SiteId, ...]) -> tuple[SiteId, ...]:
        """Who is active in a group that starts: those given, as far as they are members, or everybody."""
        return tuple(site for site in members if site in given) or members

    def descriptor(self, site: SiteId) -> Descriptor:
        """The site in its present role."""
        return Descriptor(site, self.numbers[site])

    def is_last_active(self, site: SiteId) -> bool:
        """Whether nobody would be left to order if it went passive."""
        return self.actives == (site,)

    def switch(self, site: SiteId, active: bool) -> None:
        """The site changes its role."""
        self.numbers[site] += 1
        others = tuple(each for each in self.actives if each != site)
        self.actives = tuple(sorted((*others, site))) if active else others
